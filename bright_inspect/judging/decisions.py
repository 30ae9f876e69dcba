"""What annotators decide, and the JSON line that each decision is kept as.

A line is one JSON object, UTF-8, ended by a line feed; absent fields have the default in brackets:

====================  ==================================================================================
``v``                 version of this schema, 1; it comes first and marks where a line begins
``id``                32 hex digits, unique per line (uuid4)
``kind``              ``judgment``, ``skip``, ``undo``, ``note``, ``tag`` or ``untag``
``dataset`` ``task`` ``query_id``  the query
``doc_id``            the document; null where the line is about the query
``relevance``         of a judgment: 0 or more; null = unsure
``annotator``         a person's name, or a model's
``time``              ISO 8601, UTC, milliseconds: ``2026-03-01T12:00:00.000Z``
``query_sha256`` ``doc_sha256``  SHA-256 of the texts that were judged, as UTF-8 [null: not at hand]
``evidence``          what the annotator had in view, short strings [none]
``note`` ``why``      free text; why the document helps [empty]
``tags``              of ``tag`` and ``untag``: which; of a judgment: set with it [none]
``repeat``            the item was shown again, to see whether the annotator agrees with themselves [false]
``undoes``            of ``undo``: the id of the line that no longer counts; that may be an undo [null]
``tool``              name and version of the program
====================  ==================================================================================

Fields that are not named here are kept in ``others`` and written back.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from bright_inspect import __version__

Kind = Literal["judgment", "skip", "undo", "note", "tag", "untag"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCHEMA_VERSION = 1
#: More than any scale of grades has; what lies beyond is a slip of the finger.
HIGHEST_RELEVANCE = 1000
_LONGEST_NAME = 200
_TEXTS = ("note", "why", "tool", "time")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

PairKey = tuple[str, str, str, str]
"""(dataset, task, query_id, doc_id)"""


class BadDecision(ValueError):
    """A line that is no decision; the message says what is wrong with it, without a full stop."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a journal; the module says what the fields mean."""

    dataset: str
    task: str
    query_id: str
    doc_id: str | None
    annotator: str
    relevance: int | None = None
    kind: Kind = "judgment"
    query_sha256: str | None = None
    doc_sha256: str | None = None
    evidence: tuple[str, ...] = ()
    note: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    repeat: bool = False
    undoes: str | None = None
    time: str = field(default_factory=lambda: now())
    tool: str = f"bright-inspect {__version__}"
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    others: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def query(self) -> tuple[str, str, str]:
        """(dataset, task, query_id)"""
        return self.dataset, self.task, self.query_id

    @property
    def pair(self) -> PairKey:
        """The pair that is judged.

        Raises:
            ValueError: the line is about a query.
        """
        if self.doc_id is None:
            raise ValueError("a line about a query names no pair")
        return self.dataset, self.task, self.query_id, self.doc_id

    def undo(self, annotator: str | None = None) -> Decision:
        """The line that takes this one back."""
        return Decision(
            self.dataset, self.task, self.query_id, self.doc_id, annotator or self.annotator, kind="undo",
            undoes=self.id,
        )  # fmt: skip


def now() -> str:
    """The time in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_sha256(text: str) -> str:
    """SHA-256 of a text as UTF-8, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def as_fields(decision: Decision) -> dict[str, Any]:
    """The decision as its JSON line has it, defaults left out."""
    told: dict[str, Any] = {
        "v": SCHEMA_VERSION,
        "id": decision.id,
        "kind": decision.kind,
        "dataset": decision.dataset,
        "task": decision.task,
        "query_id": decision.query_id,
        "doc_id": decision.doc_id,
    }
    if decision.kind == "judgment":
        told["relevance"] = decision.relevance
    told |= {"annotator": decision.annotator, "time": decision.time}
    optional = {
        "query_sha256": decision.query_sha256,
        "doc_sha256": decision.doc_sha256,
        "evidence": list(decision.evidence),
        "note": decision.note,
        "why": decision.why,
        "tags": list(decision.tags),
        "repeat": decision.repeat,
        "undoes": decision.undoes,
        "tool": decision.tool,
    }
    told |= {name: value for name, value in optional.items() if value}
    return told | dict(decision.others)


def encode_line(decision: Decision) -> bytes:
    """The decision's line, with its line feed."""
    fields = as_fields(decision)
    try:
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # an id of undecodable bytes
        line = json.dumps(fields, separators=(",", ":")).encode()
    return line + b"\n"


def parse_fields(told: object, *, defaults: Mapping[str, Any] | None = None, new: bool = False) -> Decision:
    """The decision that a JSON object tells; ``defaults`` stand for fields that it lacks.

    A ``new`` one may lack what the program adds: id, kind, time and tool.

    Raises:
        BadDecision: a field is missing or holds something else.
    """
    if not isinstance(told, dict):
        raise BadDecision("not a JSON object")
    given = {**(defaults or {}), **told}
    kind = given.pop("kind", "judgment" if new else None)
    if kind not in KINDS:
        raise BadDecision(f"kind {_short(kind)} is not one of {', '.join(KINDS)}" if kind else "no kind")
    taken: dict[str, Any] = {"kind": kind}
    for name in ("dataset", "task", "query_id", "annotator"):
        taken[name] = _name(given, name)
    taken["doc_id"] = _name(given, "doc_id", needed=kind in ("judgment", "skip"))
    if _CONTROL.search(taken["annotator"]) or len(taken["annotator"]) > _LONGEST_NAME:
        raise BadDecision("annotator is not a name of one line")
    if kind == "judgment":
        taken["relevance"] = _relevance(given)
    else:
        given.pop("relevance", None)
    undoes = given.pop("undoes", None)
    if (kind == "undo") != (isinstance(undoes, str) and undoes != ""):
        raise BadDecision("an undo without the id that it undoes" if kind == "undo" else "undoes is of an undo only")
    taken["undoes"] = undoes
    _take(given, taken, "id", lambda value: isinstance(value, str) and value != "", "a text", needed=not new)
    for name in _TEXTS:
        _take(given, taken, name, lambda value: isinstance(value, str), "a text", needed=name == "time" and not new)
    if "id" in taken:
        taken.setdefault("tool", "")  # nobody knows which: not this one
    for name in ("query_sha256", "doc_sha256"):
        _take(given, taken, name, _is_sha256, "64 hex digits")
    for name in ("evidence", "tags"):
        _take(given, taken, name, _is_texts, "a list of texts")
        taken[name] = tuple(taken.get(name, ()))
    _take(given, taken, "repeat", lambda value: isinstance(value, bool), "true or false")
    if given.get("v") == SCHEMA_VERSION:
        del given["v"]
    if kind in ("tag", "untag") and not taken["tags"]:
        raise BadDecision(f"a {kind} without tags")
    return Decision(**taken, others=given)


def _name(given: dict[str, Any], name: str, *, needed: bool = True) -> str | None:
    value = given.pop(name, None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or not value.strip():
        raise BadDecision(f"no {name}" if value in (None, "") else f"{name} {_short(value)} is not a text")
    return value


def _relevance(given: dict[str, Any]) -> int | None:
    if "relevance" not in given:
        raise BadDecision("no relevance")
    return check_relevance(given.pop("relevance"))


def check_relevance(value: object) -> int | None:
    """A relevance as it is written in JSON: a whole number, or null for unsure.

    Raises:
        BadDecision: anything else.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_RELEVANCE):
        return value
    raise BadDecision(
        f"relevance {_short(value)} is not a whole number from 0 to {HIGHEST_RELEVANCE}, or null for unsure"
    )


def relevance_of(text: str) -> int | None:
    """A relevance as it is typed: a number, or ``x``, ``unsure`` or nothing.

    Raises:
        BadDecision: anything else.
    """
    text = text.strip().lower()
    if text in ("", "x", "unsure", "null"):
        return None
    try:
        return check_relevance(float(text))
    except ValueError as error:
        if isinstance(error, BadDecision):
            raise
        raise BadDecision(f"relevance {_short(text)} is not a number, or x for unsure") from None


def _take(
    given: dict[str, Any],
    taken: dict[str, Any],
    name: str,
    fits: Callable[[Any], bool],
    what: str,
    *,
    needed: bool = False,
) -> None:
    value = given.pop(name, None)
    if value is None:
        if needed:
            raise BadDecision(f"no {name}")
        return
    if not fits(value):
        raise BadDecision(f"{name} {_short(value)} is not {what}")
    taken[name] = value


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'

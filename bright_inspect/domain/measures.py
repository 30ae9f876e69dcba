"""The measures, by the names of ir_measures; other tools' spellings are understood on input."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bright_inspect.errors import UsageError

MeasureKind = Literal["nDCG", "AP", "R", "P", "RR", "Judged"]


@dataclass(frozen=True, slots=True, order=True)
class Measure:
    """A measure and its cutoff k (None = the whole ranking). Values are fractions from 0 to 1."""

    kind: MeasureKind
    cutoff: int | None

    def __str__(self) -> str:
        return self.kind if self.cutoff is None else f"{self.kind}@{self.cutoff}"


# Spellings of ir_measures, BRIGHT's results.json, trec_eval and MTEB's result files.
_KINDS: dict[str, MeasureKind] = {
    "ndcg": "nDCG", "ndcg_cut": "nDCG", "ndcg_at": "nDCG",
    "ap": "AP", "map": "AP", "map_cut": "AP", "map_at": "AP",
    "r": "R", "recall": "R", "recall_at": "R",
    "p": "P", "precision": "P", "precision_at": "P",
    "rr": "RR", "mrr": "RR", "recip_rank": "RR", "mrr_at": "RR",
    "judged": "Judged",
}  # fmt: skip
_SPELLING = re.compile(r"([A-Za-z]+(?:_[A-Za-z]+)*?)(?:[@_.](\d+))?")
_NEEDS_CUTOFF = {"R", "P", "Judged"}


def parse_measure(text: str) -> Measure:
    """Read one measure, such as ``nDCG@10``, ``NDCG@10``, ``ndcg_cut_10``, ``ndcg_at_10``, ``MAP`` or ``recall.100``.

    Raises:
        UsageError: the name is unknown, the cutoff is 0, or the measure needs a cutoff and has none.
    """
    match = _SPELLING.fullmatch(text.strip())
    kind = _KINDS.get(match[1].lower()) if match else None
    if match is None or kind is None:
        raise UsageError(f"unknown measure {text!r}.", "Known: nDCG@k, AP@k, R@k, P@k, RR, RR@k, Judged@k.")
    cutoff = int(match[2]) if match[2] else None
    if cutoff == 0:
        raise UsageError(f"measure {text!r} has cutoff 0.", "Give a cutoff of 1 or more, as in nDCG@10.")
    if cutoff is None and kind in _NEEDS_CUTOFF:
        raise UsageError(f"measure {text!r} needs a cutoff.", f"Write {kind}@10, for example.")
    return Measure(kind, cutoff)


def parse_measures(texts: list[str]) -> list[Measure]:
    """Read several measures; each text may hold more than one, separated by commas or blanks. Repeats are dropped."""
    names = [name for text in texts for name in re.split(r"[,\s]+", text) if name]
    return list(dict.fromkeys(parse_measure(name) for name in names))

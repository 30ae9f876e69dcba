"""What stands before a text when it is given to a model, by model family and task.

A prefix that is missing or another one changes every score, so nothing is guessed: BRIGHT's own table for the models it
evaluated, what a model's configuration or card says for others, or nothing, and the screen shows which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

GRIT_DOCUMENT = "<|embed|>\n"
_STACK_EXCHANGE = frozenset(
    {"biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow", "sustainable_living"}
)
_MATHS = frozenset({"aops", "theoremqa_questions", "theoremqa_theorems"})


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Before a query, before a document, and where both come from. ``pooled`` is False where the model's vectors are
    pooled over the text alone, without the prefix."""

    query: str
    document: str
    source: str
    pooled: bool = True


_Table = Callable[[str, str], tuple[str, str] | None]
"""(dataset, task) -> prefixes of query and document, or None for a task that is not BRIGHT's."""


def prefixes_for(model: str, dataset: str, task: str, own: Mapping[str, str] | None = None) -> Prefixes:
    """The prefixes of a model by its name for a task. ``own`` are the prompts in the model's configuration.

    First that applies: BRIGHT's table (BRIGHT:configs/{model}/{task}.json, FORMATS A.7) for the families it evaluated,
    and for ReasonIR, which is evaluated by the table of GritLM; the prompts of the model's configuration; the prompt
    that the family's model card gives; nothing.
    """
    for pattern, table, pooled in _BRIGHT_TABLES:
        if re.search(pattern, model, re.IGNORECASE) and (found := table(dataset, task)) is not None:
            return Prefixes(*found, "BRIGHT's table", pooled)
    own = own or {}
    query = own.get("query", "")
    document = next((own[name] for name in ("document", "passage", "corpus") if own.get(name)), "")
    if query or document:
        return Prefixes(query, document, "the model's configuration", not _is_grit(model))
    for pattern, query, document in _MODEL_CARDS:
        if re.search(pattern, model, re.IGNORECASE):
            return Prefixes(query, document, "the model's card", not _is_grit(model))
    return Prefixes("", "", "none")


# --- BRIGHT's table ---------------------------------------------------------------------------------------------------


def _sentence(dataset: str, task: str) -> str | None:
    """The instruction of sf, qwen, qwen2, e5 and grit. BRIGHT puts the slug where a name is meant."""
    things = "documents" if dataset == "bright-long" else "passages"
    if task in _STACK_EXCHANGE:
        return f"Given a {task} post, retrieve relevant {things} that help answer the post"
    if task == "pony":
        return f"Given a {task} question, retrieve relevant {things} that help answer the question"
    if task == "leetcode":
        return "Given a coding problem, retrieve relevant examples that help answer the problem"
    if task in _MATHS:
        return f"Given a Math problem, retrieve relevant {_maths_things(task)}s that help answer the problem"
    return None


def _maths_things(task: str) -> str:
    return "theorem" if task == "theoremqa_theorems" else "example"


def _asked(task: str) -> str | None:
    """What a query of the task is called by the prefixes of Instructor and bge."""
    if task in _STACK_EXCHANGE:
        return f"{task} post"
    return {"pony": "Pony question", "leetcode": "Coding problem"}.get(task, "Math problem" if task in _MATHS else None)


def _searched(dataset: str, task: str, passage: str) -> str:
    """What is to be found for it; ``passage`` is the family's word where there is no better one."""
    if task == "leetcode":
        return "example"
    if task in _MATHS:
        return _maths_things(task)
    return "document" if dataset == "bright-long" else passage


def _instruct(dataset: str, task: str) -> tuple[str, str] | None:
    sentence = _sentence(dataset, task)
    return None if sentence is None else (f"Instruct: {sentence}\nQuery: ", "")


def _grit(dataset: str, task: str) -> tuple[str, str] | None:
    sentence = _sentence(dataset, task)
    return None if sentence is None else (f"<|user|>\n{sentence}\n<|embed|>\n", GRIT_DOCUMENT)


def _instructor(dataset: str, task: str) -> tuple[str, str] | None:
    asked, things = _asked(task), _searched(dataset, task, "paragraph")
    if asked is None:
        return None
    subject = {"pony": "Pony", "leetcode": "Coding"}.get(task, "Math" if task in _MATHS else task)
    return (
        f"Represent the {asked} for retrieving relevant {things}s: ",
        f"Represent the {subject} {things} for retrieval: ",
    )


def _bge(dataset: str, task: str) -> tuple[str, str] | None:
    asked = _asked(task)
    if asked is None:
        return None
    return f"Represent this {asked} for searching relevant {_searched(dataset, task, 'passage')}s: ", ""


_INSTRUCTED = r"SFR-Embedding-(Mistral|2)|gte-Qwen(1\.5|2)-\d+B-instruct|e5-mistral-7b-instruct"
#: Model name -> table, and whether the prefix is pooled (GritLM and Instructor leave it out; for Instructor the model's
#: own configuration sees to that).
_BRIGHT_TABLES: tuple[tuple[str, _Table, bool], ...] = (
    (_INSTRUCTED, _instruct, True),
    (r"GritLM|ReasonIR", _grit, False),
    (r"instructor-(base|large|xl)", _instructor, True),
    (r"bge-(small|base|large)-en(-v1\.5)?$", _bge, True),
)

# --- model cards ------------------------------------------------------------------------------------------------------

_WEB = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
#: For models whose configuration may lack what their card says.
_MODEL_CARDS: tuple[tuple[str, str, str], ...] = (
    (r"Qwen3-Embedding", _WEB, ""),
    (r"inf-retriever", f"{_WEB} ", ""),
    (
        r"SFR-Embedding-(Mistral|2)|gte-Qwen(1\.5|2)-\d+B-instruct|e5-mistral-7b-instruct|e5-large-instruct",
        f"{_WEB} ",
        "",
    ),
    (r"GritLM|ReasonIR", GRIT_DOCUMENT, GRIT_DOCUMENT),
    (r"bge-(small|base|large)-en", "Represent this sentence for searching relevant passages: ", ""),
    (r"(^|/)(multilingual-)?e5-(small|base|large)", "query: ", "passage: "),
)


def _is_grit(model: str) -> bool:
    return re.search(r"GritLM|ReasonIR", model, re.IGNORECASE) is not None

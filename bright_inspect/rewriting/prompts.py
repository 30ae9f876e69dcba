"""What a model is told when it rewrites a query: a template for each kind of task, and a user's own.

A template is plain text with ``{query}`` in it, which the query takes the place of; nothing else in it means anything.
Templates are looked for in three places: the file that is named, the user's folder (``TASK.txt``, then ``KIND.txt``
below ``prompts`` in the settings' folder), and those below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UsageError

PLACE = "{query}"
_MOST_BYTES = 1_000_000

_GENERAL = """\
Below is a query. The documents that answer it may share few of its words: they explain the idea behind it.

Think about what one has to know to answer the query. Then write a passage to search by, which
- says in one or two sentences what is being asked, without greetings and asides;
- names the concepts, terms, laws, methods or facts that an answer rests on, with their usual synonyms;
- explains briefly how they bear on the query.

Write the passage only: no headings, no remarks on what you are doing, nothing about documents or searching.

Query:
{query}
"""

_QUESTION = """\
Below is a question that somebody posted in a forum. What answers it best are pages of encyclopedias, textbooks and \
articles, which explain the cause or the rule behind the case and may never mention the case itself.

Work out what lies behind the question: which phenomenon, mechanism, theory, standard or tool it is an instance of. \
Then write a passage to search by, which
- states the core of the question in one or two sentences;
- names what lies behind it by the terms that the field uses, with their synonyms;
- explains in several sentences why and how, as such a page would; where several explanations are possible, gives each.

Write the passage only: no headings, no greeting, no advice to the person.

Question:
{query}
"""

_CODING = """\
Below is a programming task or a question about code. What helps with it are other problems that are solved by the \
same idea, and pages of a manual on the same part of the language: they share the method with it, not the story.

Work out the method. Then write a passage to search by, which
- states the bare problem in one or two sentences, without its story: what is given, what is wanted, what the limits \
are;
- names the algorithms, data structures and known problems that solve it, or the constructs, keywords, types and \
functions of the language that are needed;
- sketches the solution in a few sentences or lines of code.

Write the passage only: no headings, no remarks.

Task:
{query}
"""

_MATHS = """\
Below is a mathematical problem. What helps with it are theorems that it follows from, and other problems that are \
solved by the same theorem or trick: they share the method with it, not the numbers.

Work out how it is solved. Then write a passage to search by, which
- states the problem in one or two sentences in general terms;
- names the field, and each theorem, identity or technique that the solution uses, and states the decisive one;
- outlines the steps of the solution.

Write the passage only: no headings, no remarks.

Problem:
{query}
"""

_TEMPLATES = {"general": _GENERAL, "question": _QUESTION, "coding": _CODING, "maths": _MATHS}
_KINDS = {
    **dict.fromkeys(
        ("biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow", "sustainable_living"),
        "question",
    ),
    **dict.fromkeys(("leetcode", "pony"), "coding"),
    **dict.fromkeys(("aops", "theoremqa_questions", "theoremqa_theorems"), "maths"),
    # The demo's.
    **dict.fromkeys(("city_ecology", "home_computing", "kitchen_science"), "question"),
    "contest_maths": "maths",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template and where it comes from: a path, or "built in: KIND"."""

    template: str
    source: str

    def filled(self, query: str) -> str:
        """What the model is sent. Braces in the query are characters like any other."""
        return query.join(self.template.split(PLACE))


def prompt_for(task: str, path: Path | None = None) -> Prompt:
    """The template of a file, or the task's own (see the head of this module).

    Raises:
        UsageError: the file cannot be read, or has no ``{query}``.
    """
    if path is not None:
        return _read(path)
    name = normalised_task(task)
    kind = _KINDS.get(name, "general")
    for own in (prompts_folder() / f"{each}.txt" for each in (name, kind)):
        if own.is_file():
            return _read(own)
    return Prompt(_TEMPLATES[kind], f"built in: {kind}")


def prompts_folder() -> Path:
    """Where a user's own templates lie."""
    import platformdirs

    return Path(platformdirs.user_config_dir("bright-inspect")) / "prompts"


def checked(template: str, source: str) -> Prompt:
    """
    Raises:
        UsageError: the template has no place for the query.
    """
    if PLACE not in template:
        raise UsageError(f"{source}: no {PLACE} in the prompt.", f"Write {PLACE} where the query belongs.")
    return Prompt(template, source)


def _read(path: Path) -> Prompt:
    problem = ""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        template = content.decode("utf-8-sig")
        if len(content) > _MOST_BYTES:
            problem = f"larger than {_MOST_BYTES:,} bytes"
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
    except UnicodeDecodeError:
        problem = "not text in UTF-8"
    if problem:
        raise UsageError(f"{os.fspath(path)}: {problem}.", f"Expected a prompt, a text with {PLACE} in it.")
    return checked(template, os.fspath(path))

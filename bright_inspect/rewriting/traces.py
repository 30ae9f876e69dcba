"""The outline of a reasoning trace: what its parts are, so that thousands of words can be folded and searched.

A plain text has one part a paragraph, or a line where it has no blank lines. Whatever the text, the parts are all of
it: blanks and blank lines belong to the part before them. Only marks are looked at, never meaning:

* Thoughts: ``<think>``, ``<thinking>``, ``<thought>``, ``<reasoning>``, ``<|begin_of_thought|>`` at the beginning of a
  line, and what closes them. One that is not closed goes on to the end; a closing tag without an opening one ends a
  thought from the beginning (chat templates that open it themselves leave such texts).
* Headings: Markdown's, and lines that are bold as a whole.
* Steps: lines that begin "1.", "2)", "Step 3:", and paragraphs that begin "First,", "Finally,"; bold or a heading too.
  Indented paragraphs after a step are part of it.
* Sub-queries: lines that begin "Sub-query:", "Search query 2:", "Query 1:", and list items under a line "Queries:".
* Code: a fenced block is one part.
* Final: what comes after the last thought; of that, or of a text without thoughts, only what comes after the last line
  that begins "Final query:", "Rewritten query:", "Answer:" and the like, up to the next heading that is not below it. A
  query that stands on such a line is its paragraph alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

PartKind = Literal["paragraph", "heading", "step", "sub-query", "code", "tag"]
Role = Literal["thought", "final", "text"]

#: What stands for a part: its first words, of its first characters.
_WORDS = 12
_CHARACTERS = 160
#: A longer line that is bold is a sentence.
_LONGEST_HEADING = 120
#: How far tags that begin a line are looked for.
_INDENT = 40
#: The level of a bold line, below all headings of Markdown.
_BOLD_LEVEL = 7

_TAG = re.compile(
    r"""<(?:(?P<close>/)?+(?:think|thinking|thoughts?|reasoning)
      | \|(?:(?P<end>end)|begin)_of_thought\|
    )>\s*+""",
    re.IGNORECASE | re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_BOLD = r"(?:\*\*|__)?+"
_MARKS = rf"(?:\#{{1,6}}+[ \t]++|>[ \t]?+)?+{_BOLD}"
_COLON = rf"{_BOLD}[ \t]*+:{_BOLD}[ \t]*+"
# One line, by how it begins.
_LINE = re.compile(
    rf"""[ \t]*+(?P<code>`{{3,}}+(?=[^`\n]*+(?:\n|\Z))|~{{3,}}+)
    | [ ]{{0,3}}+(?:
        {_MARKS}(?P<final>
            (?:(?:here(?:\ is|['’]s)\ )?+(?:the|my|your|a)\ )?+
            (?:(?:final|rewritten|reformulated|expanded|refined|improved|revised|optimi[sz]ed|enhanced)\ (?:search\ )?+
               (?:(?P<query>query|question)|answer|response)|answer)
        )(?:{_COLON}|{_BOLD}[ \t]*+(?=\n|\Z))
      | {_MARKS}(?P<list>(?:(?:sub-?\ ?|search\ |follow-?up\ )(?:queries|questions)|queries){_COLON}(?=\n|\Z))
      | (?P<sub>(?:[-*+•][ \t]++)?+{_MARKS}(?:
            (?:sub-?\ ?|search\ |follow-?up\ )(?:query|question)(?:[ \t]*+\#?\d{{1,3}})?+|query[ \t]*+\#?\d{{1,3}}
        ){_BOLD}[ \t]*+[:.])
      | {_MARKS}(?P<step>step[ \t]++\d{{1,3}}\b|\(?\d{{1,3}}[.)](?=[ \t]|\*\*|__))
      | {_MARKS}(?P<word>(?:first|second|third|fourth|fifth|next|then|final|last)(?:ly)?+,)
      | (?P<item>[-*+•](?=[ \t]))
      | (?P<heading>\#{{1,6}}+(?=[ \t]))
      | (?P<bold>\*\*|__)
    )""",
    re.VERBOSE | re.IGNORECASE,
)


class TracePart(NamedTuple):
    """A part of a trace, ``text[start:end]``.

    ``role`` says whether it is thought, the final query or answer, or neither. ``level`` is 1 to 6 for Markdown's
    headings and those steps that are one, 7 for a bold line, else 0. ``label`` has its first words, ``words`` counts
    all between blanks.
    """

    start: int
    end: int
    kind: PartKind
    role: Role
    level: int
    label: str
    words: int


class _Block(NamedTuple):
    """``cue``: its first line says that the final text comes: "one" for a query on that line, else "all"."""

    start: int
    kind: PartKind
    level: int = 0
    cue: Literal["", "one", "all"] = ""


def outline(text: str) -> list[TracePart]:
    """The parts of a trace in order; together they are all of it. Empty for an empty text. Time is linear."""
    blocks: list[_Block] = []
    thoughts: list[bool] = []  # of each block, whether it is in a thought
    start, open_, last_close = 0, False, -1
    for tag in _TAG.finditer(text):
        closes = bool(tag["close"] or tag["end"])
        if not closes and not _begins_line(text, tag.start()):
            continue
        # Before a closing tag that nothing opened there is a thought, if it is the first.
        thought = open_ or (closes and not thoughts)
        found = list(_blocks(text, start, tag.start()))
        blocks += [*found, _Block(tag.start(), "tag")]
        thoughts += [thought] * len(found) + [thought or not closes]
        start, open_ = tag.end(), not closes
        if closes:
            last_close = len(blocks)
    found = list(_blocks(text, start, len(text)))
    blocks += found
    thoughts += [open_] * len(found)
    if not blocks:
        return [TracePart(0, len(text), "paragraph", "text", 0, "", 0)] if text else []
    blocks[0] = blocks[0]._replace(start=0)  # blanks before a tag
    first, after = _final(blocks, last_close, open_)
    parts = []
    for number, block in enumerate(blocks):
        end = blocks[number + 1].start if number + 1 < len(blocks) else len(text)
        role: Role = "final" if first <= number < after else "thought" if thoughts[number] else "text"
        content = text[block.start : end]
        label = " ".join(content[:_CHARACTERS].split(None, _WORDS)[:_WORDS])
        parts.append(TracePart(block.start, end, block.kind, role, block.level, label, len(content.split())))
    return parts


def final_text(text: str, parts: Sequence[TracePart]) -> str | None:
    """The final query or answer of an outlined trace without what announces it, or None if it has none."""
    final = [part for part in parts if part.role == "final"]
    if not final:
        return None
    start, end = final[0].start, final[-1].end
    match = _LINE.match(text, start, end)
    return text[match.end() if match and match["final"] else start : end].strip()


def _begins_line(text: str, place: int) -> bool:
    """Whether only blanks are before this place in its line."""
    before = text[max(0, place - _INDENT) : place]
    line = before.rpartition("\n")[2]
    return (not line or line.isspace()) and (len(line) < _INDENT or place == _INDENT)


def _final(blocks: Sequence[_Block], last_close: int, unclosed: bool) -> tuple[int, int]:
    """The blocks that are final, ``(first, after the last)``; none: (0, 0)."""
    end = len(blocks)
    # In a thought that was cut off an answer may stand all the same; one after an earlier thought is none.
    region = max(last_close, 0)
    if unclosed:
        region = max((number for number, block in enumerate(blocks) if block.kind == "tag"), default=0) + 1
    cues = [number for number in range(region, end) if blocks[number].cue]
    if cues:
        first = cues[-1]
        if blocks[first].cue == "one":
            return first, first + 1
        level = blocks[first].level or _BOLD_LEVEL
        ends = (number for number in range(first + 1, end) if 0 < blocks[number].level <= level)
        return first, next(ends, end)
    if unclosed or last_close < 0 or last_close == end:
        return 0, 0
    return last_close, end


def _blocks(text: str, start: int, end: int) -> Iterator[_Block]:
    """The blocks of a stretch of text, which begin with ``start`` and are all of it, unless it has none but blanks."""
    while end > start and text[end - 1].isspace():
        end -= 1
    by_line = _BLANK_LINE.search(text, start, end) is None
    kind: PartKind | None = None  # of the block that is open
    gap = single = in_list = False  # a blank line came before; the open block is but one line; under "Queries:"
    fence, begin, position = "", start, start
    while position < end:
        after = text.find("\n", position, end) + 1 or end
        line = _Line(text, position, after)
        position = after
        if fence:
            if line.closes(fence):
                fence, single = "", True
            continue
        if line.blank:
            gap = True
            continue
        starts = gap or single or kind is None or (by_line and line.stands_alone)
        block = line.block(begin if kind is None else line.start, starts, in_list)
        if block is None and starts and not (kind == "step" and gap and not single and line.indented):
            block = _Block(begin if kind is None else line.start, "paragraph")
        if block is not None:
            yield block
            kind = block.kind
            fence = line.fence
            single = block.level > 0 or line.one_line
            in_list = line.heads_list or (in_list and block.kind in ("sub-query", "code"))
        gap = False


class _Line:
    """A line, and what its beginning says."""

    __slots__ = ("_end", "_match", "_text", "blank", "fence", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self.start, self._end = text, start, end
        self._match = _LINE.match(text, start, end)
        self.fence = (self._match["code"] or "") if self._match else ""
        self.blank = self._match is None and text[start:end].isspace()

    def closes(self, fence: str) -> bool:
        return self.fence.startswith(fence) and self._text[self.start : self._end].strip() == self.fence

    @property
    def indented(self) -> bool:
        return self._text.startswith(("  ", "\t"), self.start)

    @property
    def stands_alone(self) -> bool:
        """Whether it begins a paragraph where none is set off: not with a small letter, which goes on, or indented."""
        first = self._text[self.start]
        return not first.islower() and not first.isspace()

    @property
    def heads_list(self) -> bool:
        return self._match is not None and self._match["list"] is not None

    @property
    def one_line(self) -> bool:
        """Whether nothing goes on with it: what announces a list, or the final query below it."""
        match = self._match
        return match is not None and (match["list"] or match["final"]) is not None and not self._rest

    @property
    def _rest(self) -> str:
        return self._text[self._match.end() : self._end].strip() if self._match else ""

    def block(self, begin: int, starts: bool, in_list: bool) -> _Block | None:
        """The block that begins with this line, by what marks it; None where nothing does."""
        match = self._match
        if match is None:
            return None
        kind = match.lastgroup
        level = self._level
        if kind == "code":
            return _Block(begin, "code")
        if match["final"]:
            cue: Literal["one", "all"] = "one" if match["query"] and self._rest else "all"
            return _Block(begin, "heading" if level and not self._rest else "paragraph", level, cue)
        if kind == "list":
            return _Block(begin, "heading" if level else "paragraph", level)
        if kind == "sub" or (in_list and kind in ("step", "item")):
            return _Block(begin, "sub-query", level)
        if kind == "step" or (kind == "word" and starts):
            return _Block(begin, "step", level)
        return _Block(begin, "heading", level) if level else None

    @property
    def _level(self) -> int:
        """Of a heading or a bold line; 0 for others."""
        line = self._text[self.start : self._end].strip()
        marks = len(line) - len(line.lstrip("#"))
        if marks:
            return marks if marks <= 6 and line[marks : marks + 1].isspace() else 0
        bold = line.rstrip(":")
        if len(line) > _LONGEST_HEADING or len(bold) < 5 or bold[:2] not in ("**", "__") or bold[-2:] != bold[:2]:
            return 0
        return _BOLD_LEVEL if bold[:2] not in bold[2:-2] else 0

"""What of a model's answer is the rewrite: the text without the thinking, and only if the answer is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bright_inspect.domain.visible import visible
from bright_inspect.domain.writing import LENGTH, End, Piece
from bright_inspect.errors import BrightInspectError

_OPEN, _CLOSE = "<think>", "</think>"
#: Reasons by which servers say that a model ended by itself; some say none.
_WHOLE = (None, "stop", "eos", "eos_token", "stop_sequence", "end_turn")


class NoRewrite(BrightInspectError):
    """An answer that is none. ``again``: another try may give one."""

    def __init__(self, message: str, hint: str, *, again: bool) -> None:
        super().__init__(message, hint)
        self.again = again


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A whole answer: the text to search by, the thinking before it ("" where there was none), the reason why it ended
    and the tokens that were counted."""

    text: str
    reasoning: str
    finish: str | None
    usage: Mapping[str, int]


class Draft:
    """An answer as far as it has come. Written by one thread; others may read it meanwhile."""

    def __init__(self) -> None:
        self._content = ""
        self._reasoning = ""
        self._end: End | None = None

    def add(self, part: Piece | End) -> None:
        """The next part."""
        if isinstance(part, End):
            self._end = part
        elif part.is_reasoning:
            self._reasoning += part.text
        else:
            self._content += part.text

    @property
    def text(self) -> str:
        """The text so far, without the thinking."""
        return split_thinking(self._content, done=self._end is not None)[0]

    @property
    def reasoning(self) -> str:
        """The thinking so far: what the server keeps apart, then what stood between tags in the answer."""
        inside = split_thinking(self._content, done=self._end is not None)[1]
        return "\n\n".join(part for part in (self._reasoning.strip(), inside) if part)

    def rewrite(self) -> Rewrite:
        """The rewrite.

        Raises:
            NoRewrite: the answer is cut off, refused or empty.
        """
        end = self._end or End("broken off")
        if end.finish == LENGTH:
            raise NoRewrite(
                f"the answer is cut at the limit of tokens, after {len(self.text.split()):,} words of text and "
                f"{len(self.reasoning.split()):,} of thinking.",
                "Allow more with --max-tokens, or start the server with a longer context.",
                again=False,
            )
        if end.finish not in _WHOLE:
            raise NoRewrite(
                f"the answer ended for another reason than being done: {visible(end.finish or '')}.",
                "Look at the server's log.",
                again=True,
            )
        text = self.text
        if not text:
            thought = " after thinking" if self.reasoning else ""
            raise NoRewrite(
                f"the answer is empty{thought}.", "Try again, or change the prompt with --prompt.", again=True
            )
        return Rewrite(text, self.reasoning, end.finish, end.usage)


def answered(parts: Iterator[Piece | End], draft: Draft | None = None) -> Draft:
    """All parts of an answer together; a ``draft`` that is given can be read meanwhile."""
    draft = draft or Draft()
    for part in parts:
        draft.add(part)
    return draft


def split_thinking(content: str, *, done: bool = True) -> tuple[str, str]:
    """An answer's text, and the thinking that stands in ``<think>…</think>`` in it, both without blanks around them.

    Where the tag that opens is missing (some templates put it into the prompt), all before the first one that closes is
    thinking; where the one that closes is missing, all after the other. Unless ``done``, the beginning of a tag at the
    end of the content may become one, and is left out.
    """
    texts: list[str] = []
    thoughts: list[str] = []
    place = 0
    first_close, first_open = content.find(_CLOSE), content.find(_OPEN)
    if first_close >= 0 and (first_open < 0 or first_close < first_open):
        thoughts.append(content[:first_close])
        place = first_close + len(_CLOSE)
    while (start := content.find(_OPEN, place)) >= 0:
        texts.append(content[place:start])
        end = content.find(_CLOSE, start)
        if end < 0:
            thoughts.append(content[start + len(_OPEN) :])
            place = len(content)
            break
        thoughts.append(content[start + len(_OPEN) : end])
        place = end + len(_CLOSE)
    rest = content[place:]
    if not done:
        for tag in (_OPEN, _CLOSE):
            cut = next((length for length in range(len(tag) - 1, 0, -1) if rest.endswith(tag[:length])), 0)
            rest = rest[: len(rest) - cut]
    texts.append(rest)
    return "".join(texts).strip(), "\n\n".join(thought.strip() for thought in thoughts if thought.strip())

"""Untrusted text made safe to show: what a terminal would obey, hide or reorder becomes a symbol.

Every character becomes exactly one character, so an offset into the original text stays an offset into the shown one.
"""

from __future__ import annotations

import re

#: Stands for a character that has no picture of its own. Hiding it instead would let a text look like another.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_ZERO_WIDTH_JOINER = "\u200d"
_ZERO_WIDTH_NON_JOINER = "\u200c"

#: What may stand left or right of a joiner that builds one emoji: pictographs, skin tones, variation selector 16.
#: Elsewhere a joiner is invisible and makes the width of the following character a matter of opinion.
_PICTOGRAPH = "\u00a9\u00ae\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_LONE_JOINER = re.compile(f"(?<![{_PICTOGRAPH}\ufe0f])\u200d|\u200d(?![{_PICTOGRAPH}])")
#: The non-joiner is spelling in Persian and German; at the edge of a word it is only hidden.
_LONE_NON_JOINER = re.compile(r"(?<!\w)\u200c|\u200c(?!\w)")


def _build_table() -> dict[int, str]:
    """Map every character that must not reach a terminal to what is shown in its place."""
    pictures = {code: chr(0x2400 + code) for code in range(0x20)}
    pictures[0x7F] = "\N{SYMBOL FOR DELETE}"
    hidden = (
        range(0x80, 0xA0),  # C1: 0x9B alone is a control sequence introducer
        range(0x202A, 0x202F),  # bidirectional embeddings and overrides
        range(0x2066, 0x206A),  # bidirectional isolates
        (0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
        range(0x2060, 0x2066),
        range(0x206A, 0x2070),
        range(0xFFF9, 0xFFFC),
        range(0xD800, 0xE000),  # lone surrogates cannot even be encoded
        range(0xE0000, 0xE0080),  # tag characters can carry a whole hidden text
    )
    replaced = {code: REPLACEMENT for codes in hidden for code in codes}
    # A cell is one line: what would break it is a space.
    spaces = dict.fromkeys(map(ord, "\t\n\u2028\u2029"), " ")
    return {**pictures, **replaced, **spaces}


_TABLE = _build_table()


def visible(text: str) -> str:
    """Return ``text``, one character for one, with nothing left that a terminal would interpret.

    C0 controls become their U+2400 pictures, tabs and line breaks a space, other invisible or reordering characters
    ``REPLACEMENT``. Letters, marks, spaces and emoji sequences stay as they are.
    """
    if text.isprintable():
        return text
    shown = text.translate(_TABLE)
    if _ZERO_WIDTH_JOINER in shown:
        shown = _LONE_JOINER.sub(REPLACEMENT, shown)
    if _ZERO_WIDTH_NON_JOINER in shown:
        shown = _LONE_NON_JOINER.sub(REPLACEMENT, shown)
    return shown

"""Porter's stemmer in the form of Lucene's PorterStemFilter.

That form follows the author's later C and Java programs (lucene-solr 8.7: analysis/en/PorterStemmer.java): ``bli`` and
``logi`` are endings too. Snowball's ``porter``, which libraries offer under this name, follows the paper and stems
"archaeology" and "possibly" otherwise.
"""

from __future__ import annotations

from typing import Final

_VOWELS = "aeiou"
# For each last-but-one letter the endings and what replaces them if the rest has a vowel-consonant sequence.
_LONG_ENDINGS: Final = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
    "g": (("logi", "log"),),
}
# The same by last letter.
_MIDDLE_ENDINGS: Final = {
    "e": (("icate", "ic"), ("ative", ""), ("alize", "al")),
    "i": (("iciti", "ic"),),
    "l": (("ical", "ic"), ("ful", "")),
    "s": (("ness", ""),),
}
# By last-but-one letter: endings that go if the rest has two vowel-consonant sequences.
_SHORT_ENDINGS: Final = {
    "a": ("al",),
    "c": ("ance", "ence"),
    "e": ("er",),
    "i": ("ic",),
    "l": ("able", "ible"),
    "n": ("ant", "ement", "ment", "ent"),
    "o": ("ion", "ou"),
    "s": ("ism",),
    "t": ("ate", "iti"),
    "u": ("ous",),
    "v": ("ive",),
    "z": ("ize",),
}


class _Shapes(dict[int, str]):
    """Vowels become v; y stays, to be decided by what stands before it; everything else is a consonant."""

    def __missing__(self, code: int) -> str:
        shape = "v" if chr(code) in _VOWELS else "y" if code == 0x79 else "c"
        self[code] = shape
        return shape


_SHAPES = _Shapes()


def stem(word: str) -> str:
    """The stem of a lower-case word. Words of one or two UTF-16 units stay as they are, as in Lucene."""
    if len(word) < 3 or not word.isascii():
        units = _split_astral(word)
        if len(units) < 3:
            return word
        if len(units) != len(word):
            return _stem(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return _stem(word)


def _split_astral(word: str) -> str:
    """The word as Java sees it: characters beyond U+FFFF are two."""
    code_units = word.encode("utf-16-le", "surrogatepass")
    return "".join(chr(code_units[i] | code_units[i + 1] << 8) for i in range(0, len(code_units), 2))


def _stem(word: str) -> str:
    word = _without_plural(word)
    word = _without_past(word)
    if word[-1] == "y" and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    if len(word) > 1:
        word = _replace(word, _LONG_ENDINGS.get(word[-2], ()))
        word = _replace(word, _MIDDLE_ENDINGS.get(word[-1], ()))
    if len(word) > 1:
        word = _without_ending(word)
    return _without_final_e(word)


def _shape(word: str) -> str:
    """A c for each consonant and a v for each vowel: y is a consonant at the start and after a vowel."""
    shape = word.translate(_SHAPES)
    if "y" not in shape:
        return shape
    while (place := shape.find("y")) >= 0:
        shape = f"{shape[:place]}{'v' if place and shape[place - 1] == 'c' else 'c'}{shape[place + 1 :]}"
    return shape


def _measure(shape: str) -> int:
    """Porter's m: how often a consonant follows a vowel."""
    return shape.count("vc")


def _is_doubled(word: str, shape: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and shape[-1] == "c"


def _ends_short(word: str, shape: str) -> bool:
    """Porter's *o: consonant, vowel, consonant at the end, the last not w, x or y."""
    return shape[-3:] == "cvc" and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word[-1] != "s":
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    return word if word[-2] == "s" else word[:-1]


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(_shape(word[:-3])) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    shape = _shape(rest)
    if "v" not in shape:
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _is_doubled(rest, shape):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(shape) == 1 and _ends_short(rest, shape) else rest


def _replace(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, replacement in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + replacement if _measure(_shape(rest)) else word
    return word


def _without_ending(word: str) -> str:
    for ending in _SHORT_ENDINGS.get(word[-2], ()):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if ending == "ion" and rest[-1:] not in ("s", "t"):
                return word
            return rest if _measure(_shape(rest)) > 1 else word
    return word


def _without_final_e(word: str) -> str:
    if word[-1] == "e":
        rest = word[:-1]
        shape = _shape(rest)
        measure = _measure(shape)
        if measure > 1 or (measure == 1 and not _ends_short(rest, shape)):
            word = rest
    if word[-1:] == "l" and _is_doubled(word, _shape(word)) and _measure(_shape(word)) > 1:
        word = word[:-1]
    return word

"""Terms are those of Lucene's EnglishAnalyzer. What is expected below was made with Lucene itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.retrieval.analysis import ENGLISH, MOST_UNITS, WHITESPACE, tokens
from bright_inspect.retrieval.porter import stem


def terms(text: str) -> list[str]:
    return [term for term, _ in ENGLISH.terms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # URLs, addresses, numbers, marks
        ("https://www.example.org/a-b_c?id=3&x=y me@site.co.uk", "http www.example.org b_c id 3 x y me site.co.uk"),
        ("1,234.5 and 3.14, 10:30 v2.0.1 1e-5 -7 50% 1'000", "1,234.5 3.14 10 30 v2.0.1 1e 5 7 50 1'000"),
        ("state-of-the-art e-mail –em—dash", "state art e mail em dash"),
        ("A.B.C. U.S.A. i.e. e.g. Ph.D. foo:bar a·b l'été", "a.b.c u.s.a i. e.g ph.d foo:bar a·b l'été"),
        # apostrophes
        ("don't can’t James's James’s ＇s fox's foxes' o'clock ’tis", "don't can’t jame jame s fox fox o'clock ti"),
        # code and LaTeX
        ("snake_case __init__ var_2 CamelCase foo.bar() a->b x::y", "snake_cas __init__ var_2 camelcas foo.bar b x y"),
        (r"$\frac{a_1}{b^2}$ \alpha_{ij} \sum_{n=1}^{\infty}", "frac a_1 b 2 alpha_ ij sum_ n 1 infti"),
        # other scripts
        ("東京タワーへ行く カタカナー ﾊﾝｶｸ 한국어 々", "東 京 タワー へ 行 く カタカナー ﾊﾝｶｸ 한국어 々"),
        ("สวัสดี ชาวโลก ພາສາ", "สวัสดี ชาวโลก ພາສາ"),
        ('שלום צה"ל ג\'ירף', 'שלום צה"ל ג\'ירף'),
        ("кошка's мир-труд abcабв 12abc", "кошка мир труд abcабв 12abc"),
        ("ΣΊΣΥΦΟΣ İstanbul STRASSE straße ﬁne naïve", "σίσυφοσ istanbul strass straße ﬁne naïv"),
        ("𝑥𝑦𝑧s 𝐀𝐁ing", "𝑥𝑦𝑧 𝐀𝐁ing"),
        ("x\u0301y e\u0301clair", "x\u0301y e\u0301clair"),
        # emoji: families, skin tones, flags, keycaps, and what is one in Emoji 11.0 only
        ("👩‍👩‍👧 👍🏽 ❤️ 🇩🇪🇫🇷 🇩 1️⃣ #️⃣ # ★ © ☃", "👩‍👩‍👧 👍🏽 ❤️ 🇩🇪 🇫🇷 1️⃣ #️⃣ ★ © ☃"),
        # control characters, soft hyphen, zero-width space, word joiner, blanks that do and do not join
        ("b\0c d\x1ff e\xadf g\u200bh i\u2060j k\u202fl m\xa0n", "b c d f e\xadf g h i\u2060j k\u202fl m n"),
        ("the The THE of", ""),
    ],
)  # fmt: skip
def test_hard_cases(text: str, expected: str) -> None:
    # Joined and cut at the blank that no term holds.
    assert terms(text) == (expected.split(" ") if expected else [])


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("a" * 255, [255]),
        ("a" * 300, [255, 45]),
        ("b" * 255 + "c", [255, 1]),
        # Characters beyond U+FFFF count twice, and are not cut in two.
        ("\U0001d400" * 130, [127, 3]),
        ("a" * 254 + "\U0001d400", [254, 1]),
        # What a token needs behind it must lie within the limit too.
        ("a" * 254 + "'b", [254, 1]),
        ("a" * 253 + "'b", [255]),
    ],
)
def test_long_tokens_are_cut(text: str, lengths: list[int]) -> None:
    assert [len(token) for token in tokens(text)] == lengths


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # endings that Snowball's porter lacks
        ("archaeology", "archaeolog"), ("possibly", "possibl"),
        # one of each step
        ("caresses", "caress"), ("ponies", "poni"), ("caress", "caress"), ("cats", "cat"), ("agreed", "agre"),
        ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"),
        ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("sky", "sky"),
        ("fertilizer", "fertil"), ("relational", "relat"), ("triplicate", "triplic"), ("hopeful", "hope"),
        ("adoption", "adopt"), ("revival", "reviv"), ("replacement", "replac"), ("probate", "probat"), ("rate", "rate"),
        ("controll", "control"), ("roll", "roll"), ("is", "is"), ("ing", "ing"), ("sses", "ss"), ("ies", "i"),
    ],
)  # fmt: skip
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_each_term_knows_its_word() -> None:
    assert list(ENGLISH.terms("The foxes' Fox's")) == [("fox", "foxes"), ("fox", "Fox's")]
    assert list(WHITESPACE.terms("Foxes' foxes'")) == [("foxes'", "Foxes'"), ("foxes'", "foxes'")]


@given(st.text() | st.text("aAsé'._1 ٣#אぁ漢カ한ส👍🏽\u200d\ufe0f\u20e3🇩ℹ\U000e0067\U000e007f\u202f"))
def test_tokens_stand_in_the_text_in_order(text: str) -> None:
    place = 0
    for token in (token for word in ENGLISH.words(text) for token in tokens(word)):
        place = text.index(token, place) + len(token)
        assert 0 < len(token.encode("utf-16-le", "surrogatepass")) <= 2 * MOST_UNITS


@given(st.text("aAsé'.:_1٣א\"ぁカ한ส👍🏽\u200d\ufe0f\u20e3🇩ℹ#"))
def test_cutting_at_blanks_first_changes_nothing(text: str) -> None:
    assert tokens(f"{text} {text}") == tokens(text) * 2


@given(st.text("abcdeilnostyzé", max_size=20))
def test_a_stem_is_short_and_begins_the_word_but_for_its_last_letters(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
    assert stem(word)[:-3] == word[: len(stem(word)[:-3])]


@pytest.mark.parametrize(
    ("task", "config", "column", "texts"),
    [
        ("earth_science", "documents", "content", 1084),
        ("earth_science", "examples", "query", 116),
        ("pony", "examples", "query", 112),
    ],
)
def test_lucenes_own_terms(bright_data: Path, task: str, config: str, column: str, texts: int) -> None:
    """Every term of the passages and queries of which Lucene's terms are at hand."""
    parquet = bright_data / "bright" / config / f"{task}-00000-of-00001.parquet"
    text_of = dict(pl.read_parquet(parquet, columns=["id", column]).iter_rows())
    with gzip.open(bright_data / "lucene" / f"{task}.{config}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == texts
    assert [row["id"] for row in rows if terms(text_of[row["id"]]) != row["tokens"]] == []

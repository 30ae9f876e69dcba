"""Numbers and bars: the sign, the direction and the width are always right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.presentation.numbers import bar, delta_bar, delta_style, percent, signed_percent, stacked_bar
from tests.unit.making import text_of

FRACTION = st.floats(0, 1)
DELTA = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (0.0, "0.0"), (1.0, "100.0"), (0.27174, "27.2"), (0.00049, "0.0"), (0.9996, "100.0")],
)
def test_percent(value: float | None, expected: str) -> None:
    assert percent(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"), (0.0, "0.0"), (-0.0, "0.0"), (1e-10, "0.0"), (-1e-10, "0.0"), (1.0, "+100.0"), (-1.0, "−100.0"),
        (0.158, "+15.8"), (-0.111, "−11.1"), (0.0002, "+0.0"), (-0.0002, "−0.0"),
    ],
)  # fmt: skip
def test_signed_percent(value: float | None, expected: str) -> None:
    assert signed_percent(value) == expected


@given(DELTA)
def test_sign_and_style_agree_with_the_tally(delta: float) -> None:
    text, style = signed_percent(delta), delta_style(delta)
    if abs(delta) <= TIE_TOLERANCE:
        assert (text, style) == ("0.0", "dim")
    else:
        assert (text[0], style) == (("+", "gain") if delta > 0 else ("−", "loss"))
    assert "-" not in text
    assert abs(float(text.replace("−", "-")) - 100 * delta) <= 0.05 + 1e-9


def test_no_difference_is_dim() -> None:
    assert delta_style(None) == "dim"


@given(st.floats(-2, 2), st.integers(0, 60))
def test_a_bar_has_its_width(fraction: float, width: int) -> None:
    assert len(bar(fraction, width)) == cell_len(bar(fraction, width)) == width


@given(FRACTION, FRACTION, st.integers(1, 40))
def test_a_longer_bar_means_more(one: float, other: float, width: int) -> None:
    def filled(fraction: float) -> int:
        return sum(" ▏▎▍▌▋▊▉█".index(char) for char in bar(fraction, width))

    if one <= other:
        assert filled(one) <= filled(other)
    assert abs(filled(one) - one * width * 8) <= 0.5


@pytest.mark.parametrize(("fraction", "expected"), [(0, "    "), (1, "████"), (0.5, "██  "), (0.28125, "█▏  ")])
def test_bar(fraction: float, expected: str) -> None:
    assert bar(fraction, 4) == expected


@given(st.one_of(st.none(), st.floats(-2, 2)), st.integers(3, 41))
def test_a_delta_bar_has_its_width_and_direction(delta: float | None, width: int) -> None:
    cell = delta_bar(delta, width)
    text = text_of(cell)
    assert cell_len(text) == width
    if delta is None:
        assert not text.strip()
        return
    left, _, right = text.partition("│")
    assert len(left) == width // 2, "the middle does not move"
    assert not (right if delta < 0 else left).strip(), "only one side grows"
    styles = {span.style for span in cell if span.text.strip(" │")}
    assert styles <= {"gain" if delta > 0 else "loss"}


@pytest.mark.parametrize(
    ("delta", "expected"),
    [(1.0, "    │████"), (-1.0, "████│    "), (0.0, "    │    "), (-0.5, "  ██│    "), (-0.125, "   ▐│    ")],
)
def test_delta_bar(delta: float, expected: str) -> None:
    assert text_of(delta_bar(delta, 9)) == expected


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 60))
def test_a_stacked_bar_has_its_width(near: int, far: int, beyond: int, width: int) -> None:
    total = near + far + beyond or 1
    shares = [near / total, far / total, beyond / total]
    cell = stacked_bar([(shares[0], "█", "gold"), (shares[1], "▒", "gold"), (shares[2], "░", "dim")], width)
    text = text_of(cell)
    assert len(text) == width
    assert list(text) == sorted(text, key="█▒░ ".index)
    if near + far + beyond:
        assert not text.endswith(" ")
        assert abs(text.count("█") - shares[0] * width) <= 0.5

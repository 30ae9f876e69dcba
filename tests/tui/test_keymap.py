"""One table of keys: no two mean the same, every action exists, and a user's own keys reach everything."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

from bright_inspect.errors import UsageError
from bright_inspect.tui.app import BrightInspect
from bright_inspect.tui.keymap import KEYS, SCOPE_TITLES, Key, bindings, display_keys, key_file, read_key_file
from bright_inspect.tui.screens.ablation import AblationScreen
from bright_inspect.tui.screens.audit import AuditScreen
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.screens.explain import ExplainScreen
from bright_inspect.tui.screens.help import HelpScreen
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.lens import LensScreen
from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from bright_inspect.tui.screens.trace import TraceScreen
from bright_inspect.tui.screens.triage import TriageScreen
from bright_inspect.tui.screens.variants import VariantsScreen
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable
from tests.tui.driving import demo_app, driven, inspect, line, press, queries, reader_of, screen_of, table_of

#: The scopes whose keys are heard at the same time.
TOGETHER = [
    ("everywhere", "overview", "lists"),
    ("everywhere", "queries", "lists"),
    ("everywhere", "inspect", "lists"),
    ("everywhere", "inspect", "reader"),
    ("everywhere", "audit", "lists"),
    ("everywhere", "audit", "reader"),
    ("everywhere", "live", "lists"),
    ("everywhere", "live", "reader"),
    ("everywhere", "explain", "lists"),
    ("everywhere", "explain", "reader"),
    ("everywhere", "ablation", "lists"),
    ("everywhere", "ablation", "reader"),
    ("everywhere", "triage", "lists"),
    ("everywhere", "triage", "reader"),
    ("everywhere", "variants", "lists"),
    ("everywhere", "lens", "lists"),
    ("everywhere", "lens", "reader"),
    ("everywhere", "trace", "lists"),
    ("everywhere", "trace", "reader"),
]
OWNERS: dict[str, type[DOMNode]] = {
    "everywhere": BrightInspect,
    "overview": OverviewScreen,
    "queries": QueriesScreen,
    "inspect": InspectScreen,
    "audit": AuditScreen,
    "live": LiveScreen,
    "explain": ExplainScreen,
    "ablation": AblationScreen,
    "triage": TriageScreen,
    "variants": VariantsScreen,
    "lens": LensScreen,
    "trace": TraceScreen,
    "lists": LineTable,
    "reader": TextReader,
}


def by_id(key_id: str) -> Key:
    (key,) = [key for key in KEYS if key.id == key_id]
    return key


def declared(owner: type[DOMNode]) -> dict[str, Binding]:
    found = [binding for binding in owner.BINDINGS if isinstance(binding, Binding)]
    return {binding.id: binding for binding in found if binding.id}


def test_ids_are_unique_and_every_scope_has_a_title() -> None:
    assert [key_id for key_id, count in Counter(key.id for key in KEYS).items() if count > 1] == []
    assert {key.scope for key in KEYS} == set(SCOPE_TITLES)
    assert all(key.help and key.keys for key in KEYS)
    assert all(key.label for key in KEYS if key.action)


@pytest.mark.parametrize("scopes", TOGETHER, ids="+".join)
def test_no_key_means_two_things(scopes: tuple[str, ...]) -> None:
    keys = [key for scope in scopes for entry in KEYS if entry.scope == scope for key in entry.keys.split(",")]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_every_key_is_bound_and_its_action_exists(key: Key) -> None:
    owner = OWNERS[key.scope]
    binding = declared(owner)[key.id]
    assert binding.key == key.keys
    if key.action:
        assert binding.action == key.action
    name = binding.action.removeprefix("app.").partition("(")[0]
    holder = BrightInspect if binding.action.startswith("app.") else owner
    assert callable(getattr(holder, f"action_{name}", None)), name


@pytest.mark.parametrize("scope", ["lists", "reader"])
def test_the_widgets_bind_nothing_that_is_not_in_the_table(scope: str) -> None:
    assert set(declared(OWNERS[scope])) == {key.id for key in KEYS if key.scope == scope}
    assert len(OWNERS[scope].BINDINGS) == len(declared(OWNERS[scope]))


def test_dialogs_close_by_the_keys_that_lead_back() -> None:
    closing = declared(Dialog)
    for key_id in ("back", "help"):
        assert set(closing[key_id].key.split(",")) == set(by_id(key_id).keys.split(","))


def test_the_footer_shows_each_key_once() -> None:
    for scope in ("overview", "queries", "inspect"):
        labels = [key.label for key in KEYS if key.shown and key.scope in (scope, "everywhere")]
        assert len(labels) == len(set(labels))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("question_mark,f1", "? F1"), ("q,escape", "q Esc"), ("ctrl+n", "ctrl+n"), ("right_square_bracket", "]")],
)
def test_keys_as_a_person_writes_them(keys: str, expected: str) -> None:
    assert display_keys(keys) == expected
    assert bindings("everywhere", "inspect")


# --- a user's own keys -----------------------------------------------------------------------------------------------


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "keys.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_reading_a_key_file(tmp_path: Path) -> None:
    path = written(tmp_path, '[keys]\nnext-query = "N,ctrl+n"\ntable-down = "down,e"\n')
    assert read_key_file(path) == {"next-query": "N,ctrl+n", "table-down": "down,e"}
    assert read_key_file(written(tmp_path, "")) == {}
    assert read_key_file(tmp_path / "absent.toml") == {}
    assert key_file().name == "keys.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[keys", "not TOML"),
        ('keys = "n"', "no key is called 'keys'"),
        ("keys = [1]", "no key is called 'keys'"),
        ('[keys]\nnext = "n"', "no key is called 'next'"),
        ('[keys]\n"[/foo]" = "n"', "no key is called '[/foo]'"),
        ("[keys]\nnext-query = 5", "next-query = 5 is no key"),
        ('[keys]\nnext-query = ""', "next-query = '' is no key"),
        ('[keys]\nnext-query = ["n"]', "next-query = ['n'] is no key"),
        (b"\xff\xfe[keys]", "cannot be read"),
    ],
)
def test_key_files_that_cannot_be_used(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError, match=r"^") as raised:
        read_key_file(path)
    assert str(path) in raised.value.message
    assert message in raised.value.message
    assert raised.value.hint


def test_a_folder_in_the_key_files_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_key_file(tmp_path)


async def test_own_keys_work_and_are_shown() -> None:
    own = {
        "all-queries": "f5", "table-down": "e", "next-query": "N,ctrl+n", "back": "x", "help": "f2", "sort": "ctrl+s",
        "reader-last": "z", "next-tab": "tab",
    }  # fmt: skip
    async with driven(demo_app(own)) as pilot:
        assert "F5" in line(pilot, ".keys") or "f5" in line(pilot, ".keys")
        assert "x back" in line(pilot, ".keys")
        assert "F2 help" in line(pilot, ".keys")
        await press(pilot, "A", "j", "q")
        screen_of(pilot, OverviewScreen)
        assert table_of(pilot).cursor == 0
        await press(pilot, "e", "f5")
        queries(pilot)
        await press(pilot, "ctrl+s")
        assert queries(pilot).order != "|Δ|"
        await press(pilot, "enter", "n")
        assert inspect(pilot).row is inspect(pilot).rows[0]
        await press(pilot, "N", "ctrl+n")
        assert inspect(pilot).row is inspect(pilot).rows[2]
        assert line(pilot, ".keys").startswith("N next")
        await press(pilot, "f2")
        screen_of(pilot, HelpScreen)
        text = reader_of(pilot).text
        assert "  N ctrl+n      next query of the list" in text
        assert "  x             leave this level" in text
        await press(pilot, "z")
        assert reader_of(pilot).scroll_y == reader_of(pilot).max_scroll_y
        await press(pilot, "escape")
        screen_of(pilot, HelpScreen)
        await press(pilot, "x", "x", "x")
        screen_of(pilot, OverviewScreen)


def test_every_pair_of_scopes_is_looked_at() -> None:
    """So that a new scope is not forgotten above."""
    assert set(itertools.chain(*TOGETHER)) == set(SCOPE_TITLES)

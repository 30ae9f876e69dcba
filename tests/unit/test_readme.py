"""README.md shows what the program does now: its keys, its commands, and transcripts that are run again here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bright_inspect.cli import COMMANDS
from bright_inspect.retrieval.protocol import Corpus, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_retriever
from bright_inspect.tui.keymap import markdown_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TRANSCRIPTS = re.findall(r"```console\n\$ (.*)\n((?s:.*?))\n```", README)


def test_key_table_is_the_programs() -> None:
    assert markdown_table() in README, "paste the output of bright_inspect.tui.keymap.markdown_table() into README.md"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_named(command: str) -> None:
    assert f"`{command}`" in README


def test_pictures_exist() -> None:
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", README)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


def test_transcripts_are_found() -> None:
    assert len(TRANSCRIPTS) >= 3


def test_the_own_retriever_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"<!-- own-retriever -->\n```python\n((?s:.*?))```", README)
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    corpus = Corpus("demo", "two", 2, "d", lambda: iter([("a", "tin cans"), ("b", "tin soldiers")]))
    retriever = find_retriever("mine:by_overlap").make(corpus, tmp_path, ignore_progress, never_stop)
    first, second = retriever.search(["tin soldiers", "tin"], 10, [(), ("b",)])
    assert first.hits == [("b", 2.0), ("a", 1.0)]
    assert second.hits == [("a", 1.0)]


@pytest.mark.parametrize(("command", "shown"), TRANSCRIPTS)
def test_transcript(command: str, shown: str) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout + done.stderr).rstrip() == shown

"""Retrievers by name: what is not there, and a user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Found, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_reranker, find_retriever, known_retrievers
from tests.retrieval.corpora import DOCUMENTS, corpus_of

OWN = """
from bright_inspect.retrieval.protocol import Found, Hit

class Last:
    name, device = "last", None
    def __init__(self, ids): self.ids = ids
    def search(self, texts, k, excluded=(), check=lambda: None):
        return [Found([Hit(self.ids[-1], 1.0)]) for _ in texts]

def make(corpus, cache_folder, progress, check):
    return Last([doc_id for doc_id, _ in corpus.read()])

def wrong(corpus, cache_folder, progress, check):
    return "no retriever"

number = 3

def few(corpus):
    return "called otherwise"

def rank(cache_folder, progress, check):
    return 5
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_retriever.py").write_text(OWN)
    (tmp_path / "broken_retriever.py").write_text("raise KeyError('settings\\nmore')")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_names_are_those_of_the_retrievers(tmp_path: Path) -> None:
    for name in ("bm25", "bm25-lucene", "rank-bm25"):
        spec = known_retrievers()[name]
        assert spec.needs is None
        assert spec.make(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop).name == name


@pytest.mark.usefixtures("own_module")
def test_a_users_own(tmp_path: Path) -> None:
    made = find_retriever("own_retriever:make").make(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop)
    (found,) = made.search(["anything"], 1)
    assert isinstance(found, Found)
    assert found.hits[0].doc_id == list(DOCUMENTS)[-1]


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm52", "'bm52' is not a retriever"),
        ("no_such_module:make", "no_such_module cannot be imported: ModuleNotFoundError"),
        ("broken_retriever:make", "broken_retriever cannot be imported: KeyError"),
        (":make", "cannot be imported"),
        ("own_retriever:absent", "own_retriever has no 'absent'"),
        ("own_retriever:", "own_retriever has no ''"),
        ("own_retriever:number", "own_retriever:number is a int, not a function"),
    ],
)
def test_names_that_name_nothing(name: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_retriever(name)
    assert message in raised.value.message
    assert "\n" not in str(raised.value)
    assert raised.value.hint


@pytest.mark.usefixtures("own_module")
def test_a_factory_that_makes_something_else(tmp_path: Path) -> None:
    spec = find_retriever("own_retriever:wrong")
    with pytest.raises(UsageError, match="own_retriever:wrong made a str, not a retriever"):
        spec.make(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop)


@pytest.mark.usefixtures("own_module")
def test_factories_that_are_called_otherwise(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="own_retriever:few is called otherwise: too many positional arguments"):
        find_retriever("own_retriever:few").make(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop)
    with pytest.raises(UsageError, match="own_retriever:make is called otherwise: missing a required argument"):
        find_reranker("own_retriever:make").make(tmp_path, ignore_progress, never_stop)
    with pytest.raises(UsageError, match="own_retriever:rank made a int, not a reranker"):
        find_reranker("own_retriever:rank").make(tmp_path, ignore_progress, never_stop)


def test_listing_loads_nothing_heavy() -> None:
    code = """
import sys
from bright_inspect.retrieval.registry import known_retrievers
known_retrievers()
print(sorted({"numpy", "scipy", "rank_bm25", "torch", "duckdb", "textual"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""A query that lost half of its list is told: its score may be better for it."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.store.opening import open_session
from bright_inspect.store.request import OpenRequest
from tests.support import write_bright


def findings_of(folder: Path, depths: list[int]) -> list[tuple[str, int, str]]:
    examples = [
        {"id": str(number), "query": "q", "gold_ids": ["d0"], "excluded_ids": ["N/A"], "gold_ids_long": ["N/A"]}
        for number in range(len(depths))
    ]
    data = write_bright(folder / "data", {"biology": examples})
    run = folder / "biology.trec"
    run.write_text(
        "".join(
            f"{query} Q0 d{rank} {rank + 1} {1 - rank / 100} t\n"
            for query, depth in enumerate(depths)
            for rank in range(depth)
        )
    )
    opening = open_session(OpenRequest((str(run),), data=data))
    try:
        return [(finding.code, finding.count, finding.message) for finding in opening.session.findings]
    finally:
        opening.session.close()


def test_half_a_list_is_told(tmp_path: Path) -> None:
    (found,) = findings_of(tmp_path, [20] * 19 + [10])
    assert found[:2] == ("short-list", 1)
    assert "usual 20 documents" in found[2]
    assert "query 19, 10 documents" in found[2]


def test_uneven_or_shallow_lists_are_nobodys_fault(tmp_path: Path) -> None:
    assert findings_of(tmp_path / "nearly", [20] * 19 + [11]) == []
    assert findings_of(tmp_path / "mixed", [20, 3, 20, 7, 1, 20]) == []
    assert findings_of(tmp_path / "shallow", [5] * 19 + [1]) == []

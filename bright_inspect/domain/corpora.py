"""How many documents BRIGHT's corpora have, so that a part is known for one."""

from __future__ import annotations

# ir-datasets/ir-datasets: test/integration/bright.py.
_DOCUMENTS = {
    "biology": 57_359, "earth_science": 121_249, "economics": 50_220, "psychology": 52_835, "robotics": 61_961,
    "stackoverflow": 107_081, "sustainable_living": 60_792, "pony": 7_894, "leetcode": 413_932, "aops": 188_002,
    "theoremqa_questions": 188_002, "theoremqa_theorems": 23_839,
}  # fmt: skip
_LONG_DOCUMENTS = {
    "biology": 524, "earth_science": 601, "economics": 516, "psychology": 512, "robotics": 508, "stackoverflow": 1_858,
    "sustainable_living": 554, "pony": 577,
}  # fmt: skip


def corpus_size(dataset: str, task: str) -> int | None:
    """The number of documents in a task's whole corpus, or None where that is not known."""
    return {"bright": _DOCUMENTS, "bright-long": _LONG_DOCUMENTS}.get(dataset, {}).get(task)

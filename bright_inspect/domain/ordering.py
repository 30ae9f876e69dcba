"""What may break the ties of a run's scores."""

from __future__ import annotations

from typing import Literal, get_args

#: ``trec``: scores as float32, then document id descending (trec_eval 9, pytrec_eval); ``float64``: the same in double
#: precision (trec_eval 10); ``file``: the order of the file; ``rank``: the ranks that the file gives.
TieRule = Literal["trec", "float64", "file", "rank"]
#: What nobody chose otherwise.
DEFAULT_TIES: TieRule = "trec"
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)

"""The keys by which JSON rows, tables and ranked lists name their parts, whoever wrote them.

Each tuple is in order of preference. The spellings are those of the writers in FORMATS E and of PyTerrier, ir_measures
(query_id, doc_id), ranx (q_id, doc_id), BEIR (query-id, corpus-id) and TREC tools (topic, docno).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

QUERY_KEYS = ("query_id", "qid", "q_id", "query-id", "queryid", "topic_id", "topic")
# PyTerrier's docno is the id, and its docid a number inside the index.
DOC_KEYS = (
    "docno", "doc_id", "docid", "corpus-id", "corpus_id", "document_id", "doc-id", "pid", "passage_id", "did",
)  # fmt: skip
RANK_KEYS = ("rank",)
LIST_KEYS = (
    "retrieved_ids", "retrieved_documents_id", "retrieved_doc_ids", "ranked_ids", "ranked_list", "ranking", "doc_ids",
    "docids", "retrieved_documents", "results",
)  # fmt: skip
#: A plain score first; then what a model says of the pair. TFRank has three: its yes-probability is the only one that
#: its own evaluation requires of every row (JOHNNY-fans/TFRank, FORMATS E.10), and labels hold errors as text.
SCORE_KEYS = (
    "score", "final_score", "rerank_score", "reranker_score", "relevance_score", "predicted_yesno_score",
    "predicted_label_avg", "similarity", "sim", "logit", "probability", "prob", "rel_score", "rating",
    "predicted_label_max",
    "label",
)  # fmt: skip
_LIKE_A_SCORE = re.compile(r"score|prob|logit|label|relevan|rating|simil", re.IGNORECASE)
THOUGHT_KEYS = ("reasoning", "reasoning_content", "thought", "thinking")
RESPONSE_KEYS = ("response", "output", "generation", "explanation", "rationale", "completion", "answer")

_METRIC = re.compile(
    r"((n?dcg|alpha.?ndcg|oracle.?ndcg|map|mrr|recall|precision|hit(_rate)?|accuracy|success|judged|recip_rank|bpref|"
    r"r_?prec|main_score|gm_map|iprec_at_recall|nauc\w*)([ @_.-]?(cut|at)?[ @_.-]?\d+(\.\d+)?)?|"
    r"(num_(q|ret|rel|rel_ret|nonrel_judged_ret))|((p|r|ap|rr|f1)[@_]\d+)|rr|ap)",
    re.IGNORECASE,
)


def first_key(keys: Iterable[str], names: Iterable[str]) -> str | None:
    """The most preferred of ``keys`` that is among ``names``."""
    present = set(names)
    return next((key for key in keys if key in present), None)


def score_candidates(row: Mapping[str, Any]) -> list[str]:
    """The fields of a row that can be its score, best first."""
    known = [key for key in SCORE_KEYS if key in row]
    others = [
        key
        for key, value in row.items()
        if key not in known and isinstance(value, int | float) and not isinstance(value, bool)
        and key != "relevance" and _LIKE_A_SCORE.search(key)
    ]  # fmt: skip
    return known + others


def are_metric_names(names: Iterable[str]) -> bool:
    """Whether these are measures of trec_eval, pytrec_eval, BRIGHT, MTEB or BEIR: a metrics file's keys."""
    listed = list(names)
    return bool(listed) and sum(bool(_METRIC.fullmatch(name.strip())) for name in listed) > len(listed) / 2

"""The conventions, with where each was read (FORMATS F and H; measured again by the tests against the tools)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bright_inspect.domain.measures import Measure, MeasureKind
from bright_inspect.evaluation.conventions.orders import AS_LISTED, FLOAT64, ID_ASCENDING, NUMBA, NUMBA_TWICE, STABLE
from bright_inspect.evaluation.conventions.rules import Convention

_CUT: frozenset[MeasureKind] = frozenset({"nDCG", "AP", "R", "P"})


def _lacks(tool: str, *, cut: frozenset[MeasureKind], uncut: frozenset[MeasureKind]) -> Callable[[Measure], str | None]:
    """Says that the tool lacks a measure, unless its kind is among those it has with or without a cutoff."""

    def lack(measure: Measure) -> str | None:
        has = cut if measure.cutoff is not None else uncut
        return None if measure.kind in has else f"{tool} has no {measure}"

    return lack


OURS = Convention(
    "bright-inspect",
    "bright-inspect",
    "trec_eval 9.0.8: form_res_rels.c, m_ndcg_cut.c; xlang-ai/BRIGHT: retrievers.py:111-128 (exclusions)",
    "Scores as float32, ties by document id descending (bytes), excluded documents removed before ranking, the ideal "
    "over all judged documents, queries missing from the run count 0.",
)

_TREC_EVAL_LACKS = _lacks("trec_eval", cut=_CUT, uncut=frozenset({"nDCG", "AP", "RR"}))
_TREC_EVAL = replace(
    OURS,
    removes="nothing",
    duplicates="stops",
    nan="undefined",
    empty_is_missing=True,
    zero_option="-c",
    stops_without_judgment=True,
    decimals=4,
    lacks=_TREC_EVAL_LACKS,
)
_PYTREC_EVAL = replace(OURS, removes="nothing", duplicates="last", nan="undefined", missing="dropped", decimals=5)

CONVENTIONS: tuple[Convention, ...] = (
    OURS,
    replace(
        _PYTREC_EVAL,
        name="bright",
        title="BRIGHT's run.py",
        source="xlang-ai/BRIGHT: retrievers.py:111-128, 544-595; run.py:126-140",
        rule="pytrec_eval over the list without excluded documents, every gold worth 1, queries missing from the "
        "score file left out of the mean, which is rounded to 5 digits.",
        removes="excluded",
        binary=True,
        lacks=_lacks("BRIGHT's run.py", cut=_CUT, uncut=frozenset({"RR"})),
    ),
    replace(
        _TREC_EVAL,
        name="trec_eval-9",
        title="trec_eval 9",
        source="trec_eval 9.0.8: form_res_rels.c:35, 180, 266-274; trec_format.h:15; m_ndcg_cut.c:72-116",
        rule="Scores as float32, ties by document id descending, nothing excluded; a repeated document stops it; "
        "without -c the mean is over queries in both files.",
        missing="dropped",
    ),
    replace(
        _TREC_EVAL,
        name="trec_eval-10",
        title="trec_eval 10",
        source="usnistgov/trec_eval 10.0: form_res_rels.c:266-274; trec_format.h:15; trec_eval.c:383-392",
        rule="As trec_eval 9, but scores as double, and without -c it stops when the run lacks a judged query; with "
        "-c that query counts 0.",
        order=FLOAT64,
        missing="stops",
    ),
    replace(
        _PYTREC_EVAL,
        name="beir",
        title="BEIR",
        source="beir-cellar/beir: beir/retrieval/evaluation.py (evaluate), beir/retrieval/custom_metrics.py (mrr)",
        rule="pytrec_eval after removing the document whose id is the query's, the mean over evaluated queries; RR@k "
        "is its own, with ties in the run's order and missing queries as 0.",
        removes="query id",
        orders={"RR@k": STABLE},
        missing_zero=frozenset({"RR"}),
        lacks=_lacks("BEIR", cut=_CUT | {"RR"}, uncut=frozenset()),
    ),
    replace(
        _PYTREC_EVAL,
        name="mteb",
        title="MTEB",
        source="embeddings-benchmark/mteb: mteb/_evaluators/retrieval_metrics.py:28-60 (mrr), "
        "mteb/abstasks/retrieval.py (_filter_queries_without_positives)",
        rule="pytrec_eval over the predictions as they are (the legacy task excludes nothing), unjudged queries and "
        "those without predictions left out; RR@k is its own, over scores as float64.",
        orders={"RR@k": FLOAT64},
        unrounded=frozenset({"RR"}),
        lacks=_lacks("MTEB", cut=_CUT | {"RR"}, uncut=frozenset()),
    ),
    replace(
        OURS,
        name="ir_measures",
        title="ir_measures",
        source="terrierteam/ir_measures: providers/pytrec_eval_provider.py, msmarco_provider.py, judged_provider.py",
        rule="pytrec_eval with missing queries as 0; RR@k and Judged@k come from other code, where scores are float64 "
        "and ties go by document id ascending.",
        orders={"RR@k": ID_ASCENDING, "Judged@k": ID_ASCENDING},
        unjudged_counts=True,
        removes="nothing",
        duplicates="last",
        nan="undefined",
    ),
    replace(
        OURS,
        name="ranx",
        title="ranx",
        source="AmenRa/ranx: ranx/data_structures/common.py:59, run.py (make_comparable), ranx/metrics/*.py; "
        "numba/misc/quicksort.py",
        rule="Scores as float64 in the order of numba's unstable argsort: up to 15 tied documents keep the file's "
        "order; of a repeated document the last score counts; a missing query stops it unless make_comparable=True, "
        "which sorts all lists once more and so moves tied documents again.",
        order=NUMBA,
        removes="nothing",
        duplicates="last",
        nan="last",
        missing="stops",
        zero_option="make_comparable=True",
        zero_option_order=NUMBA_TWICE,
        unjudged_counts=True,
        lacks=_lacks("ranx", cut=_CUT | {"RR"}, uncut=frozenset({"nDCG", "AP", "RR"})),
    ),
    replace(
        OURS,
        name="sklearn",
        title="scikit-learn's ndcg_score",
        source="scikit-learn: sklearn/metrics/_ranking.py (ndcg_score, _tie_averaged_dcg)",
        rule="The mean over all orders of tied documents, scores as float64, and the ideal over the documents that "
        "are passed to it, here those of the list.",
        order=FLOAT64,
        removes="nothing",
        duplicates="all",
        nan="stops",
        missing="dropped",
        unjudged_counts=True,
        ideal="retrieved",
        sklearn=True,
        lacks=_lacks("ndcg_score", cut=frozenset({"nDCG"}), uncut=frozenset({"nDCG"})),
    ),
    replace(
        OURS,
        name="file-order",
        title="the file's order",
        source="what Debrup-61/RaDeR and AQ-MedAI/Diver (utils/eval_util.py) rely on",
        rule="The file's order is the ranking, whatever the scores; otherwise as ours.",
        order=AS_LISTED,
        duplicates="first",
    ),
    replace(
        OURS,
        name="missing-dropped",
        title="missing queries dropped",
        source="the mean of xlang-ai/BRIGHT: retrievers.py:544-595, and of BEIR, MTEB and trec_eval without -c",
        rule="The mean over queries that the run answers; otherwise as ours.",
        missing="dropped",
    ),
    replace(
        OURS,
        name="no-exclusion",
        title="nothing excluded",
        source="MTEB's tasks before v1.1 (bright_retrieval.py); Pyserini's --remove-query removes the query's id only",
        rule="Excluded documents stay in the list; otherwise as ours.",
        removes="nothing",
    ),
    replace(
        OURS,
        name="ideal-from-retrieved",
        title="ideal from retrieved documents only",
        source="run-llama/llama_index#17070, o19s/quepid#836",
        rule="A common mistake: the ideal ranking is made of the documents retrieved within the cutoff, so that golds "
        "that were not found cost nothing; otherwise as ours.",
        ideal="retrieved",
        lacks=_lacks("this mistake", cut=frozenset({"nDCG"}), uncut=frozenset({"nDCG"})),
    ),
    replace(
        OURS,
        name="exponential-gain",
        title="exponential gain",
        source="AmenRa/ranx: ranx/metrics/ndcg.py (ndcg_burges)",
        rule="A document gains 2^relevance - 1 instead of its relevance; otherwise as ours.",
        gain="exponential",
        lacks=_lacks("this gain", cut=frozenset({"nDCG"}), uncut=frozenset({"nDCG"})),
    ),
)

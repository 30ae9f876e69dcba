"""Is this file what its name says, and of the data that it is scored by? Findings from plain values, never an error.

Tools of the field write the model, the options and the data's upload into folder names or nowhere, and reuse what is
already there (FORMATS A.2, A.6, B.3, D.2, E.8).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.domain.vintages import CURRENT, Vintage, vintage_of
from bright_inspect.errors import UsageError

#: The file of metrics that the tool of a score file writes beside it (FORMATS A.6, D.2).
_METRICS = {"score.json": "results.json", "scores.json": "metrics.json"}

#: BRIGHT rounds results.json to 5 digits (FORMATS A.6).
ROUNDED = 1e-5
# A run writes its scores and, seconds later, their metrics; a copy or a checkout may tell both by the minute.
_SAME_RUN_SECONDS = 3600.0
_SHOWN = 3
# Tags and names that say which tool wrote the file, or nothing.
_GENERIC_NAMES = {
    "anserini", "pyserini", "run", "runs", "rankllm", "filtered", "dense", "standard", "tag", "trec", "system", "q0",
    "default", "test", "output", "score", "scores", "result", "results", "model", "baseline", "ranx", "rerank",
    "reranked", "stdout", "none", "null", "unknown", "lucene", "terrier", "indri", "galago", "tevatron", "beir", "mteb",
}  # fmt: skip


# Models that BRIGHT's tables and its followers' name (BRIGHT's run.py --model, and the papers' own).
_MODELS = (
    "bge", "bm25", "cohere", "colbert", "contriever", "diver", "e5", "embeddinggemma", "gemini", "google", "grit",
    "gte", "inf", "inst", "jina", "mpnet", "nomic", "nvembed", "openai", "qwen", "rader", "reasonir", "sbert", "sfr",
    "splade", "voyage",
)  # fmt: skip


def name_other_models(path_system: str | None, tag: str | None) -> bool:
    """Whether a path and a TREC tag name models that are known, and none that both name. Most tags and folders name no
    model but an experiment; that these differ says nothing."""
    in_path, in_tag = (
        {model for model in _MODELS if model in _normalised(name or "", organisation=True)}
        for name in (path_system, tag)
    )
    return bool(in_path and in_tag and not in_path & in_tag)


def query_set_findings(
    file: Path, dataset: str, task: str, run_queries: Collection[str], task_queries: Collection[str]
) -> list[Finding]:
    """What the run's query ids say about the upload that it was made on, if they are not the task's.

    Silent about a number of queries that no upload has: that they are more or fewer is told elsewhere.
    """
    extra, missing = sorted(set(run_queries) - set(task_queries)), sorted(set(task_queries) - set(run_queries))
    if not (extra or missing):
        return []
    count = len(set(run_queries))
    expected = len(set(task_queries))
    vintages = [] if count == expected else vintage_of(task, queries=count)
    if not vintages and (count != expected or not extra):
        return []
    differences = [
        f"{what} {_some(ids)}" for what, ids in (("only in the run:", extra), ("only in the data:", missing)) if ids
    ]
    known = "As many, but not the same." if count == expected else _known(vintages, count, "queries")
    message = (
        f"the run has {count} queries, {dataset}/{task} at hand has {expected}; {'; '.join(differences)}. {known} "
        "Queries only in the run are not scored, those only in the data count 0: compare with runs over the same "
        "queries only."
    )
    return [Finding("other-vintage", "warning", str(file), message, count=len(extra) + len(missing))]


def judgment_findings(file: Path, dataset: str, task: str, golds: int) -> list[Finding]:
    """What the number of gold pairs says about the upload that judgments are of, if it is a known one and not the
    present. Judgments of somebody's own, of any other number, and of other datasets are passed over."""
    vintages = vintage_of(task, golds=golds)
    if dataset != "bright" or CURRENT in vintages or not vintages:
        return []
    message = (
        f"{golds} gold pairs for {task}, where BRIGHT now has {CURRENT.golds[task]}. "
        f"{_known(vintages, golds, 'golds')} Scores by other judgments do not compare with these."
    )
    return [Finding("other-judgments", "warning", str(file), message)]


def _known(vintages: list[Vintage], count: int, what: str) -> str:
    if not vintages:
        return f"No known upload has {count} {what}."
    return f"{count} {what} are those of {' or '.join(map(str, vintages))}."


def _some(ids: list[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(query_id[:80] for query_id in ids[:_SHOWN]) + more


def model_name_findings(file: Path, path_system: str | None, told: str | None, where: str) -> list[Finding]:
    """A run whose path names one model and whose content another: MTEB keeps the first model's name in a prediction
    file that is used again (FORMATS B.3), and tags are copied from script to script.

    ``path_system`` is the system read off the path, ``told`` the name in the file, and ``where`` that place
    (``mteb_model_meta.model_name``, ``the TREC tag``). Quiet where either says nothing, or one contains the other.
    """
    if not path_system or not told:
        return []
    in_path, in_file = _normalised(path_system), _normalised(told)
    if not in_path or not in_file or {in_path, in_file} & _GENERIC_NAMES:
        return []
    whole_path = _normalised(path_system, organisation=True)
    if in_path in in_file or in_file in in_path or in_file in whole_path:
        return []
    message = (
        f"the path says {path_system}, {where} says {told}; shown by the path. One of them is wrong: if the folder or "
        "the script was used before, the scores may be of the other model."
    )
    return [Finding("model-name-mismatch", "warning", str(file), message)]


def _normalised(name: str, *, organisation: bool = False) -> str:
    """A model's name without organisation, case, hyphens, underscores, dots and blanks."""
    bare = name.replace("__", "/")
    bare = bare if organisation else bare.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^0-9a-z]", "", bare.lower())


def metrics_beside(run: Path) -> tuple[Path, tuple[tuple[str, float], ...]] | None:
    """The file of metrics beside a score file and the numbers in it, if there are any."""
    name = _METRICS.get(run.name)
    if name is None:
        return None
    metrics = run.parent / name
    try:
        read = json.loads(metrics.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # whatever it is, it is not the run that was asked for
    if not isinstance(read, dict):
        return None
    numbers = tuple((name, float(value)) for name, value in read.items() if type(value) in (int, float))
    return (metrics, numbers) if numbers else None


def metrics_findings(
    file: Path, metrics: Path, recomputed: Mapping[Measure, float], reported: Mapping[str, float]
) -> list[Finding]:
    """Where the metrics beside a score file differ from those of the scores in it by more than their rounding.

    ``recomputed`` are means over the queries of the run, as BRIGHT divides (FORMATS A.8), as fractions; ``reported`` is
    what the sibling (``results.json``) holds. Measures that only one of them has are passed over.
    """
    compared = [
        (name, value, recomputed[measure])
        for name, value in reported.items()
        if (measure := _measure(name)) is not None and measure in recomputed and not isinstance(value, bool)
    ]
    differing = [row for row in compared if not abs(row[1] - row[2]) <= ROUNDED]
    if not differing:
        return []
    name, value, ours = max(differing, key=lambda row: abs(row[1] - row[2]) if row[1] == row[1] else float("inf"))
    message = (
        f"{len(differing)} of {len(compared)} values in {metrics.name} are not those of the scores beside it; largest "
        f"difference {name}: {value:.5f} reported, {ours:.5f} from the scores. It is of another run, of other "
        "judgments, or without exclusions; do not quote the two together."
    )
    return [Finding("metrics-disagree", "warning", str(file), message, count=len(differing))]


def _measure(name: str) -> Measure | None:
    try:
        return parse_measure(name)
    except UsageError:
        return None


def output_folder_findings(file: Path, modified: Mapping[str, float]) -> list[Finding]:
    """Whether a score file may be left over from an earlier experiment in the same folder.

    ``modified`` are the names of the files in ``file``'s folder, this one included, and when each was last written, in
    seconds since the epoch.
    """
    findings = []
    when = modified.get(file.name)
    metrics = _metrics_of(file.name, modified)
    if when is not None and metrics is not None and _is_score(file.name):
        later = modified[metrics] - when
        if later < -_SAME_RUN_SECONDS:
            message = (
                f"{metrics} is {_duration(-later)} older than these scores, so it is of earlier ones: "
                "do not take its values for this run's."
            )
            findings.append(Finding("stale-metrics", "warning", str(file), message))
        elif later > _SAME_RUN_SECONDS and file.name == "score.json":
            message = (
                f"{metrics} is {_duration(later)} younger than these scores: BRIGHT's run.py reuses a score.json that "
                "is there, and the folder's name holds neither --reasoning nor --checkpoint nor --input_file. If "
                "one of them was given the second time, it had no effect: the scores are still the first run's."
            )
            findings.append(Finding("scores-reused", "warning", str(file), message))
    variants = sorted(name for name in modified if _is_variant_score(name) or name == "score.json")
    if len(variants) > 1 and "results.json" in modified and file.name in variants:
        message = (
            f"one results.json for {len(variants)} score files ({_some(variants)}): ReasonIR's run.py overwrites it "
            "with each reasoning variant, so it holds the values of the one that ran last, which need not be this file."
        )
        findings.append(Finding("shared-metrics", "warning", str(file), message, count=len(variants)))
    if file.name == "scores.json" and file.parent.parent.name.startswith("run_"):
        message = (
            f"MM-BRIGHT's Tasks 1 (text) and 2 (image and text) both write to {file.parent.parent.name}, and a "
            "scores.json that is there is reused without --force_rerun: the file does not tell whose scores these are."
        )
        findings.append(Finding("shared-folder", "warning", str(file), message))
    return findings


def _metrics_of(name: str, siblings: Iterable[str]) -> str | None:
    """The file of metrics that the tool of a score file writes beside it."""
    wanted = {"score.json": "results.json", "scores.json": "metrics.json"}.get(name, "results.json")
    return wanted if wanted in siblings else None


def _is_score(name: str) -> bool:
    return name in ("score.json", "scores.json") or _is_variant_score(name)


def _is_variant_score(name: str) -> bool:
    return name.endswith("_score.json")


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"

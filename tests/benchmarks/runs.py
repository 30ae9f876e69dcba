"""Measures reading and scoring of runs against the budgets of the design: ``python -m tests.benchmarks.runs``.

One run of full BRIGHT's size (1,384 queries × 1,000 documents) is scored by this program, pytrec_eval, trec_eval and
ranx. Every figure is the median of three fresh processes, and the programs take turns, so that a noisy machine is
equally noisy to all of them. Ratios of one invocation mean something; seconds of two invocations do not compare.

Two clocks: *in process* starts after the imports and stops when every query has its nDCG@10; *whole process* is from
start to exit, and for this program also until its last line of output, because it writes its cache after that.
trec_eval and ranx are measured where they are found and left out, with a word, where they are not.

This program uses every core and pytrec_eval one, so what else runs on the machine costs this program more. The report
says how busy it was, and gives processor seconds, which suffer less.

With ``--check`` the exit code is 1 if a budget is broken. A budget that could not be measured is not broken.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import bright_inspect
from tests.benchmarks import synthetic

REPETITIONS = 3
#: Values that differ by less are the same measure, differently added up.
SAME_VALUE = 1e-9
#: trec_eval prints four decimals.
SAME_PRINTED_VALUE = 5.1e-5

COLD_LIMIT_PYTREC_EVAL = 0.25
COLD_LIMIT_TREC_EVAL = 0.5
CACHED_LIMIT_TREC_EVAL = 0.1
MEMORY_LIMIT_MB = 450.0

Values = dict[str, float]
Clocks = tuple[float, float]
"""Wall seconds and this process's processor seconds, both from some start."""


@dataclass(frozen=True, slots=True)
class Files:
    """What is measured, and a cache folder that already holds ``first``."""

    first: Path
    second: Path
    qrels: Path
    warm_cache: Path


@dataclass(frozen=True, slots=True)
class Measured:
    """One process: seconds in it and around it, its peak memory, and every query's nDCG@10 to compare."""

    whole: float
    inside: float | None = None
    processor: float | None = None
    printed: float | None = None
    peak_mb: float | None = None
    values: Values | None = None


# --- what runs inside the fresh processes -----------------------------------------------------------------------------


def clocks(start: Clocks = (0.0, 0.0)) -> Clocks:
    """What both clocks show since ``start``."""
    return time.perf_counter() - start[0], time.process_time() - start[1]


def score_with_ours(runs: Sequence[str], qrels: str, *, convert: bool) -> tuple[Clocks, Values]:
    """Open runs and score the first of them; the cache folder comes from the environment."""
    from bright_inspect.domain.measures import Measure
    from bright_inspect.evaluation.scores import task_scores
    from bright_inspect.store.opening import open_session
    from bright_inspect.store.request import OpenRequest

    start = clocks()
    opening = open_session(OpenRequest(tuple(runs), qrels=(qrels,)))
    scores = task_scores(opening.session, Measure("nDCG", 10))
    taken = clocks(start)
    if convert:
        opening.convert()
    opening.session.close()
    return taken, scores[0].per_query


def score_with_pytrec_eval(run: str, qrels: str) -> tuple[Clocks, Values]:
    """Score a run with pytrec_eval, the way its documentation says."""
    import pytrec_eval

    start = clocks()
    with open(run, encoding="utf-8") as file:
        answers = pytrec_eval.parse_run(file)
    with open(qrels, encoding="utf-8") as file:
        judgments = pytrec_eval.parse_qrel(file)
    found = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg_cut.10"}).evaluate(answers)
    return clocks(start), {query_id: values["ndcg_cut_10"] for query_id, values in found.items()}


def score_with_ranx(run: str, qrels: str) -> tuple[Clocks, Values]:
    """Score a run with ranx; its just-in-time compilation counts, since every process pays it."""
    import ranx

    start = clocks()
    answers = ranx.Run.from_file(run, kind="trec")
    judgments = ranx.Qrels.from_file(qrels, kind="trec")
    ranx.evaluate(judgments, answers, "ndcg@10", make_comparable=True)
    taken = clocks(start)
    return taken, {query_id: float(value) for query_id, value in answers.scores["ndcg@10"].items()}


def child_main(arguments: Sequence[str]) -> None:
    """Do one measurement in this process and print it as JSON."""
    kind, qrels, *runs = arguments
    if kind == "pytrec_eval":
        taken, values = score_with_pytrec_eval(runs[0], qrels)
    elif kind == "ranx":
        taken, values = score_with_ranx(runs[0], qrels)
    else:
        taken, values = score_with_ours(runs, qrels, convert=kind == "ours-convert")
    print(json.dumps({"clocks": taken, "peak_mb": peak_memory_mb(), "values": values}))


def peak_memory_mb() -> float:
    """The most memory this process ever held, in MB (the kernel counts in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


# --- starting them ----------------------------------------------------------------------------------------------------


def environment(cache: Path) -> dict[str, str]:
    """This environment with the given cache, and without what would change what is found or how Python starts."""
    unwanted = ("PYTHONDONTWRITEBYTECODE", "BRIGHT_INSPECT_DATA", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    # No Hugging Face snapshot that may lie on this machine: the judgments come from the file.
    return {**kept, "BRIGHT_INSPECT_CACHE": str(cache), "HF_HUB_CACHE": str(cache / "no-hub")}


def run_child(kind: str, qrels: Path, runs: Sequence[Path], cache: Path) -> Measured:
    """Run ``child_main`` in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.runs", "--child", kind, str(qrels), *map(str, runs)]
    start = time.perf_counter()
    done = subprocess.run(command, env=environment(cache), stdout=subprocess.PIPE, check=True)
    whole = time.perf_counter() - start
    result = json.loads(done.stdout)
    inside, processor = result["clocks"]
    return Measured(whole, inside, processor, peak_mb=result["peak_mb"], values=result["values"])


def run_command_line(files: Files, cache: Path) -> Measured:
    """Run ``bright-inspect eval`` as a person would, noting when its last line of output came."""
    command = [sys.executable, "-m", "bright_inspect", "eval", "--qrels", str(files.qrels), str(files.first)]
    start = time.perf_counter()
    printed = start
    with subprocess.Popen(command, env=environment(cache), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in process.stdout:
            printed = time.perf_counter()
    whole = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"bright-inspect eval ended with {process.returncode}")
    return Measured(whole, printed=printed - start)


def run_trec_eval(program: str, files: Files) -> Measured:
    """Run trec_eval over the same files."""
    command = [program, "-q", "-m", "ndcg_cut.10", str(files.qrels), str(files.first)]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    whole = time.perf_counter() - start
    rows = (line.split() for line in done.stdout.splitlines())
    return Measured(whole, values={query_id: float(value) for _, query_id, value in rows if query_id != "all"})


def with_empty_cache(folder: Path, measure: Callable[[Path], Measured]) -> Measured:
    """Measure with a cache folder of its own, and delete that."""
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        return measure(Path(cache))


# --- the whole benchmark ----------------------------------------------------------------------------------------------


def prepare(folder: Path) -> Files:
    """Make the files, give them an age at which their digests are trusted, and fill the warm cache."""
    compileall.compile_dir(str(Path(bright_inspect.__file__).parent), quiet=1)
    compileall.compile_dir(str(Path(__file__).parent), quiet=1)
    # A process of its own: a child's peak memory starts at its parent's, so this process must stay small.
    subprocess.run([sys.executable, "-m", "tests.benchmarks.synthetic", str(folder)], check=True)
    files = Files(folder / "first.trec", folder / "second.trec", folder / "qrels.txt", folder / "warm")
    an_hour_ago = time.time() - 3600
    for path in (files.first, files.second, files.qrels):
        os.utime(path, (an_hour_ago, an_hour_ago))
    run_child("ours-convert", files.qrels, [files.first], files.warm_cache)
    return files


def measure_all(files: Files, folder: Path, trec_eval: str | None, repetitions: int) -> dict[str, list[Measured]]:
    """Run every program in turn, as often as asked."""
    programs: dict[str, Callable[[], Measured]] = {
        "cold": lambda: with_empty_cache(folder, lambda cache: run_child("ours", files.qrels, [files.first], cache)),
        "pytrec_eval": lambda: run_child("pytrec_eval", files.qrels, [files.first], files.warm_cache),
        "cold command": lambda: with_empty_cache(folder, lambda cache: run_command_line(files, cache)),
        "cached": lambda: run_child("ours", files.qrels, [files.first], files.warm_cache),
        "cached command": lambda: run_command_line(files, files.warm_cache),
    }
    if trec_eval is not None:
        program = trec_eval
        programs["trec_eval"] = lambda: run_trec_eval(program, files)
    measured: dict[str, list[Measured]] = {}
    for number in range(repetitions):
        for name, measure in programs.items():
            say(f"round {number + 1} of {repetitions}: {name}")
            measured.setdefault(name, []).append(measure())
    say("memory, ranx")
    both = [files.first, files.second]
    for _ in range(repetitions):
        once = with_empty_cache(folder, lambda cache: run_child("ours-convert", files.qrels, both, cache))
        measured.setdefault("two runs", []).append(once)
    if importlib.util.find_spec("ranx") is not None:
        measured["ranx"] = [run_child("ranx", files.qrels, [files.first], files.warm_cache)]
    say("")
    return measured


def say(message: str) -> None:
    """Tell a person who watches what is going on, on one line that the report replaces."""
    if sys.stderr.isatty():
        print(f"\r{message:<40}", end="" if message else "\r", file=sys.stderr, flush=True)


def median(measured: dict[str, list[Measured]], name: str, figure: str) -> float | None:
    """The median of a figure over a program's processes; None if it was not measured."""
    values = [getattr(one, figure) for one in measured.get(name, [])]
    return statistics.median(values) if values and None not in values else None


def print_report(measured: dict[str, list[Measured]]) -> bool:
    """Print the table, the budgets and whether all agree; True if nothing is broken."""

    def get(name: str, figure: str) -> float | None:
        return median(measured, name, figure)

    peer, peer_whole, trec = get("pytrec_eval", "inside"), get("pytrec_eval", "whole"), get("trec_eval", "whole")
    peer_processor = get("pytrec_eval", "processor")
    # Name, the program whose processes were measured, and what of their time around counts.
    rows = (
        ("bright-inspect, empty cache", "cold", "whole"),
        ("bright-inspect, cached", "cached", "whole"),
        ("bright-inspect eval, empty cache: printed", "cold command", "printed"),
        ("bright-inspect eval, empty cache: exit", "cold command", "whole"),
        ("bright-inspect eval, cached", "cached command", "whole"),
        ("pytrec_eval", "pytrec_eval", "whole"),
        ("trec_eval (C)", "trec_eval", "whole"),
        ("ranx, once", "ranx", "whole"),
    )
    absent = {"trec_eval": "not found on PATH", "ranx": "not installed: pip install ranx"}
    title = f"{synthetic.QUERIES:,} × {synthetic.DEPTH:,}, file to every nDCG@10"
    print(f"{title:<44}{'in process':>18}{'processor':>18}{'whole process':>18}{'peak MB':>9}")
    for name, program, around in rows:
        if program not in measured:
            print(f"{name:<44}{absent[program]}")
            continue
        columns = (
            (get(program, "inside"), peer),
            (get(program, "processor"), peer_processor),
            (get(program, around), peer_whole),
        )
        cells = "".join(f"{with_ratio(value, of_peer):>18}" for value, of_peer in columns)
        print(f"{name:<44}{cells}{megabytes(get(program, 'peak_mb')):>9}")
    print("In brackets: times pytrec_eval. Medians of fresh processes that took turns.")
    print()
    cold, cached = get("cold", "inside"), get("cached", "inside")
    budgets = (
        ("empty cache, in process / pytrec_eval", divide(cold, peer), COLD_LIMIT_PYTREC_EVAL, "pytrec_eval"),
        ("empty cache, in process / trec_eval", divide(cold, trec), COLD_LIMIT_TREC_EVAL, "trec_eval"),
        ("cached, in process / trec_eval", divide(cached, trec), CACHED_LIMIT_TREC_EVAL, "trec_eval"),
        ("two runs opened, scored, converted: peak MB", get("two runs", "peak_mb"), MEMORY_LIMIT_MB, "figure"),
    )
    kept = [print_budget(*budget) for budget in budgets]
    for name, tolerance in (("pytrec_eval", SAME_VALUE), ("trec_eval", SAME_PRINTED_VALUE)):
        if name in measured:
            kept.append(print_agreement(measured, name, tolerance))
    if "ranx" in measured:
        print_agreement(measured, "ranx", SAME_VALUE)  # It breaks ties another way; said, not held against anyone.
    return all(kept)


def megabytes(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def divide(value: float | None, by: float | None) -> float | None:
    return None if value is None or by is None else value / by


def with_ratio(value: float | None, of_peer: float | None) -> str:
    """Seconds, and in brackets how many times the peer's they are."""
    quotient = divide(value, of_peer)
    return "" if value is None or quotient is None else f"{value:.3f} s ({quotient:.2f})"


def print_budget(name: str, value: float | None, limit: float, peer: str) -> bool:
    """Print a budget and whether it is kept; True unless it is broken."""
    if value is None:
        print(f"{name:<46} not measured: no {peer} here")
        return True
    shown = f"{value:.0f}" if limit > 1 else f"{value:.3f}"
    print(f"{name:<46}{shown:>8}  ≤ {limit:g}  {'kept' if value <= limit else 'BROKEN'}")
    return value <= limit


def print_agreement(measured: dict[str, list[Measured]], name: str, tolerance: float) -> bool:
    """Print in how many queries another program's values differ from ours; True if in none."""
    ours, theirs = measured["cold"][0].values, measured[name][0].values
    assert ours is not None
    assert theirs is not None
    # Only this program has a row for a judged query that the run lacks; the synthetic run lacks none.
    differing = [query_id for query_id in ours if abs(ours[query_id] - theirs.get(query_id, -1.0)) > tolerance]
    print(f"queries on which {name} says otherwise: {len(differing)} of {len(ours)}")
    return not differing


def main() -> None:
    """Run the benchmark, or one measurement of it."""
    if sys.argv[1:2] == ["--child"]:
        child_main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description="Reading and scoring of runs against the budgets of the design.")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a budget is broken")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N", help="processes a figure (3)")
    parser.add_argument("--trec-eval", metavar="PROGRAM", help="the trec_eval to measure, if it is not on PATH")
    options = parser.parse_args()
    trec_eval = options.trec_eval or shutil.which("trec_eval")
    with tempfile.TemporaryDirectory(prefix="bright-inspect-benchmark-") as folder:
        say("writing the files")
        files = prepare(Path(folder))
        busy = os.getloadavg()[0]
        measured = measure_all(files, Path(folder), trec_eval, options.repetitions)
    print(f"{os.cpu_count()} processors; load before the first measurement {busy:.1f} (1 is this benchmark's own)")
    if not print_report(measured) and options.check:
        sys.exit(1)


if __name__ == "__main__":
    main()

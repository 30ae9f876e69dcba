"""Options that several commands share, and the session they describe."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bright_inspect.domain.measures import Measure, parse_measure, parse_measures
from bright_inspect.domain.ordering import TIE_RULES, TieRule
from bright_inspect.domain.visible import visible
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.progress import Cancelled, CancelToken, Progress
from bright_inspect.store.request import OpenRequest

if TYPE_CHECKING:
    from bright_inspect.store.opening import Opening
    from bright_inspect.store.session import Session

_Command = Callable[..., Any]
T = TypeVar("T")


layer_option = click.option(
    "--layer", metavar="NAME",
    help="The judgments that count: original, the name of a layer given with --qrels, or one of the decisions: "
         "mine:ANNOTATOR, majority, unanimous, union, each also as only:LAYER and graded:LAYER.",
)  # fmt: skip
decisions_option = click.option(
    "--journal", "journals", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Decisions of annotators; may be repeated.  [default: bright-inspect.judgments.jsonl in this folder, if it is "
         "there]",
)  # fmt: skip
retrievers_option = click.option(
    "--retriever", "retrievers", multiple=True, metavar="NAME",
    help="What searches live: bright-inspect models lists them. The first is asked; may be repeated.",
)  # fmt: skip


def run_arguments(required: bool = True) -> Callable[[_Command], _Command]:
    """The run files and where their data is; the command gets them as ``request``, an OpenRequest."""

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def with_request(
            runs: tuple[str, ...],
            data: Path | None,
            dataset: str | None,
            task: str | None,
            qrels: tuple[str, ...],
            baseline: str | None,
            layer: str | None,
            ties: TieRule | None,
            wanted_format: str | None,
            queries: Path | None,
            corpus: tuple[Path, ...],
            journals: tuple[Path, ...],
            **others: Any,
        ) -> Any:
            request = OpenRequest(
                runs, data, dataset, task, qrels, baseline, layer, ties, wanted_format, queries, corpus,
                journals=journals,
            )  # fmt: skip
            return command(request, **others)

        decorated: _Command = with_request
        for option in (
            click.option("--baseline", metavar="NAME", help="The run to compare with; the last one unless named."),
            click.option("--format", "wanted_format", metavar="NAME",
                         help="Read the runs as this format, whatever they look like: bright-inspect formats."),
            click.option("--ties", type=click.Choice(TIE_RULES),
                         help="What ranks documents of equal score: trec, doc id descending after float32 scores; "
                              "float64, the same in double precision; file, the file's order; rank, the file's ranks.  "
                              "[default: trec, or what a saved session says]"),
            layer_option,
            decisions_option,
            click.option("--qrels", multiple=True, metavar="[LAYER=]PATH",
                         help="Judgments, a file or a folder of them: a layer beside the data set's own. It counts "
                              "if it is the only one given, else --layer says which. May be repeated."),
            click.option("--corpus", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
                         help="Documents of any other collection: TSV, CSV, JSONL, Parquet or a folder of them."),
            click.option("--queries", "queries", type=click.Path(path_type=Path), metavar="FILE",
                         help="Queries of any other collection: TSV, CSV, JSONL or Parquet."),
            click.option("--task", metavar="TASK", help="The task of every run, if paths and documents do not tell."),
            click.option("--dataset", metavar="NAME", help="The dataset: bright, bright-long, demo ..."),
            click.option("--data", type=click.Path(path_type=Path), metavar="DIR",
                         help="Folder of a BRIGHT snapshot (examples/, documents/ ...) or of BEIR data."),
            click.argument("runs", nargs=-1, required=required, metavar="RUN..."),
        ):  # fmt: skip
            decorated = option(decorated)
        return decorated

    return decorate


def variant_files_option(command: _Command) -> _Command:
    """Files of rewritten queries; the command gets them as ``variants``."""
    return click.option(
        "--variant", "variants", multiple=True, metavar="[NAME=]PATH",
        help="Rewritten queries as a variant of that name: a file, or a folder of files; may be repeated. By default "
             "it is called what the file or its folder is. Rows by id are of --task or the task in the path.",
    )(command)  # fmt: skip


def model_options(command: _Command) -> _Command:
    """How models are loaded and used; the command gets it as ``options``, a ModelOptions."""

    @functools.wraps(command)
    def with_options(
        *request: OpenRequest,
        device: str,
        precision: str,
        max_length: int | None,
        query_max_length: int | None,
        batch_size: int | None,
        revision: str | None,
        trust_remote_code: bool,
        query_prefix: str | None,
        document_prefix: str | None,
        **others: Any,
    ) -> Any:
        options = ModelOptions(
            device, precision, max_length, query_max_length, batch_size, revision, trust_remote_code,
            _with_line_breaks(query_prefix), _with_line_breaks(document_prefix),
        )  # fmt: skip
        return command(*request, options=options, **others)

    decorated: _Command = with_options
    for option in (
        click.option("--document-prefix", metavar="TEXT", help="Before every document; \\n is a line break."),
        click.option("--query-prefix", metavar="TEXT",
                     help="Before every query; \\n is a line break. Default: BRIGHT's table for the task, or the "
                          "model's own."),
        click.option("--trust-remote-code", is_flag=True, help="Run Python code that comes with the model."),
        click.option("--revision", metavar="COMMIT", help="The model's revision on the Hub."),
        click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Texts that a model is given at once."),
        click.option("--query-max-length", type=click.IntRange(1), metavar="TOKENS",
                     help="Where a query is cut, if not where a document is."),
        click.option("--max-length", type=click.IntRange(1), metavar="TOKENS",
                     help="Where a text is cut, prefix included. Default: the model's."),
        click.option("--precision", type=click.Choice(["float32", "bfloat16", "float16"]), default="float32",
                     show_default=True, help="Of the model; vectors are kept in float32."),
        click.option("--device", default="auto", show_default=True, metavar="NAME",
                     help="cuda, mps, cpu, cuda:1; several with commas share the encoding."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated


def _with_line_breaks(text: str | None) -> str | None:
    return None if text is None else text.replace("\\n", "\n")


def output_options(command: _Command) -> _Command:
    """How results are printed, and whether findings fail the command."""
    for option in (
        click.option("--strict", is_flag=True, help="Exit with 1 if there are findings."),
        click.option("--csv", "as_csv", is_flag=True, help="Print CSV, values as fractions 0-1."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON, values as fractions 0-1."),
    ):
        command = option(command)
    return command


def measure_option(command: _Command) -> _Command:
    return click.option(
        "--measure", "-m", "measures", multiple=True, metavar="NAME",
        help="nDCG@k, AP@k, R@k, P@k, RR, RR@k, Judged@k, in any tool's spelling; repeat or separate by commas. "
             "Default: a saved session's, else nDCG@10, and R@1 for bright-long.",
    )(command)  # fmt: skip


def wanted_measures(measures: tuple[str, ...]) -> list[Measure]:
    """The measures asked for; none means the saved session's, or each dataset's default."""
    return parse_measures(list(measures))


def saved_measures(session: Session) -> list[Measure]:
    """The measure that a saved session opens with, if it has one."""
    return [parse_measure(session.measure)] if session.measure else []


@contextmanager
def opened(request: OpenRequest) -> Iterator[Opening]:
    """Open the session with progress on stderr; on leaving, convert fresh runs for next time and close.

    The cache is written after the results are out, so that nobody waits for it.
    """
    # These load DuckDB, which the screen's command does not want yet.
    from bright_inspect.db import QueryInterrupted, database_errors_told
    from bright_inspect.judging.layers import layers_of_request
    from bright_inspect.store.opening import open_session

    def work(token: CancelToken) -> Opening:
        return open_session(request, made=layers_of_request(request), progress=listener, cancel=token)

    with progress_line() as listener:
        opening = interruptible(work)
    try:
        with database_errors_told():
            yield opening
            known = len(opening.session.findings)
            opening.convert()
        for finding in opening.session.findings[known:]:
            click.echo(f"bright-inspect: {visible(f'{finding.place}: {finding.message}')}", err=True)
    except QueryInterrupted:
        raise Cancelled from None
    finally:
        opening.session.close()


def interruptible(work: Callable[[CancelToken], T]) -> T:
    """Do the work in a thread, so that Ctrl+C stops it at once: Python handles no signal while DuckDB runs a query."""
    token = CancelToken()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, token)
        try:
            while not working.done():
                wait([working], timeout=0.1)
        except KeyboardInterrupt:
            token.cancel()
            raise
        return working.result()


@contextmanager
def progress_line() -> Iterator[Callable[[Progress], None]]:
    """One line on stderr that tells what is being read, if a person is watching."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return

    def show(progress: Progress) -> None:
        line = f"{progress.done}/{progress.total} {progress.message}"
        sys.stderr.write("\r\x1b[K" + "".join(char if char.isprintable() else "?" for char in line)[:100])
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

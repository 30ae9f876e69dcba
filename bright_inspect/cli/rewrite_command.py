"""``bright-inspect rewrite``: a task's queries rewritten by a model, as a variant to search by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bright_inspect import __version__
from bright_inspect.cli.options import interruptible, progress_line
from bright_inspect.cli.output import print_json
from bright_inspect.cli.task_inputs import TaskInputs, opened_task, task_options
from bright_inspect.domain.names import EDITED, ORIGINAL
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.progress import CancelToken, Progress

if TYPE_CHECKING:
    from bright_inspect.rewriting.prompts import Prompt
    from bright_inspect.rewriting.rewrite_file import Failure
    from bright_inspect.rewriting.whole_task import Answered, Asking
    from bright_inspect.rewriting.writers import Writer

#: Failures that are listed one by one.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class _Wanted:
    task: str
    dataset: str | None
    data: Path | None
    writer: str | None
    variant: str | None
    from_variant: str
    out: Path | None
    query_ids: tuple[str, ...]
    prompt: Path | None
    show_prompt: bool
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    concurrency: int
    retries: int
    timeout: float
    device: str
    precision: str
    revision: str | None
    trust_remote_code: bool
    as_json: bool


@click.command()
@task_options
@click.option("--writer", metavar="NAME", help="The model: endpoint:MODEL, endpoint:MODEL@URL, transformers:MODEL.")
@click.option("--variant", metavar="NAME", help="What the rewrites are called, as in bm25@NAME.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The rewrites, JSON Lines.")
@click.option(
    "--query",
    "query_ids",
    multiple=True,
    metavar="ID",
    help="Only this query; may be repeated. Without --out its rewrite is printed.",
)
@click.option("--from-variant", default=ORIGINAL, show_default=True, metavar="NAME", help="What is rewritten.")
@click.option(
    "--prompt",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The prompt, a text with {query} in it. Default: the task's own; --show-prompt prints it.",
)
@click.option("--show-prompt", is_flag=True, help="Print the prompt that would be used, and do nothing else.")
@click.option("--temperature", type=click.FloatRange(0), metavar="T", help="Default: the model's or its server's.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="Of an answer, thinking included; one that is cut there counts as failed. Default: the server's; "
    "2,048 for transformers.",
)
@click.option("--seed", type=int, metavar="N", help="For servers and models that draw by one.")
@click.option(
    "--concurrency",
    default=4,
    show_default=True,
    type=click.IntRange(1, 256),
    metavar="N",
    help="Queries that a server is asked at once.",
)
@click.option(
    "--retries",
    default=2,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="How often a query that failed is asked again.",
)
@click.option(
    "--timeout",
    default=300.0,
    show_default=True,
    type=click.FloatRange(1),
    metavar="SECONDS",
    help="How long a server may be silent.",
)
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="Of transformers: cuda, mps, cpu.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16", "float16"]),
    default="float32",
    show_default=True,
    help="Of transformers.",
)
@click.option("--revision", metavar="COMMIT", help="The revision on the Hub of a model of transformers.")
@click.option("--trust-remote-code", is_flag=True, help="Run Python code that comes with a model of transformers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: with --query and no --out.")
def command(**wanted: object) -> int:
    """Rewrite a task's queries by a model, and keep them as a variant: one line a query, with all that made it.

    The server and its key come from the environment: BRIGHT_INSPECT_ENDPOINT and BRIGHT_INSPECT_API_KEY, or
    OPENAI_BASE_URL and OPENAI_API_KEY.

    A broken run goes on where it stopped when the same command is given again; a query that failed is then asked again.
    What failed in the end is listed, and kept in FILE.failures.jsonl, never among the rewrites: the exit code is then
    1.
    """
    asked = _Wanted(**wanted)  # type: ignore[arg-type]  # click's names are the fields
    if asked.show_prompt:
        from bright_inspect.rewriting.prompts import prompt_for

        click.echo(prompt_for(asked.task, asked.prompt).template, nl=False)
        return 0
    if asked.writer is None:
        raise UsageError("no writer is named.", "Say --writer endpoint:MODEL, or --writer transformers:MODEL.")
    if asked.out is None and not asked.query_ids:
        raise UsageError("no file is named for the rewrites.", "Give --out FILE.jsonl, or --query ID to see one.")
    if asked.out is not None and not asked.variant:
        raise UsageError("the rewrites have no name.", "Give --variant NAME: runs over them are then called bm25@NAME.")
    if asked.variant in (ORIGINAL, EDITED):
        raise UsageError(f"{asked.variant} is no name for rewrites.", "Give --variant another name.")
    if asked.variant and not re.fullmatch(r"[^\s@=/?]+", asked.variant):
        raise UsageError(f"{asked.variant!r} is no name for rewrites.", "Use letters, digits, dots, - and _.")
    try:
        with progress_line() as listener:
            done = interruptible(lambda token: _rewrite(asked, listener, token))
    except KeyboardInterrupt:
        if asked.out is not None:
            click.echo(f"stopped; what is in {visible(str(asked.out))} stays: the same command goes on there", err=True)
        raise
    if done.answers is not None:
        _print(done.answers, asked.as_json)
    for line in done.lines:
        click.echo(visible(line), err=True)
    return done.code


@dataclass(frozen=True, slots=True)
class _Done:
    """What is told on stderr, the exit code, and answers to print."""

    lines: list[str]
    code: int
    answers: list[Answered] | None = None


def _rewrite(wanted: _Wanted, listener: Callable[[Progress], None], token: CancelToken) -> _Done:
    from dataclasses import replace

    from bright_inspect.domain.writing import WritingSettings
    from bright_inspect.endpoints.chat import CHAT_LIMITS
    from bright_inspect.rewriting.prompts import prompt_for
    from bright_inspect.rewriting.whole_task import Asking
    from bright_inspect.rewriting.writers import find_writer
    from bright_inspect.store.corpus import task_queries

    assert wanted.writer is not None
    options = ModelOptions(
        wanted.device, wanted.precision, revision=wanted.revision, trust_remote_code=wanted.trust_remote_code
    )
    spec = find_writer(wanted.writer, options, replace(CHAT_LIMITS, read=wanted.timeout))
    prompt = prompt_for(wanted.task, wanted.prompt)
    with opened_task(wanted.task, wanted.dataset, wanted.data, listener, token) as inputs:
        found = task_queries(inputs.cursor, inputs.collections, inputs.key, wanted.from_variant)
        queries = dict(zip(found.query_ids, found.texts, strict=True))
        wanted_queries = _chosen(queries, wanted.query_ids, inputs)
        writer = spec.make(inputs.tell, token.check)
        settings = WritingSettings(wanted.temperature, wanted.max_tokens, wanted.seed)
        asking = Asking(settings, wanted.concurrency, wanted.retries)
        if wanted.out is None:
            return _printed(writer, prompt, wanted_queries, asking, inputs)
        return _kept(wanted, wanted.out, writer, prompt, queries, wanted_queries, asking, inputs)


def _chosen(queries: Mapping[str, str], wanted: tuple[str, ...], inputs: TaskInputs) -> dict[str, str]:
    for query_id in wanted:
        if query_id not in queries:
            raise UsageError(f"{'/'.join(inputs.key)} has no query {query_id!r}.", f"It has {_few(list(queries))}.")
    return {query_id: text for query_id, text in queries.items() if not wanted or query_id in wanted}


def _printed(writer: Writer, prompt: Prompt, queries: Mapping[str, str], asking: Asking, inputs: TaskInputs) -> _Done:
    """Rewrite queries for the eye, and keep nothing."""
    from bright_inspect.rewriting.whole_task import rewrite_queries

    answers: list[Answered] = []
    failures: list[Failure] = []
    result = rewrite_queries(
        writer, prompt, queries, asking, answers.append, failures.append, inputs.tell, inputs.token.check
    )
    if result.stopped_by is not None:
        raise result.stopped_by
    places = list(queries)
    answers.sort(key=lambda answer: places.index(answer.query_id))
    return _Done(_failure_lines(failures), 1 if failures else 0, answers)


def _kept(
    wanted: _Wanted,
    out: Path,
    writer: Writer,
    prompt: Prompt,
    queries: Mapping[str, str],
    wanted_queries: Mapping[str, str],
    asking: Asking,
    inputs: TaskInputs,
) -> _Done:
    """Rewrite queries into a file, beside those that are there already."""
    from bright_inspect.rewriting.rewrite_file import Making, opened_rewrites, write_sidecar
    from bright_inspect.rewriting.whole_task import making_lines, rewrite_queries, sidecar_json
    from bright_inspect.store.sidecars import failures_of

    making = Making(
        *inputs.key, wanted.variant or "", wanted.from_variant, writer.name, writer.model, prompt.template,
        prompt.source, asking.settings.as_json(), writer.provenance,
    )  # fmt: skip
    with opened_rewrites(out, making, queries, wanted_queries) as file:
        before = len(file.done & set(wanted_queries))
        result = rewrite_queries(
            writer, prompt, wanted_queries, asking, making_lines(file, making), file.add_failure, inputs.tell,
            inputs.token.check, file.done,
        )  # fmt: skip
        total = len(file.done)
        if total:
            made_by = f"bright-inspect {__version__} rewrite"
            write_sidecar(out, sidecar_json(making, made_by, total, len(queries), len(result.failures)))
        told = file.told
    task = "/".join(inputs.key)
    lines = [
        *told,
        f"{out}: {result.made} queries of {task} rewritten by {writer.name}; it has {total} of {len(queries)}.",
    ]
    if before:
        lines.append(f"{before} of those asked for were there before.")
    lines += _failure_lines(result.failures)
    if result.failures:
        lines.append(f"{failures_of(out)} lists them all; the same command asks them again.")
    if (stopped := result.stopped_by) is not None:
        kept = f"What is in {out} stays; the same command goes on there." if total else ""
        raise type(stopped)(stopped.message, f"{stopped.hint} {kept}".strip())
    return _Done(lines, 1 if result.failures else 0)


def _failure_lines(failures: list[Failure]) -> list[str]:
    if not failures:
        return []
    lines = [f"{len(failures)} failed and have no rewrite:"]
    for each in failures[:_LISTED]:
        tries = "once" if each.tries == 1 else f"{each.tries} times"
        lines.append(f"  {each.query_id}, asked {tries}: {each.error}")
    if len(failures) > _LISTED:
        lines.append(f"  and {len(failures) - _LISTED} more")
    return lines + list(dict.fromkeys(each.hint for each in failures if each.hint))


def _print(answers: list[Answered], as_json: bool) -> None:
    if as_json:
        print_json([_as_json(answer) for answer in answers])
        return
    for answer in answers:
        if len(answers) > 1:
            click.echo(visible(f"== {answer.query_id}"))
        for line in answer.rewrite.text.split("\n"):
            click.echo(visible(line))


def _as_json(answer: Answered) -> dict[str, Any]:
    rewrite = answer.rewrite
    return {
        "query_id": answer.query_id, "query": rewrite.text, "reasoning": rewrite.reasoning, "finish": rewrite.finish,
        "usage": dict(rewrite.usage), "seconds": round(answer.seconds, 3), "created": answer.created,
    }  # fmt: skip


def _few(query_ids: list[str]) -> str:
    shown = ", ".join(query_ids[:5])
    return shown + (f" … ({len(query_ids):,})" if len(query_ids) > 5 else "")

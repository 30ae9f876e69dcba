"""``bright-inspect lens``: queries by their original text and by a rewrite: which added words moved which documents."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from bright_inspect.cli.explain_command import find_query
from bright_inspect.cli.options import (
    interruptible,
    measure_option,
    opened,
    output_options,
    progress_line,
    run_arguments,
    saved_measures,
    variant_files_option,
    wanted_measures,
)
from bright_inspect.cli.output import finding_json, print_csv, print_json, report_findings, strict_code
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.presentation.numbers import percent, signed_percent
from bright_inspect.retrieval.bm25 import BM25_NAMES
from bright_inspect.store.progress import CancelToken, Progress
from bright_inspect.store.request import OpenRequest

if TYPE_CHECKING:
    from bright_inspect.rewriting.added_terms import AddedTerm, Pull
    from bright_inspect.rewriting.leaks import Leaks
    from bright_inspect.rewriting.lens import Lens
    from bright_inspect.rewriting.word_change import WordChange
    from bright_inspect.store.session import Session

_WORDS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Looked:
    """A query looked at; ``values`` are the first run's and the baseline's, None without a judgment or a list."""

    key: QueryKey
    variant: str
    values: tuple[float | None, float | None]
    words: WordChange
    shared: Leaks
    lens: Lens


@dataclass(frozen=True, slots=True)
class _Wanted:
    rewrite: str | None
    query_names: tuple[str, ...]
    best: int
    worst: int
    retriever: str


@click.command()
@run_arguments()
@variant_files_option
@click.option("--rewrite", metavar="NAME", help="The variant to look at.  [default: that of the first run]")
@click.option("--query", "query_names", multiple=True, metavar="[TASK/]QUERY", help="A query; may be repeated.")
@click.option(
    "--best",
    default=0,
    type=click.IntRange(0),
    metavar="N",
    help="The N queries that the first run gains most on against the baseline.",
)
@click.option("--worst", default=0, type=click.IntRange(0), metavar="N", help="The N that it loses most on.")
@click.option(
    "--retriever", default="bm25", show_default=True, type=click.Choice(BM25_NAMES), help="What searches here."
)
@measure_option
@output_options
def command(
    request: OpenRequest,
    variants: tuple[str, ...],
    rewrite: str | None,
    query_names: tuple[str, ...],
    best: int,
    worst: int,
    retriever: str,
    measures: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:  # fmt: skip
    """Look at queries by their original text and by a rewrite: how many words survive, which added words occur in
    golds (bridges), which pull other documents up (drift), and what the rewrite shares with golds word for word.

    Both texts are searched here, over the corpus at hand, which may be a part: it is said how many golds it has. All
    queries of the runs, unless --query, --best or --worst say which.
    """
    wanted = _Wanted(rewrite, query_names, best, worst, retriever)
    with opened(replace(request, variants=variants)) as opening:
        session = opening.session
        chosen = wanted_measures(measures) or saved_measures(session)
        if len(chosen) > 1:
            raise UsageError(f"{len(chosen)} measures given.", "lens takes one.")
        opening.convert()
        with progress_line() as listener:

            def tell(done: int, total: int, message: str) -> None:
                listener(Progress(done, total, message))

            looked = interruptible(lambda token: _look(session, wanted, chosen[0] if chosen else None, tell, token))
        if as_json:
            findings = [finding_json(finding) for finding in session.findings]
            print_json({"queries": [_json(each, session) for each in looked], "findings": findings})
        elif as_csv:
            _print_csv(looked)
        else:
            for each in looked:
                _print(each, session)
        sys.stdout.flush()
        report_findings(session.findings if not as_json else [], strict)
        return strict_code(session.findings, strict)


def _look(session: Session, wanted: _Wanted, measure: Measure | None, tell: Any, token: CancelToken) -> list[_Looked]:
    from bright_inspect.evaluation.defaults import default_measure
    from bright_inspect.retrieval.registry import find_retriever
    from bright_inspect.rewriting.leaks import find_leaks
    from bright_inspect.rewriting.lens import look, runs_by_text
    from bright_inspect.rewriting.word_change import compare_words
    from bright_inspect.store.corpus import task_corpus
    from bright_inspect.store.documents import kept_texts, load_task_texts
    from bright_inspect.store.query_view import read_query
    from bright_inspect.store.run_cache import cache_folder

    cursor = session.database.cursor()
    token.watch(cursor)
    looked: list[_Looked] = []
    try:
        variant = wanted.rewrite or session.runs[0].name.variant
        if variant in (None, ORIGINAL):
            raise UsageError("no rewrite is named.", "Say --rewrite NAME, or name the first run's: NAME@VARIANT=PATH.")
        assert variant is not None
        if (wanted.best or wanted.worst) and variant != session.runs[0].name.variant:
            name = session.runs[0].name.in_full
            click.echo(visible(f"note: the best and worst are those of {name}, which is of another text."), err=True)
        retrievers: dict[tuple[str, str], Any] = {}
        keys = _chosen(session, wanted, measure)
        for number, (key, values) in enumerate(keys):
            task = (key.dataset, key.task)
            if task not in retrievers:
                load_task_texts(session, cursor, task)
                corpus = task_corpus(session.database, cursor, session.collections, task)
                if corpus is None:
                    raise UsageError(f"no documents at hand for {'/'.join(task)}.", "Give --data DIR with documents/.")
                make = find_retriever(wanted.retriever).make
                retrievers[task] = corpus, make(corpus, cache_folder() / "retrieval", tell, token.check)
            tell(number, len(keys), f"looking at {key.task} {key.query_id}")
            token.check()
            view = read_query(session, cursor, key)
            rewrite = dict(view.variants).get(variant)
            if rewrite is None:
                if wanted.query_names:
                    known = ", ".join(name for name, _ in view.variants) or "none"
                    raise UsageError(f"{key.task} {key.query_id} has no text {variant}.", f"At hand: {known}.")
                continue
            original, by = view.text or "", measure or default_measure(key.dataset)
            corpus, retriever = retrievers[task]
            stored = runs_by_text(session, variant, original, rewrite)
            golds = [gold.doc_id for gold in view.golds]
            texts: Mapping[str, str] = kept_texts(cursor, task, golds)
            lens = look(retriever, corpus, view, original, rewrite, by, stored, token.check)
            shared = find_leaks(original, rewrite, {gold: texts.get(gold) for gold in golds}, check=token.check)
            looked.append(_Looked(key, variant, values, compare_words(original, rewrite), shared, lens))
    finally:
        token.unwatch()
        cursor.close()
    if not looked:
        raise UsageError(f"no query has a text {variant}.", "bright-inspect variants lists what is at hand.")
    return looked


def _chosen(
    session: Session, wanted: _Wanted, measure: Measure | None
) -> list[tuple[QueryKey, tuple[float | None, float | None]]]:
    """The queries to look at with the first run's and the baseline's values, largest gains first."""
    from bright_inspect.evaluation.defaults import default_measure
    from bright_inspect.evaluation.query_rows import query_rows
    from bright_inspect.evaluation.scores import task_scores

    by = measure or default_measure(session.tasks[0][0])
    run, base = session.runs[0].run_id, session.baseline.run_id
    rows = query_rows(session, session.cursor, task_scores(session, by))
    values = {row.key: (row.values[run], row.values[base]) for row in rows}
    if wanted.query_names:
        named = [find_query(session, name) for name in wanted.query_names]
        return [(key, values.get(key, (None, None))) for key in dict.fromkeys(named)]

    def delta(pair: tuple[float | None, float | None]) -> float:
        return pair[0] - pair[1] if pair[0] is not None and pair[1] is not None else 0.0

    ranked = sorted(values.items(), key=lambda item: -delta(item[1]))
    if not (wanted.best or wanted.worst):
        return ranked
    worst = ranked[len(ranked) - wanted.worst :] if wanted.worst else []
    return list(dict(ranked[: wanted.best] + worst).items())


def _json(each: _Looked, session: Session) -> dict[str, Any]:
    lens, words = each.lens, each.words
    return {
        **asdict(each.key),
        "rewrite": each.variant,
        "value_run": each.values[0],
        "value_baseline": each.values[1],
        "retriever": lens.retriever,
        "searched": lens.searched,
        "searched_of": lens.of,
        "value_original": lens.value_before,
        "value_rewrite": lens.value_after,
        "words": asdict(words.lengths),
        "golds": lens.bridges.of,
        "golds_at_hand": len(lens.bridges.documents),
        "documents": [
            {"doc_id": doc_id, "rank_original": lens.before.ranks.get(doc_id),
             "rank_rewrite": lens.after.ranks.get(doc_id), "score_original": lens.change.original.scores.get(doc_id),
             "score_rewrite": lens.change.rewrite.scores.get(doc_id)}
            for doc_id in lens.doc_ids
        ],
        "bridges": [asdict(term) for term in lens.bridges.over_all.terms],
        "bridges_by_gold": {
            gold: [asdict(term) for term in lens.bridges.in_document(gold).terms] for gold in lens.bridges.documents
        },
        "drift": [asdict(term) for term in lens.drift.over_all.terms],
        "folded": [term.term for term in (*lens.bridges.over_all.folded, *lens.drift.over_all.folded)],
        "idf_source": lens.change.source,
        "shared": [
            {"gold_id": leak.gold_id, "words": leak.words, "text": words.rewrite[leak.start : leak.end]}
            for leak in each.shared.leaks
        ],
        "recomputed": [
            {"run": session.runs[run_id].name.in_full, "documents": len(found.scores), "of": found.of,
             "median_difference": found.median, "largest_difference": found.largest}
            for run_id, found in lens.stored.items()
        ],
    }  # fmt: skip


def _print_csv(looked: Sequence[_Looked]) -> None:
    header = ["dataset", "task", "query_id", "kind", "term", "words", "part", "doc_id", "tf", "idf", "documents",
              "golds", "others"]  # fmt: skip

    def rows(each: _Looked, kind: str, pull: Pull) -> list[list[Any]]:
        return [
            [*asdict(each.key).values(), kind, term.term, " ".join(term.surfaces), term.part, term.doc_id, term.tf,
             term.idf, term.documents, term.golds, term.others]
            for term in pull.over_all.terms
        ]  # fmt: skip

    print_csv(
        header,
        [
            row
            for each in looked
            for kind, pull in (("bridge", each.lens.bridges), ("drift", each.lens.drift))
            for row in rows(each, kind, pull)
        ],
    )


def _print(each: _Looked, session: Session) -> None:
    lens, words = each.lens, each.words
    run, base = each.values
    delta = None if run is None or base is None else run - base
    lengths = words.lengths
    survive = "" if lengths.surviving is None else f", {100 * lengths.surviving:.0f} % of the original's survive"
    of = f" of {lens.of:,}" if lens.partial else ""
    stored = f"{session.runs[0].name.in_full} {percent(run)}"
    if session.baseline is not session.runs[0]:
        stored += f", {session.baseline.name.in_full} {percent(base)}, delta {signed_percent(delta)}"
    lines = [
        f"{each.key.task} {each.key.query_id}   {stored}",
        f"  {lens.retriever} here: original {percent(lens.value_before)} → {each.variant} {percent(lens.value_after)} "
        f"over {lens.searched:,}{of} documents; {lens.bridges.coverage} golds at hand",
        f"  {lengths.original_words:,} → {lengths.rewrite_words:,} words{survive}",
        f"  bridges: {_terms(lens.bridges.over_all.terms)}",
        f"  drift:   {_terms(lens.drift.over_all.terms)}",
    ]
    lines += [
        f"  shares {leak.words} words with {leak.gold_id}: {' '.join(words.rewrite[leak.start : leak.end].split())}"
        for leak in each.shared.leaks
    ]
    for line in lines:
        click.echo(visible(line))


def _terms(terms: Sequence[AddedTerm]) -> str:
    named = [f"{term.word} {term.part:.2f}" for term in terms[:_WORDS_SHOWN]]
    return ", ".join(named) or "none"

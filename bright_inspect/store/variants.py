"""The variants of a task's queries: those that come with the data, and those of files of rewrites.

Rows of a file are joined to queries by id within the file's task, or by the original text, exactly, in every task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.db import Cursor, text_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import EDITED, ORIGINAL, describe_path, normalised_task
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.rewrites import QUERYGYM_SUFFIX, RewritesRead, read_rewrites_into
from bright_inspect.store.collections import ORIGINAL_LAYER, Collections, TaskKey, split_layer, task_condition
from bright_inspect.store.sidecars import failures_of, sidecar_of

_SHOWN = 3
_GENERIC = re.compile(
    r"(^|(?<=[_.-]))(queries|query|rewrites?|rewritten|reformulated|reasoned|examples|bright|expand)(?=$|[_.-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VariantCount:
    """How far a variant covers a task: of its ``queries``, those that have a text by it, and those that have none."""

    name: str
    task: TaskKey
    queries: int
    joined: int

    @property
    def unjoined(self) -> int:
        return self.queries - self.joined


@dataclass(frozen=True, slots=True)
class _File:
    """A file of rewrites as it was named and read. ``by_text`` says that its keys are original texts; else they are
    query ids, of the task with the slug ``task``, if that is known."""

    name: str
    path: Path
    read: RewritesRead
    task: str | None
    by_text: bool


def variant_names(collections: Collections, task: TaskKey) -> tuple[str, ...]:
    """The variants at hand for a task besides the original, those of files last."""
    source = collections.source(task)
    own = source.variants(*task) if source else ()
    return (*own, *collections.given_variants.get(task, ()))


def variant_sql(collections: Collections, task: TaskKey, variant: str) -> str:
    """``(query_id, text)`` of a variant that ``variant_names`` has; of a file's only for queries of the task."""
    source = collections.source(task)
    if variant in collections.given_variants.get(task, ()):
        return (
            f"SELECT query_id, text FROM given_variants WHERE {task_condition(task)} "
            f"AND variant = {text_literal(variant)}"
        )
    assert source is not None
    return source.variant_sql(*task, variant)


def variant_texts(
    cursor: Cursor, collections: Collections, task: TaskKey, variant: str
) -> tuple[int, list[tuple[str, str]]]:
    """How many queries a loaded task has, and (original, text) of those that have a text by a variant at hand."""
    counted = cursor.execute(f"SELECT count(*) FROM queries WHERE {task_condition(task)}").fetchone()
    originals = f"SELECT query_id, position, text AS original FROM queries WHERE {task_condition(task)}"
    if variant == ORIGINAL:
        texts = f"SELECT original, original FROM ({originals})"
    else:
        rewrites = variant_sql(collections, task, variant)
        texts = f"SELECT original, text FROM ({originals}) JOIN ({rewrites}) USING (query_id)"
    rows = cursor.execute(f"FROM ({texts}) AS texts(original, text) WHERE text <> '' AND original IS NOT NULL")
    return int(counted[0]) if counted else 0, [(str(original), str(text)) for original, text in rows.fetchall()]


def variant_counts(cursor: Cursor, collections: Collections, tasks: Sequence[TaskKey]) -> list[VariantCount]:
    """How far each variant at hand covers each of these loaded tasks."""
    counts = []
    for task in tasks:
        for name in variant_names(collections, task):
            row = cursor.execute(f"""
                SELECT count(*), count(*) FILTER (query_id IN (
                    SELECT query_id FROM ({variant_sql(collections, task, name)}) WHERE text <> ''))
                FROM queries WHERE {task_condition(task)}""").fetchone()
            assert row is not None
            counts.append(VariantCount(name, task, int(row[0]), int(row[1])))
    return counts


def load_given_variants(
    cursor: Cursor,
    collections: Collections,
    arguments: Sequence[str],
    tasks: Sequence[TaskKey],
    wanted_task: str | None = None,
    *,
    complete: bool = False,
) -> list[Finding]:
    """Join files of rewrites, ``[NAME=]FILE`` or a folder of files, to the queries of these loaded tasks.

    Rows by id are of the task that the row, the file itself or its path as it was typed names, of ``wanted_task``, of
    the task that the whole path names, of the one whose golds they list, or of the only one there is. ``complete`` says
    that the tasks are all there are, so that a text that is none of their queries is odd.

    Raises:
        UnreadableInput: as ``read_rewrites_into``; or a folder is empty.
        UsageError: a variant of this name is there already, or nothing tells of which task the rows are.
    """
    findings: list[Finding] = []
    unused: dict[str, _File] = {}
    for number, (name, path) in enumerate(_named_files(arguments)):
        file = _read(cursor, f"rewrites_{number}", name, path, wanted_task, collections.task_names(), tasks)
        findings += file.read.findings
        findings += _unknown_tasks(cursor, file, collections.task_names())
        joined = [task for task in _tasks_of(cursor, file, tasks) if _join(cursor, collections, file, task)]
        for task in joined:
            findings += _join_findings(cursor, file, task)
        if complete and joined and file.by_text:
            findings += _unknown_texts(cursor, file)
        if not joined and not any(file.name in names for names in collections.given_variants.values()):
            unused[file.name] = file
    for file in unused.values():
        if not any(file.name in names for names in collections.given_variants.values()):
            at_hand = ", ".join("/".join(task) for task in tasks)
            message = f"none of its rewrites is of a query of {at_hand}: the variant {file.name} is left out."
            findings.append(Finding("unused-variant", "error", str(file.path), message))
    return findings


def _named_files(arguments: Sequence[str]) -> list[tuple[str | None, Path]]:
    """The files that the arguments name; of a folder all below it but what lies beside rewrites: QueryGym's
    descriptions, and the sidecars and failures of ``rewrite``.

    Raises:
        UnreadableInput: there is nothing in a folder.
    """
    named = []
    for argument in arguments:
        name, path = split_layer(argument)
        if not path.is_dir():
            named.append((name, path))
            continue
        files = [
            file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith((".", "README"))
        ]
        beside = {file.with_name(file.name.removesuffix(QUERYGYM_SUFFIX) + ".json") for file in files}
        beside |= {each for file in files for each in (sidecar_of(file), failures_of(file))}
        files = [file for file in files if file not in beside]
        if not files:
            raise UnreadableInput(f"{path}: no file of rewrites in it.", "Name a file, or a folder of them.")
        named += [(name, file) for file in files]
    return named


def _read(
    cursor: Cursor,
    table: str,
    name: str | None,
    path: Path,
    wanted_task: str | None,
    task_names: Sequence[str],
    tasks: Sequence[TaskKey],
) -> _File:
    read = read_rewrites_into(cursor, path, table)
    method, dataset = read.told
    described = describe_path(str(path.absolute()), task_names)
    told = describe_path(dataset, task_names).task if dataset else None
    # What was typed is no accident; a folder further up may be called as it likes.
    typed = described.task if path.is_absolute() else describe_path(str(path), task_names).task
    task = told or typed or (normalised_task(wanted_task) if wanted_task else described.task)
    name = name or method or described.variant or _name_of(described.system_parts) or path.stem
    if name in (ORIGINAL, EDITED):
        raise UsageError(f"{path}: {name} is no name for a file of rewrites.", "Name it otherwise: NAME=FILE.")
    by_text = read.is_map and (task is None or _has_texts(cursor, read, tasks))
    return _File(name, path, read, task, by_text)


def _name_of(parts: Sequence[str]) -> str | None:
    """The nearest part of a path that says more than that these are rewritten queries."""
    for part in parts:
        if stem := _GENERIC.sub("", part).strip("_.-"):
            return stem
    return None


def _tasks_of(cursor: Cursor, file: _File, tasks: Sequence[TaskKey]) -> Sequence[TaskKey]:
    """The tasks that a file's rows can be of.

    Raises:
        UsageError: its rows are by id, and nothing tells of which task.
    """
    if file.by_text:
        return tasks
    named = {task for (task,) in cursor.execute(f"SELECT DISTINCT task FROM {file.read.table}").fetchall() if task}
    slugs = named or ({file.task} if file.task else set())
    if slugs:
        return [task for task in tasks if task[1] in slugs]
    by_golds = _tasks_by_golds(cursor, file)
    if by_golds or len(tasks) < 2:
        return [task for task in tasks if task in by_golds] if by_golds else tasks
    raise UsageError(
        f"{file.path}: its rows are by query id, and nothing tells of which task they are.",
        f"Say --task, or have the task in the file's name: {', '.join(dict.fromkeys(slug for _, slug in tasks))}.",
    )


def _has_texts(cursor: Cursor, read: RewritesRead, tasks: Sequence[TaskKey]) -> bool:
    """Whether a key is the text of a query of these tasks."""
    of = " OR ".join(f"({task_condition(task)})" for task in tasks) or "false"
    row = cursor.execute(
        f"SELECT EXISTS (FROM {read.table} WHERE key IN (SELECT text FROM queries WHERE {of}))"
    ).fetchone()
    return bool(row and row[0])


def _tasks_by_golds(cursor: Cursor, file: _File) -> list[TaskKey]:
    """The tasks of which most rows list golds of the same query."""
    rows = cursor.execute(f"""
        SELECT dataset, task FROM (
            SELECT key AS query_id, unnest(golds ->> '$[*]') AS doc_id FROM {file.read.table} WHERE golds IS NOT NULL)
        JOIN qrels USING (query_id, doc_id) WHERE relevance > 0
        GROUP BY dataset, task QUALIFY count(*) = max(count(*)) OVER ()""").fetchall()
    return [(str(dataset), str(task)) for dataset, task in rows]


def _rows_of(file: _File, task: TaskKey) -> str:
    """SQL for a file's ``(query_id, text, golds)`` of a task, whether its queries have these ids or not."""
    table = file.read.table
    if file.by_text:
        return f"""SELECT query_id, rewrite AS text, golds FROM (SELECT key, text AS rewrite, golds FROM {table})
                   JOIN (SELECT query_id, text AS key FROM queries WHERE {task_condition(task)}) USING (key)"""
    return f"SELECT key AS query_id, text, golds FROM {table} WHERE task IS NULL OR task = {text_literal(task[1])}"


def _join(cursor: Cursor, collections: Collections, file: _File, task: TaskKey) -> bool:
    """Keep a file's rewrites of a task's queries; whether there is any.

    Raises:
        UsageError: there is a variant of this name for one of these queries.
    """
    labels = ", ".join(map(text_literal, (*task, file.name)))
    known = f"SELECT query_id FROM queries WHERE {task_condition(task)}"
    joined = f"SELECT query_id, text FROM ({_rows_of(file, task)}) WHERE query_id IN ({known})"
    earlier = collections.given_variants.get(task, ())
    if file.name in earlier:
        twice = (
            f"SELECT query_id FROM given_variants WHERE {task_condition(task)} AND variant = {text_literal(file.name)}"
        )
        row = cursor.execute(f"SELECT min(query_id) FROM ({joined}) WHERE query_id IN ({twice})").fetchone()
        taken = f"query {row[0]} of {'/'.join(task)} has" if row and row[0] is not None else None
    else:
        taken = f"{'/'.join(task)} has" if file.name in variant_names(collections, task) else None
    if taken:
        raise UsageError(f"{file.path}: {taken} a variant {file.name} already.", "Name it otherwise: NAME=FILE.")
    count = cursor.execute(f"INSERT INTO given_variants SELECT {labels}, query_id, text FROM ({joined})").fetchone()
    if not (count and count[0]):
        return False
    collections.given_variants[task] = tuple(dict.fromkeys((*earlier, file.name)))
    return True


def _join_findings(cursor: Cursor, file: _File, task: TaskKey) -> list[Finding]:
    """Queries without a rewrite, rewrites without a query, and golds that are not the data's."""
    known = f"SELECT query_id FROM queries WHERE {task_condition(task)}"
    rows = f"SELECT query_id FROM ({_rows_of(file, task)})"
    where, findings = "/".join(task), []
    missing = _ids(cursor, f"{known} EXCEPT {rows}")
    unknown = [] if file.by_text else _ids(cursor, f"{rows} EXCEPT ({known})")
    counts = f"{task_condition(task)} AND layer = {text_literal(ORIGINAL_LAYER)} AND relevance > 0"
    # The golds of the long corpus are others: rows list those of the passages.
    other = (
        []
        if task[0].endswith(LONG_SUFFIX)
        else _ids(
            cursor,
            f"""SELECT query_id FROM (SELECT query_id, golds ->> '$[*]' AS theirs FROM ({_rows_of(file, task)})
                                  WHERE golds IS NOT NULL)
            JOIN (SELECT query_id, list(doc_id) AS ours FROM all_qrels
                  WHERE {counts} GROUP BY ALL)
            USING (query_id) WHERE list_sort(list_distinct(theirs)) <> list_sort(list_distinct(ours))""",
        )
    )
    for code, ids, what in (
        ("variant-lacks-queries", missing, f"queries of {where} have no text in the variant {file.name}"),
        ("variant-unknown-queries", unknown, f"rewrites are of no query of {where} and left out"),
        ("variant-other-golds", other, f"queries of {where} have other golds here than in the data, which count"),
    ):
        if ids:
            hint = "" if ids is missing and not unknown else " Is it made from another upload of the queries?"
            message = f"{len(ids)} {what}: {_some(ids)}.{hint}"
            findings.append(Finding(code, "warning", str(file.path), message, count=len(ids)))
    return findings


def _unknown_tasks(cursor: Cursor, file: _File, known: Sequence[str]) -> list[Finding]:
    """Rows that name a task which no data at hand has; those of tasks that are not open are nothing odd."""
    rows = cursor.execute(
        f"""SELECT task, count(*) FROM {file.read.table} WHERE task NOT IN (SELECT unnest(?))
            GROUP BY task ORDER BY task""",
        [list(known)],
    ).fetchall()
    if not rows:
        return []
    count = sum(int(each) for _, each in rows)
    message = f"{count} row(s) of tasks that are not known are left out: {_some([task for task, _ in rows])}."
    return [Finding("variant-unknown-queries", "warning", str(file.path), message, count=count)]


def _unknown_texts(cursor: Cursor, file: _File) -> list[Finding]:
    keys = _ids(
        cursor, f"SELECT key FROM {file.read.table} WHERE key NOT IN (SELECT text FROM queries WHERE text IS NOT NULL)"
    )
    if not keys:
        return []
    message = f"{len(keys)} text(s) are those of no query at hand and left out, the first: {visible(keys[0][:60])}"
    return [Finding("variant-unknown-queries", "warning", str(file.path), message, count=len(keys))]


def _ids(cursor: Cursor, sql: str) -> list[str]:
    return [row[0] for row in cursor.execute(f"SELECT * FROM ({sql}) ORDER BY ALL").fetchall()]


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(query_id[:80] for query_id in ids[:_SHOWN]) + more

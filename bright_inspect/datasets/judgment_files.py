"""Judgment files of one task as relations that can be asked for more than once.

The readers fill tables of the database they are given; a source answers with SQL before there is one. So the files are
read once into temporary Parquet.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from bright_inspect.db import Database, path_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.qrels import read_qrels_into


class JudgmentFiles:
    """One or more judgment files that count together; of a pair judged in two files the first file counts."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._findings: list[Finding] = []

    @property
    def qrels_sql(self) -> str:
        """``(query_id, doc_id, relevance)``, each pair once.

        Raises:
            UnreadableInput: as ``read_qrels_into``.
        """
        return f"SELECT query_id, doc_id, relevance FROM read_parquet({path_literal(self._folder / 'qrels.parquet')})"

    @property
    def exclusions_sql(self) -> str:
        """``(query_id, doc_id)``, each pair once. Raises as ``qrels_sql``."""
        return f"SELECT query_id, doc_id FROM read_parquet({path_literal(self._folder / 'exclusions.parquet')})"

    def findings(self) -> list[Finding]:
        """What is odd in the files and between them. Raises as ``qrels_sql``."""
        _ = self._folder
        return list(self._findings)

    @cached_property
    def _folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="bright-inspect-qrels-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        with Database() as database:
            cursor = database.cursor()
            cursor.execute("CREATE TABLE qrels (query_id VARCHAR, doc_id VARCHAR, relevance INTEGER)")
            cursor.execute("CREATE TABLE exclusions (query_id VARCHAR, doc_id VARCHAR)")
            for path in self.paths:
                self._findings += read_qrels_into(cursor, path, "file").findings
                repeated = cursor.execute(
                    "SELECT count(*) FROM file SEMI JOIN qrels USING (query_id, doc_id)"
                ).fetchone()
                if repeated and repeated[0]:
                    message = f"{repeated[0]} pair(s) are judged in an earlier file as well, which counts."
                    self._findings.append(
                        Finding("repeated-judgment", "warning", str(path), message, count=int(repeated[0]))
                    )
                cursor.execute("INSERT INTO qrels FROM file ANTI JOIN qrels USING (query_id, doc_id)")
                cursor.execute(
                    "INSERT INTO exclusions FROM file_exclusions ANTI JOIN exclusions USING (query_id, doc_id)"
                )
            contradicted = cursor.execute(
                "SELECT count(*) FROM qrels SEMI JOIN exclusions USING (query_id, doc_id) WHERE relevance > 0"
            ).fetchone()
            if contradicted and contradicted[0]:
                message = (
                    f"{contradicted[0]} document(s) are relevant and excluded at once: they are removed from the "
                    "ranking, but stay in the ideal, so no run can reach 1."
                )
                self._findings.append(
                    Finding("excluded-gold", "error", str(self.paths[-1]), message, count=int(contradicted[0]))
                )
            for table in ("qrels", "exclusions"):
                cursor.execute(f"COPY {table} TO {path_literal(folder / f'{table}.parquet')} (FORMAT parquet)")
        return folder

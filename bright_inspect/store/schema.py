"""The tables of a session. A query's key is (dataset, task, query_id) in every one of them."""

from __future__ import annotations

from bright_inspect.db import Cursor

_TABLES = """
CREATE TABLE queries (dataset VARCHAR, task VARCHAR, query_id VARCHAR, position BIGINT,
                      text VARCHAR, reasoning VARCHAR, gold_answer VARCHAR);
-- Judgments of every layer; of each task the one in active_layers counts, which is what the view qrels has.
CREATE TABLE all_qrels (dataset VARCHAR, task VARCHAR, layer VARCHAR, query_id VARCHAR, doc_id VARCHAR,
                        relevance INTEGER);
CREATE TABLE active_layers (dataset VARCHAR, task VARCHAR, layer VARCHAR);
CREATE VIEW qrels AS SELECT dataset, task, query_id, doc_id, relevance
                     FROM all_qrels SEMI JOIN active_layers USING (dataset, task, layer);
-- Grows by a part for each task that has exclusions.
CREATE VIEW exclusions AS SELECT NULL::VARCHAR AS dataset, NULL::VARCHAR AS task, NULL::VARCHAR AS query_id,
                                 NULL::VARCHAR AS doc_id WHERE false;
CREATE TABLE gold_pages (dataset VARCHAR, task VARCHAR, query_id VARCHAR, page_id VARCHAR);
CREATE TABLE variants (dataset VARCHAR, task VARCHAR, query_id VARCHAR, variant VARCHAR, text VARCHAR);
-- Texts of files of rewrites, for those queries that the tasks have.
CREATE TABLE given_variants (dataset VARCHAR, task VARCHAR, variant VARCHAR, query_id VARCHAR, text VARCHAR);
CREATE TABLE documents (dataset VARCHAR, task VARCHAR, doc_id VARCHAR, content VARCHAR);
-- Which query of which task each query id of a file is (NULL: of none), and how many documents the file lists for it.
CREATE TABLE file_queries (file_id INTEGER, dataset VARCHAR, task VARCHAR, query_id VARCHAR,
                           depth INTEGER);
-- Where the documents that any layer judges stand in each file, by the session's tie rule: raw_rank with the excluded
-- documents, the rest without: rank, how many documents are above by score, and how many tied, itself included.
CREATE TABLE file_placed (file_id INTEGER, dataset VARCHAR, task VARCHAR, query_id VARCHAR, doc_id VARCHAR,
                          raw_rank INTEGER, rank INTEGER, above INTEGER, tied INTEGER);
-- Documents that a file lists although they are excluded for the query.
CREATE TABLE file_excluded (file_id INTEGER, dataset VARCHAR, task VARCHAR, query_id VARCHAR, doc_id VARCHAR,
                            raw_rank INTEGER);
-- Rows of a file that gave way to a better one of the same document: what other tools may count instead.
CREATE TABLE file_repeats (file_id INTEGER, query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER,
                           position BIGINT);
CREATE TABLE files (file_id INTEGER, run_id INTEGER);
CREATE VIEW run_queries AS FROM files JOIN file_queries USING (file_id) WHERE task IS NOT NULL;
CREATE VIEW judged AS FROM files JOIN file_placed USING (file_id) JOIN qrels USING (dataset, task, query_id, doc_id);
CREATE VIEW excluded_hits AS FROM files JOIN file_excluded USING (file_id);
"""


def create_tables(cursor: Cursor) -> None:
    """Create the session's empty tables."""
    cursor.execute(_TABLES)

"""Every run format that is read: its name for ``--format``, who writes it, and a small invented example.

The examples are read back by a test, so what this list shows is what the readers take.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunFormat:
    """``example`` is a whole small file as text, or in base64 where the format is binary."""

    name: str
    title: str
    writers: str
    example: str
    binary: bool = False

    def content(self) -> bytes:
        """The example file's bytes."""
        return base64.b64decode(self.example) if self.binary else self.example.encode()


FORMATS = (
    RunFormat(
        "trec", "TREC run: query_id Q0 doc_id rank score tag",
        "Pyserini, Anserini, PyTerrier, rank_llm, BEIR (save_runfile, rank 0), ranx, trec_eval's own format",
        "q1 Q0 tides/Spring_tide_2.txt 1 14.2 my-bm25\nq1 Q0 moon/Orbit 4.txt 2 9.75 my-bm25\n",
    ),
    RunFormat(
        "score-json", "JSON object {query_id: {doc_id: score}}",
        "BRIGHT, BRIGHT-Pro, MM-BRIGHT, ReasonIR, DIVER, RaDeR, XRR2, INF-X; BEIR's search results; ranx (.json)",
        '{"q1": {"tides/Spring_tide_2.txt": 0.82, "moon/Orbit_4.txt": 0.73}}\n',
    ),
    RunFormat(
        "mteb", "MTEB predictions: {subset: {split: {query_id: {doc_id: score}}}} with mteb_model_meta",
        "mteb.evaluate(..., prediction_folder=DIR): {TaskName}_predictions.json",
        '{"mteb_model_meta": {"model_name": "org/model-x", "revision": "1"},\n'
        ' "biology": {"standard": {"q1": {"moon/Orbit_4.txt": 0.73, "tides/Spring_tide_2.txt": 0.82}}}}\n',
    ),
    RunFormat(
        "retro", "JSON object with search_results: {split-query_id: {doc_id: score}}",
        "agentic-search (RETRO*): {dataset}-{split}.json",
        '{"eval_name": "e", "model_name": "model-x", "reranker_name": "NoReranker", "split": "short",\n'
        ' "dataset_name": "biology", "search_results": {"short-q1": {"tides/Spring_tide_2.txt": 0.82}}}\n',
    ),
    RunFormat(
        "rank-llm", "JSON list or JSON Lines of {query: {qid, text}, candidates: [{docid, score, doc}]}; order ranks",
        "rank_llm (write_in_json_format, write_in_jsonl_format); its invocation history becomes reasons",
        '{"query": {"qid": 1, "text": "why two tides?"}, "candidates": [{"docid": "tides/Spring_tide_2.txt", '
        '"score": 14.2, "doc": {}}, {"docid": "moon/Orbit_4.txt", "score": 15.1, "doc": {}}]}\n',
    ),
    RunFormat(
        "json-lines", "JSON Lines or list, one (query, document, score) each; json-lines:FIELD names the score",
        "TFRank and other pointwise rerankers; response and reasoning texts become reasons",
        '{"qid": "q1", "docid": "tides/Spring_tide_2.txt", "score": 0.9, "response": "<think>a tide</think>yes"}\n'
        '{"qid": "q1", "docid": "moon/Orbit_4.txt", "score": 0.2, "response": "no"}\n',
    ),
    RunFormat(
        "id-lists", "ordered ids without scores: {query_id: [doc_id, ...]}, or entries with query_id and retrieved_ids",
        "Weaviate's query agent benchmark, BRIGHT-Pro's agents and ranked lists",
        '{"queries": [{"query_id": "q0", "retrieved_ids": ["tides/Spring_tide_2.txt", "moon/Orbit_4.txt"]}]}\n',
    ),
    RunFormat(
        "msmarco", "3 columns: query_id, doc_id, rank (no score; order ranks)",
        "Pyserini and Anserini with --output-format msmarco",
        "q1\ttides/Spring_tide_2.txt\t1\nq1\tmoon/Orbit_4.txt\t2\n",
    ),
    RunFormat(
        "tevatron", "3 columns: query_id, doc_id, score",
        "Tevatron (search --save_text)",
        "q1\ttides/Spring_tide_2.txt\t0.8021\nq1\tmoon/Orbit_4.txt\t0.7312\n",
    ),
    RunFormat(
        "table", "CSV or TSV; the header names query_id (qid ...), doc_id (docno, corpus-id ...), and score or rank",
        "pandas, polars, PyTerrier, ir_measures' data frames, spreadsheets",
        'query_id,doc_id,rank,score\nq1,tides/Spring_tide_2.txt,1,0.82\nq1,"moon/Orbit, 4.txt",2,0.73\n',
    ),
    RunFormat(
        "parquet", "Parquet with the columns query_id (q_id ...), doc_id, and score or rank",
        "ranx (.parquet), pandas, polars, DuckDB",
        "UEFSMRUAFRgVGCwVBBUAFQYVBgAAAgAAAHExAgAAAHExFQAVahVqLBUEFQAVBhUGAAACAAAABAEXAAAAdGlkZXMvU3ByaW5nX3Rp"
        "ZGVfMi50eHQQAAAAbW9vbi9PcmJpdF80LnR4dBUAFSwVLCwVBBUAFQYVBgAAAgAAAAQBPQrXo3A96j9cj8L1KFznPxUCGUw1ABgN"
        "ZHVja2RiX3NjaGVtYRUGABUMJQAYBHFfaWQlAAAVDCUCGAZkb2NfaWQlAAAVCiUCGAVzY29yZQAWBBkcGTwmABwVDBkVABkYBHFf"
        "aWQVABYEFjoWOiYIPBgCcTEYAnExFgAoAnExGAJxMRERABkcFQAVABUCAAAAJgAcFQwZFQAZGAZkb2NfaWQVABYEFowBFowBJkI8"
        "GBd0aWRlcy9TcHJpbmdfdGlkZV8yLnR4dBgQbW9vbi9PcmJpdF80LnR4dBYAKBd0aWRlcy9TcHJpbmdfdGlkZV8yLnR4dBgQbW9v"
        "bi9PcmJpdF80LnR4dBERABkcFQAVABUCAAAAJgAcFQoZFQAZGAVzY29yZRUAFgQWThZOJs4BPBgIPQrXo3A96j8YCFyPwvUoXOc/"
        "FgAoCD0K16NwPeo/GAhcj8L1KFznPxERFgAAGRwVABUAFQIAAAAWlAIWBCYIFpQCACgoRHVja0RCIHZlcnNpb24gdjIuMC4xIChi"
        "dWlsZCA4ZDc4MTE0ZTkwKRk8HAAAHAAAHAAAAJsBAABQQVIx",
        binary=True,
    ),
    RunFormat(
        "ranx-lz4", "CBOR inside LZ4: {query_id: {doc_id: score}}; needs bright-inspect[lz4]",
        "ranx (.lz4)",
        "BCJNGGhAQAAAAAAAAABcPwAAAPAEoWJxMaJ3dGlkZXMvU3ByaW5nXw0A8g1fMi50eHT7P+o9cKPXCj1wbW9vbi9PcmJpdF80GgBw"
        "51wo9cKPXAAAAAA=",
        binary=True,
    ),
)  # fmt: skip
"""All formats, the commonest first. Every one of them may also be packed by gzip, zstd, bzip2, xz or LZ4."""

NAMES = tuple(known.name for known in FORMATS)

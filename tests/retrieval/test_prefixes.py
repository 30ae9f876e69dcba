"""What stands before queries and documents: BRIGHT's table word for word, then configurations and model cards."""

from __future__ import annotations

import pytest

from bright_inspect.retrieval.neural.prefixes import prefixes_for

STACK_EXCHANGE = (
    "biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow", "sustainable_living"
)  # fmt: skip
TASKS = (*STACK_EXCHANGE, "pony", "leetcode", "aops", "theoremqa_questions", "theoremqa_theorems")
LONG_TASKS = (*STACK_EXCHANGE, "pony")
INSTRUCTED = (
    "Salesforce/SFR-Embedding-Mistral",
    "Alibaba-NLP/gte-Qwen1.5-7B-instruct",
    "Alibaba-NLP/gte-Qwen2-7B-instruct",
    "intfloat/e5-mistral-7b-instruct",
)
GRIT = ("GritLM/GritLM-7B", "reasonir/ReasonIR-8B")
INSTRUCTOR = ("hkunlp/instructor-large", "hkunlp/instructor-xl")
BGE = "BAAI/bge-large-en-v1.5"

# (dataset, task) -> sentence of sf, qwen, qwen2, e5 and grit; Instructor's query and document; bge's query
TABLE: dict[tuple[str, str], tuple[str, str, str, str]] = {}
for dataset, things, paragraph in (("bright", "passages", "paragraph"), ("bright-long", "documents", "document")):
    for task in STACK_EXCHANGE:
        TABLE[dataset, task] = (
            f"Given a {task} post, retrieve relevant {things} that help answer the post",
            f"Represent the {task} post for retrieving relevant {paragraph}s: ",
            f"Represent the {task} {paragraph} for retrieval: ",
            f"Represent this {task} post for searching relevant {things}: ",
        )
    TABLE[dataset, "pony"] = (
        f"Given a pony question, retrieve relevant {things} that help answer the question",
        f"Represent the Pony question for retrieving relevant {paragraph}s: ",
        f"Represent the Pony {paragraph} for retrieval: ",
        f"Represent this Pony question for searching relevant {things}: ",
    )
TABLE["bright", "leetcode"] = (
    "Given a coding problem, retrieve relevant examples that help answer the problem",
    "Represent the Coding problem for retrieving relevant examples: ",
    "Represent the Coding example for retrieval: ",
    "Represent this Coding problem for searching relevant examples: ",
)
for task in ("aops", "theoremqa_questions"):
    TABLE["bright", task] = (
        "Given a Math problem, retrieve relevant examples that help answer the problem",
        "Represent the Math problem for retrieving relevant examples: ",
        "Represent the Math example for retrieval: ",
        "Represent this Math problem for searching relevant examples: ",
    )
TABLE["bright", "theoremqa_theorems"] = (
    "Given a Math problem, retrieve relevant theorems that help answer the problem",
    "Represent the Math problem for retrieving relevant theorems: ",
    "Represent the Math theorem for retrieval: ",
    "Represent this Math problem for searching relevant theorems: ",
)


def test_the_table_is_whole() -> None:
    assert {task for dataset, task in TABLE if dataset == "bright"} == set(TASKS)
    assert {task for dataset, task in TABLE if dataset == "bright-long"} == set(LONG_TASKS)


@pytest.mark.parametrize(("dataset", "task"), TABLE)
def test_brights_table(dataset: str, task: str) -> None:
    sentence, asked, searched, bge = TABLE[dataset, task]
    # A configuration that says otherwise is not asked.
    own = {"query": "own: ", "document": "own: "}
    for model in INSTRUCTED:
        found = prefixes_for(model, dataset, task, own)
        assert (found.query, found.document) == (f"Instruct: {sentence}\nQuery: ", "")
        assert (found.source, found.pooled) == ("BRIGHT's table", True)
    for model in GRIT:
        found = prefixes_for(model, dataset, task, own)
        assert (found.query, found.document) == (f"<|user|>\n{sentence}\n<|embed|>\n", "<|embed|>\n")
        assert (found.source, found.pooled) == ("BRIGHT's table", False)
    for model in INSTRUCTOR:
        found = prefixes_for(model, dataset, task, own)
        assert (found.query, found.document, found.source) == (asked, searched, "BRIGHT's table")
    found = prefixes_for(BGE, dataset, task, own)
    assert (found.query, found.document, found.source) == (bge, "", "BRIGHT's table")
    for model in ("sentence-transformers/all-mpnet-base-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        found = prefixes_for(model, dataset, task)
        assert (found.query, found.document, found.source) == ("", "", "none")


def test_examples_word_for_word() -> None:
    assert prefixes_for(INSTRUCTED[0], "bright", "earth_science").query == (
        "Instruct: Given a earth_science post, retrieve relevant passages that help answer the post\nQuery: "
    )
    assert prefixes_for("GritLM/GritLM-7B", "bright-long", "pony").query == (
        "<|user|>\nGiven a pony question, retrieve relevant documents that help answer the question\n<|embed|>\n"
    )


WEB = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        *((model, f"{WEB} ", "") for model in INSTRUCTED),
        *((model, "<|embed|>\n", "<|embed|>\n") for model in GRIT),
        (BGE, "Represent this sentence for searching relevant passages: ", ""),
        ("Qwen/Qwen3-Embedding-0.6B", WEB, ""),
        ("infly/inf-retriever-v1", f"{WEB} ", ""),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", f"{WEB} ", ""),
    ],
)
def test_outside_bright_the_models_card(model: str, query: str, document: str) -> None:
    for dataset, task in (("demo", "planets"), ("custom:mine", "x"), ("mm-bright", "chemistry")):
        found = prefixes_for(model, dataset, task)
        assert (found.query, found.document, found.source) == (query, document, "the model's card")
        assert found.pooled is (model not in GRIT)


def test_a_configuration_over_the_card() -> None:
    own = {"query": "Instruct: own\nQuery:", "document": ""}
    found = prefixes_for("Qwen/Qwen3-Embedding-0.6B", "bright", "biology", own)
    assert (found.query, found.document, found.source) == ("Instruct: own\nQuery:", "", "the model's configuration")
    for name in ("document", "passage", "corpus"):
        found = prefixes_for("someone/model", "bright", "biology", {name: "text: "})
        assert (found.query, found.document, found.source) == ("", "text: ", "the model's configuration")
    # sentence-transformers writes both, empty, for a model that has none.
    assert prefixes_for("intfloat/e5-base-v2", "demo", "x", {"query": "", "document": ""}).query == "query: "


@pytest.mark.parametrize("model", ["", "someone/model", "facebook/contriever", "thenlper/gte-base", "my-bge-m3"])
def test_unknown_models_get_nothing(model: str) -> None:
    found = prefixes_for(model, "bright", "biology")
    assert (found.query, found.document, found.source, found.pooled) == ("", "", "none", True)

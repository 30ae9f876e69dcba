"""Where data may lie, in the order it is asked: files and folders that were named, BRIGHT_INSPECT_DATA, the demo, the
Hugging Face cache. A folder is recognised by its layout. Nothing here downloads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bright_inspect.datasets.beir_folder import BeirFolder, is_beir_folder
from bright_inspect.datasets.bright_folder import BrightFolder
from bright_inspect.datasets.plain_files import PlainFiles
from bright_inspect.datasets.source import Source
from bright_inspect.errors import UnreadableInput

#: The dataset's id on the Hugging Face Hub (BRIGHT's dataset card).
HUB_ID = "xlangai/BRIGHT"
DATA_VARIABLE = "BRIGHT_INSPECT_DATA"


def find_sources(
    data: Path | None,
    queries: Path | None = None,
    qrels: Sequence[Path] = (),
    corpus: Sequence[Path] = (),
    name: str | None = None,
) -> Iterator[Source]:
    """The sources at hand, first to be asked first. Later ones are only looked for when the earlier lack a task.

    ``queries``, ``qrels`` and ``corpus`` (files, or folders of files) together are one task of the dataset
    ``custom:{name}``; without ``name`` it is called as the first of these files is.

    Raises:
        UnreadableInput: a folder or file that was named holds no data.
    """
    if queries or qrels or corpus:
        yield PlainFiles(queries, qrels, corpus, name)
    if data is not None:
        yield from folder_sources(data)
    named = os.environ.get(DATA_VARIABLE)
    if named:
        yield from folder_sources(Path(named))
    yield demo_source()
    cached = hub_cache_folder()
    if cached is not None:
        yield BrightFolder(cached)


def folder_sources(folder: Path) -> list[Source]:
    """The source that a folder is, by its layout: BRIGHT's or a relative's, BEIR's, or a folder of BEIR folders.

    Raises:
        UnreadableInput: it is none of these, or damaged.
    """
    if not folder.is_dir():
        found = "a file, not a folder" if folder.exists() else "no such folder"
        raise UnreadableInput(f"{folder}: {found}.", "Give the folder of a BRIGHT snapshot or of BEIR data.")
    if (folder / "examples").is_dir():
        return [BrightFolder(folder)]
    if is_beir_folder(folder):
        return [BeirFolder(folder)]
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and is_beir_folder(path)]
    if inner:
        return [BeirFolder(path) for path in inner]
    held = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "nothing"
    raise UnreadableInput(
        f"{folder}: neither BRIGHT's layout (no examples/{{task}}-*.parquet in it) nor BEIR's (no queries.jsonl with "
        f"qrels/*.tsv); it holds {held}.",
        "Give the folder of a snapshot of xlangai/BRIGHT, of BEIR data, or files with --queries, --qrels and --corpus.",
    )


def demo_source() -> Source:
    """The data set that is part of the package."""
    return BrightFolder(Path(__file__).parent.parent / "demo" / "data", dataset="demo")


def hub_cache_folder() -> Path | None:
    """The snapshot of BRIGHT in the local Hugging Face cache, which may hold some of its tasks only, or None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(HUB_ID, repo_type="dataset", local_files_only=True))
    except (LocalEntryNotFoundError, FileNotFoundError) as error:
        # Newer versions of the library refuse a snapshot of which a part was fetched, and say where it is.
        partial = getattr(error, "snapshot_path", None)
        if partial is None:
            return None
        folder = Path(partial)
    return folder if (folder / "examples").is_dir() else None

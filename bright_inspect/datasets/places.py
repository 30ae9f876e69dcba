"""Where data may lie, in the order it is asked: --data, BRIGHT_INSPECT_DATA, the Hugging Face cache, the demo.

Nothing here downloads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bright_inspect.datasets.bright_folder import BrightFolder
from bright_inspect.datasets.source import Source

#: The dataset's id on the Hugging Face Hub (BRIGHT's dataset card).
HUB_ID = "xlangai/BRIGHT"
DATA_VARIABLE = "BRIGHT_INSPECT_DATA"


def find_sources(data: Path | None) -> Iterator[Source]:
    """The sources at hand, first to be asked first. Later ones are only looked for when the earlier lack a task.

    Raises:
        UnreadableInput: a folder that was named is not BRIGHT data.
    """
    if data is not None:
        yield BrightFolder(data)
    named = os.environ.get(DATA_VARIABLE)
    if named:
        yield BrightFolder(Path(named))
    yield demo_source()
    cached = hub_cache_folder()
    if cached is not None:
        yield BrightFolder(cached)


def demo_source() -> Source:
    """The data set that is part of the package."""
    return BrightFolder(Path(__file__).parent.parent / "demo" / "data", dataset="demo")


def hub_cache_folder() -> Path | None:
    """The snapshot of BRIGHT in the local Hugging Face cache, or None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(HUB_ID, repo_type="dataset", local_files_only=True))
    except (LocalEntryNotFoundError, FileNotFoundError):
        return None
    return folder if (folder / "examples").is_dir() else None

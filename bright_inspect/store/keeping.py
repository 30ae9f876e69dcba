"""A live list kept as a run file: one query, with a sidecar that says how it was made."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bright_inspect import __version__
from bright_inspect.domain.rankings import Ranking
from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import Hit
from bright_inspect.store.lists import write_list
from bright_inspect.store.retrieving import sidecar_of

#: Below the working folder.
FOLDER = Path("runs") / "live"
_NO_NAME = re.compile(r"[^A-Za-z0-9._+-]+")
_LONGEST = 60


def keep_ranking(ranking: Ranking, provenance: Mapping[str, Any], folder: Path = FOLDER) -> Path:
    """Write a list as ``folder/{system}@{variant}/{task}/{query}-{time}.trec`` in TREC format, and a sidecar beside it.

    Nothing is overwritten.

    Raises:
        BrightInspectError: the folder cannot be written.
    """
    key, system = ranking.query, str(provenance["system"])
    name = f"{_plain(system)}@{_plain(str(provenance['variant']))}"
    place = folder / name / _plain(key.task)
    stem = f"{_plain(key.query_id)}-{time.strftime('%Y%m%dT%H%M%S')}"
    made = {"made_by": f"bright-inspect {__version__} live", **provenance}
    try:
        place.mkdir(parents=True, exist_ok=True)
        number = 0
        while True:
            path = place / f"{stem}{f'-{number}' if number else ''}.trec"
            try:
                file = path.open("x", encoding="utf-8", newline="\n")
                break
            except FileExistsError:
                number += 1
        with file:
            hits = [Hit(doc.doc_id, doc.score) for doc in ranking.docs]
            write_list(file, key.query_id, hits, _plain(system))
            file.flush()
            os.fsync(file.fileno())
        sidecar_of(path).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or place}: cannot be written ({error.strerror or error}).",
            "Start the program in a folder that you may write to.",
        ) from None
    return path


def _plain(name: str) -> str:
    """A name that is no path: other characters give way to ``_``, and a digest tells apart what then looks alike."""
    plain = _NO_NAME.sub("_", name).strip("._") or "_"
    if plain == name and len(plain) <= _LONGEST:
        return plain
    return f"{plain[:_LONGEST]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

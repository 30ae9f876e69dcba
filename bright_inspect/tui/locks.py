"""Waiting for other work without outliving one's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bright_inspect.store.progress import CancelToken


@contextmanager
def held(lock: threading.Lock, token: CancelToken) -> Iterator[None]:
    """Hold the lock; waiting for it ends when the work is cancelled."""
    while not lock.acquire(timeout=0.05):
        token.check()
    try:
        yield
    finally:
        lock.release()

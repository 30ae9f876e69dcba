"""What each dataset is scored by when nobody says otherwise."""

from __future__ import annotations

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.domain.measures import Measure


def default_measure(dataset: str) -> Measure:
    """nDCG@10; for the long documents R@1, as BRIGHT's paper reports them (FORMATS A.8)."""
    return Measure("R", 1) if dataset.endswith(LONG_SUFFIX) else Measure("nDCG", 10)

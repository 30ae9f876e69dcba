"""Many strings in two memory-mapped arrays, so that half a million terms are at hand without being read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint32]


def encode(text: str) -> bytes:
    """UTF-8; what is no valid Unicode is kept as well, because ids and texts are foreign data."""
    return text.encode("utf-8", "surrogatepass")


def packed(strings: Iterable[bytes]) -> tuple[Bytes, Offsets]:
    """The strings one after the other, and where each begins; a last offset says where all end."""
    blob, ends = bytearray(), [0]
    for string in strings:
        blob += string
        ends.append(len(blob))
    return np.frombuffer(bytes(blob), dtype=np.uint8), np.array(ends, dtype=np.int64)


def hashes_of(strings: Sequence[bytes]) -> Hashes:
    return np.fromiter(map(crc32, strings), dtype=np.uint32, count=len(strings))


@dataclass(frozen=True, slots=True)
class Strings:
    """Strings by number."""

    blob: Bytes
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """The strings of these numbers."""
        starts = self.offsets[numbers]
        lengths = self.offsets[numbers + 1] - starts
        ends = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(starts - ends + lengths, lengths)
        return _cut(self.blob[places].tobytes(), ends.tolist())

    def _encoded(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        blob = self.blob.data
        starts, ends = self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist()
        return [bytes(blob[start:end]) for start, end in zip(starts, ends, strict=True)]

    def find_descending(self, strings: Iterable[str]) -> list[int]:
        """The number of each string, -1 where it is not among these, which are in descending order."""
        blob, offsets, last = self.blob.data, self.offsets, len(self) - 1
        found = []
        for string in map(encode, strings):
            low, high = 0, last
            while low < high:
                middle = (low + high) // 2
                if bytes(blob[offsets[middle] : offsets[middle + 1]]) > string:
                    low = middle + 1
                else:
                    high = middle
            there = high >= 0 and bytes(blob[offsets[low] : offsets[low + 1]]) == string
            found.append(low if there else -1)
        return found

    def all(self) -> list[str]:
        return _cut(self.blob.tobytes(), self.offsets[1:].tolist())


def _cut(joined: bytes, ends: list[int]) -> list[str]:
    """Strings that lie one after the other."""
    spans = pairwise([0, *ends])
    if joined.isascii():  # as most ids are: one decoding for all
        text = joined.decode("ascii")
        return [text[start:end] for start, end in spans]
    return [joined[start:end].decode("utf-8", "surrogatepass") for start, end in spans]


@dataclass(frozen=True, slots=True)
class HashedStrings(Strings):
    """Strings in the order of their hashes, which is how their numbers are found."""

    hashes: Hashes

    def find(self, strings: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of each string, -1 where it is not among these."""
        encoded = [encode(string) for string in strings]
        wanted = hashes_of(encoded)
        first = np.searchsorted(self.hashes, wanted, side="left")
        after = np.searchsorted(self.hashes, wanted, side="right")
        found = np.full(len(encoded), -1, dtype=np.int64)
        # Strings may share a hash; all of those are compared.
        while (left := np.flatnonzero(first < after)).size:
            numbers = first[left]
            for place, number, there in zip(left.tolist(), numbers.tolist(), self._encoded(numbers), strict=True):
                if there == encoded[place]:
                    found[place] = number
            first[left] += 1
        return found

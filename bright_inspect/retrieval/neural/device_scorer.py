"""Exact search on a device: all vectors lie in its memory, and a query is one product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bright_inspect.retrieval.encoder import Vectors

#: Part of a device's free memory that vectors may take.
_SHARE = 0.8


class DeviceScorer:
    """Dot products in float32 on a torch device."""

    def __init__(self, vectors: Vectors, device: str) -> None:
        import torch

        # TF32 would round the products to 10 bits.
        torch.backends.cuda.matmul.allow_tf32 = False
        self._device = device
        self._vectors: Any = torch.from_numpy(vectors).to(device)

    def scores(self, queries: Vectors) -> Vectors:
        """float32 of shape (queries, vectors)."""
        import torch

        with torch.inference_mode():
            found: Vectors = (torch.from_numpy(queries).to(self._device) @ self._vectors.T).cpu().numpy()
        return found


def fits(size: int, device: str) -> bool:
    """Whether so many bytes of vectors fit on the device beside its model."""
    import torch

    if device.startswith("cuda"):
        free, _ = torch.cuda.mem_get_info(device)
        return size < _SHARE * free
    # mps shares the machine's memory.
    return device.startswith("mps")

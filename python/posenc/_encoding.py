# SPDX-License-Identifier: MIT
"""posenc.Encoding: the C type, and what is easier to say in Python."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _show


class Encoding(_core.Encoding):
    """A position encoding: a spec ("rope:theta=5e5", "alibi", "sinusoidal+t5") and the shape of attention.

    Arrays are (batch, tokens, heads, dim), (tokens, heads, dim) or (tokens, dim); layout="bhtd" puts heads before
    tokens. They are used where they lie, with their strides; new arrays come from the same library as the first
    argument. ``seed`` is that of the initial values of learned parameters.
    """

    @property
    def params(self) -> Mapping[str, NDArray[np.float32]]:
        """The learned parameters by name. Writing to an array changes the encoding."""
        block = np.frombuffer(memoryview(self), np.float32)
        arrays = {
            row["name"]: block[row["offset"] : row["offset"] + row["count"]].reshape(row["shape"])
            for row in self.tensors()
        }
        return MappingProxyType(arrays)

    def scores(self, q: Any, k: Any, *, softmax: bool = False, **options: Any) -> Any:
        """The input of the softmax, (batch, heads, queries, keys), -inf where hidden; softmax=True: its output."""
        heads_first = options.get("layout") == "bhtd"
        token, head = (-2, -3) if heads_first else (-3, -2)
        batch = q.shape[:-3]
        heads = q.shape[head] if q.ndim > 2 else 1
        tokens = q.shape[token] if q.ndim > 2 else q.shape[0]
        keys = k.shape[token] if k.ndim > 2 else k.shape[0]
        kind = "float64" if str(q.dtype).endswith("float64") else "float32"
        shape = (*batch, heads, tokens, keys)
        if hasattr(q, "new_empty"):  # a tensor
            matrix = q.new_empty(shape, dtype=getattr(sys.modules["torch"], kind))
        else:
            matrix = np.empty(shape, kind)
        options["probabilities" if softmax else "scores"] = matrix
        self.attention(q, k, k, **options)
        return matrix

    def __reduce__(self) -> tuple[Any, ...]:
        block = np.frombuffer(memoryview(self), np.float32).tobytes()
        return _restore, (type(self), self.spec, self.heads, self.head_dim, self.kv_heads, self.model_dim, block)

    def __repr__(self) -> str:
        shape = f"heads={self.heads}, head_dim={self.head_dim}"
        if self.kv_heads != self.heads:
            shape += f", kv_heads={self.kv_heads}"
        if self.model_dim != self.heads * self.head_dim:
            shape += f", model_dim={self.model_dim}"
        return f"Encoding({self.spec!r}, {shape})"

    def _repr_html_(self) -> str:
        """What it is, and its picture, for a notebook."""
        return _show.card(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self.fingerprint == other.fingerprint and bytes(memoryview(self)) == bytes(memoryview(other))

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _restore(
    cls: type[Encoding], spec: str, heads: int, head_dim: int, kv_heads: int, model_dim: int, block: bytes
) -> Encoding:
    made = cls(spec, heads=heads, head_dim=head_dim, kv_heads=kv_heads, model_dim=model_dim)
    np.frombuffer(memoryview(made), np.float32)[:] = np.frombuffer(block, np.float32)
    return made

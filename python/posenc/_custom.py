# SPDX-License-Identifier: MIT
"""posenc.Custom: an encoding of your own as Python functions, with the methods of the built-in ones.

Everything is float64 NumPy, one call of your function per position: for trying an idea, not for speed.
"""

from __future__ import annotations

import copy
import html
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Error
from ._encoding import Encoding
from ._show import table_html

Array = NDArray[np.float64]
Layout = Literal["bthd", "bhtd"]
Side = Literal["query", "key"]
Embed = Callable[..., ArrayLike]  # position -> (model_dim,)
Bias = Callable[..., ArrayLike]  # query position, key position -> (heads,)
Rotate = Callable[..., ArrayLike]  # one head's vector (head_dim,), position -> (head_dim,)
NAMES = ("embed", "rotate", "bias")
METHODS = ("embed", "rotate", "unrotate", "bias", "scores", "attention")


class _Lacks(Error, AttributeError):
    """An attribute that built-in encodings have and a custom one has not."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = "PE_ERR_UNSUITED", sentence


class Custom:
    """An encoding of your own, as functions of positions; at least one of embed, bias and rotate.

    ``embed(position)`` is the code that is added to a token, (model_dim,). ``bias(q_position, k_position)`` is what is
    added to a score after scaling, (heads,). ``rotate(x, position)`` is one head's query or key, (head_dim,), at its
    position; ``rotate_key`` is that of keys, where it differs. A position is an int, a float where you pass floats, or
    a tuple of them where ``axes`` is above 1. A position that has no code raises IndexError or ValueError.

    An encoding that depends on the length of the sequence says so by ``length``: then all functions get it as a
    keyword, ``embed(position, length=512)``. ``claims`` are the properties that you claim ("relative"), ``parameters``
    is the number of learned numbers: posenc.claims measures the first and reports the second.
    """

    def __init__(
        self,
        name: str = "custom",
        *,
        heads: int = 1,
        head_dim: int,
        kv_heads: int = 0,
        model_dim: int = 0,
        axes: int = 1,
        embed: Embed | None = None,
        bias: Bias | None = None,
        rotate: Rotate | None = None,
        rotate_key: Rotate | None = None,
        length: int = 0,
        claims: Sequence[str] = (),
        parameters: int = 0,
    ) -> None:
        self.name = name
        self.heads = heads
        self.kv_heads = kv_heads or heads
        self.head_dim = head_dim
        self.model_dim = model_dim or heads * head_dim
        self.axes = axes
        self.claims = list(claims)
        self.parameters = parameters
        self.length = length
        self._embed, self._bias, self._rotate, self._rotate_key = embed, bias, rotate, rotate_key
        self._check()

    def _check(self) -> None:
        for name in ("heads", "kv_heads", "head_dim", "model_dim", "axes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{self.name}: {name} is {getattr(self, name)}; needs 1 or more")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.name}: heads is {self.heads}; needs a multiple of kv_heads, {self.kv_heads}")
        if not self.hooks:
            raise ValueError(f"{self.name}: there is no function; needs embed=, bias= or rotate=")
        if self._rotate_key and not self._rotate:
            raise ValueError(f"{self.name}: rotate_key is for keys; needs rotate= for queries too")

    @property
    def spec(self) -> str:
        """Its name, where the built-in encodings have their spec."""
        return self.name

    @property
    def hooks(self) -> list[str]:
        """Where it acts: embed, rotate, bias."""
        return [name for name in NAMES if getattr(self, f"_{name}")]

    @property
    def scale(self) -> float:
        """What q.k is multiplied by."""
        return 1 / math.sqrt(self.head_dim)

    def at_length(self, length: int) -> Custom:
        """The same encoding for sequences of another length."""
        other = copy.copy(self)
        other.length = length
        return other

    # ------------------------------------------------------------ one position

    def _checked(self, what: str, values: ArrayLike, shape: tuple[int, ...], position: Any) -> Array:
        array = np.asarray(values, np.float64)
        if array.shape != shape:
            raise TypeError(f"{self.name}: {what} at position {position} has shape {array.shape}; needs {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{self.name}: {what} at position {position} is not finite")
        return array

    def _call(self, function: Callable[..., ArrayLike] | None, what: str, *arguments: Any) -> ArrayLike:
        if function is None:
            raise ValueError(f"{self.name} has no {what}; it has {', '.join(self.hooks)}")
        return function(*arguments, length=self.length) if self.length else function(*arguments)

    def code_at(self, position: Any) -> Array:
        """The code that is added at a position, (model_dim,)."""
        return self._checked("embed", self._call(self._embed, "embed", position), (self.model_dim,), position)

    def bias_at(self, q_position: Any, k_position: Any) -> Array:
        """What is added to the scores of a query and a key, (heads,)."""
        values = self._call(self._bias, "bias", q_position, k_position)
        return self._checked("bias", values, (self.heads,), (q_position, k_position))

    def rotated_at(self, x: Array, position: Any, side: Side = "query") -> Array:
        """One vector (head_dim,) rotated."""
        function = self._rotate_key if side == "key" and self._rotate_key else self._rotate
        return self._checked("rotate", self._call(function, "rotate", x, position), (self.head_dim,), position)

    def matrix_at(self, position: Any, side: Side = "query") -> Array:
        """The rotation as a matrix, (head_dim, head_dim): rotate(x) is the matrix times x."""
        return np.stack([self.rotated_at(row, position, side) for row in np.eye(self.head_dim)], axis=1)

    def unrotated_at(self, x: Array, position: Any, side: Side = "query") -> Array:
        """One vector rotated back: the matrix of rotate is solved with."""
        return np.asarray(np.linalg.solve(self.matrix_at(position, side), x), np.float64)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Query and key where they are rotated differently, else one for both; none without a rotation."""
        if not self._rotate:
            return ()
        return ("query", "key") if self._rotate_key else ("query",)

    # ------------------------------------------------------------ arrays

    def _positions(self, given: ArrayLike | None, start: int, tokens: int) -> list[Any]:
        """One position per token, as functions take them."""
        if given is None:
            return [n if self.axes == 1 else (n,) * self.axes for n in range(start, start + tokens)]
        at = np.asarray(given)
        wanted = (tokens,) if self.axes == 1 else (tokens, self.axes)
        if at.shape != wanted:
            raise ValueError(f"{self.name}: positions have shape {at.shape}; needs {wanted}")
        rows: list[Any] = at.tolist()
        return rows if self.axes == 1 else [tuple(row) for row in rows]

    def _counted(self, positions: ArrayLike) -> list[Any]:
        """Positions as they are, or 0 to n - 1 for a number n."""
        given = np.asarray(positions)
        return list(self._positions(None, 0, int(given)) if given.ndim == 0 else self._positions(given, 0, len(given)))

    def embed(self, x: ArrayLike | None = None, positions: ArrayLike | None = None, *, start: int = 0) -> Array:
        """x (..., tokens, model_dim) with codes added; without x the codes of positions, (tokens, model_dim)."""
        if x is None:
            if positions is None:
                raise ValueError(f"{self.name}: embed needs x, or positions for the codes alone")
            return np.stack([self.code_at(at) for at in self._counted(positions)])
        values = np.asarray(x, np.float64)
        return values + np.stack([self.code_at(at) for at in self._positions(positions, start, values.shape[-2])])

    def bias(self, queries: ArrayLike, keys: ArrayLike | None = None) -> Array:
        """What is added to scores, (heads, queries, keys), by positions; a number n stands for 0 to n - 1."""
        rows = self._counted(queries)
        columns = rows if keys is None else self._counted(keys)
        return np.array([[self.bias_at(i, j) for j in columns] for i in rows]).transpose(2, 0, 1)

    def rotate(
        self,
        x: ArrayLike,
        positions: ArrayLike | None = None,
        *,
        start: int = 0,
        side: Side = "query",
        layout: Layout = "bthd",
    ) -> Array:
        """Queries or keys, (batch, tokens, heads, dim), (tokens, heads, dim) or (tokens, dim), rotated."""
        return self._each(self.rotated_at, x, positions, start=start, side=side, layout=layout)

    def unrotate(self, x: ArrayLike, positions: ArrayLike | None = None, **options: Any) -> Array:
        """The same, rotated back. Options are those of rotate."""
        return self._each(self.unrotated_at, x, positions, **options)

    def _each(
        self,
        function: Callable[[Array, Any, Side], Array],
        x: ArrayLike,
        positions: ArrayLike | None,
        *,
        start: int = 0,
        side: Side = "query",
        layout: Layout = "bthd",
    ) -> Array:
        """A function of one vector, its position and its side, for every vector of x."""
        values = _by_token(x, layout)
        at = self._positions(positions, start, values.shape[-3])
        out = np.empty_like(values)
        for index in np.ndindex(values.shape[:-1]):
            out[index] = function(values[index], at[index[-2]], side)
        return _like(out, x, layout)

    def scores(
        self,
        q: ArrayLike,
        k: ArrayLike,
        *,
        softmax: bool = False,
        q_positions: ArrayLike | None = None,
        k_positions: ArrayLike | None = None,
        causal: bool = False,
        scale: float = 0.0,
        layout: Layout = "bthd",
    ) -> Array:
        """The input of the softmax, (batch, heads, queries, keys), -inf where hidden; softmax=True: its output.

        Keys are at 0, 1, ... and queries end where keys end, unless positions say otherwise.
        """
        queries, keys = _by_token(q, layout), _by_token(k, layout)
        rows, columns = queries.shape[-3], keys.shape[-3]
        i = self._positions(q_positions, columns - rows, rows)
        j = self._positions(k_positions, 0, columns)
        if self._rotate:
            queries, keys = self.rotate(queries, i), self.rotate(keys, j, side="key")
        keys = np.repeat(keys, self.heads // self.kv_heads, axis=-2)
        score = np.einsum("...ihd,...jhd->...hij", queries, keys) * (scale or self.scale)
        if self._bias:
            score = score + self.bias(i, j)
        if causal:
            score = np.where(np.tri(rows, columns, columns - rows, dtype=bool), score, -np.inf)
        return _softmax(score) if softmax else score

    def attention(self, q: ArrayLike, k: ArrayLike, v: ArrayLike, *, layout: Layout = "bthd", **options: Any) -> Array:
        """Attention of q, k and v with this encoding, in the shape of q. Options are those of scores."""
        values = np.repeat(_by_token(v, layout), self.heads // self.kv_heads, axis=-2)
        weights = self.scores(q, k, softmax=True, layout=layout, **options)
        return _like(np.einsum("...hij,...jhd->...ihd", weights, values), q, layout)

    def __getattr__(self, name: str) -> Any:
        if hasattr(Encoding, name) and not name.startswith("_"):
            raise _Lacks(f"a custom encoding has no {name}; it is functions of positions, and has {', '.join(METHODS)}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    # ------------------------------------------------------------ for people

    def __repr__(self) -> str:
        return f"Custom({self.name!r}, heads={self.heads}, head_dim={self.head_dim}, {', '.join(self.hooks)})"

    def _repr_html_(self) -> str:
        rows = [
            ("shape", f"{self.heads} heads of {self.head_dim}, model dimension {self.model_dim}"),
            ("acts on", ", ".join(self.hooks)),
            ("claims", ", ".join(self.claims)),
            ("parameters", str(self.parameters) if self.parameters else ""),
        ]
        return f"<h4><code>{html.escape(self.name)}</code>, an encoding of your own</h4>{table_html(rows)}"


def _by_token(x: ArrayLike, layout: Layout) -> Array:
    """An array as (..., tokens, heads, dim)."""
    values = np.asarray(x, np.float64)
    if values.ndim == 2:
        return values[:, None]
    return values.swapaxes(-3, -2) if layout == "bhtd" else values


def _like(values: Array, x: ArrayLike, layout: Layout) -> Array:
    """(..., tokens, heads, dim) in the order of x."""
    if np.ndim(x) == 2:
        return values[:, 0]
    return values.swapaxes(-3, -2) if layout == "bhtd" else values


def _softmax(score: Array) -> Array:
    most = score.max(axis=-1, keepdims=True)
    weights = np.exp(score - np.where(np.isfinite(most), most, 0))
    out: Array = weights / np.maximum(weights.sum(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    return out

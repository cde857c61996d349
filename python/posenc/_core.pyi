# SPDX-License-Identifier: MIT
from typing import Any, Literal, Self, TypedDict

from numpy import float32
from numpy.typing import ArrayLike, NDArray

__version__: str

Layout = Literal["bthd", "bhtd"]
Side = Literal["query", "key", "value", "output"]
Float = Literal["float32", "float16", "bfloat16", "float64"]
Blocks = Literal["q8_0", "q4_0"]

class Error(ValueError):
    status: str
    sentence: str

class TensorRow(TypedDict):
    name: str
    shape: tuple[int, ...]
    offset: int
    count: int
    about: str
    min: float
    max: float

class PairRow(TypedDict):
    x: int
    y: int
    x_out: int
    y_out: int
    axis: int
    frequency: float
    phase: float

class EncodingRow(TypedDict):
    name: str
    summary: str
    formula: str
    paper: str
    arxiv: str
    models: str
    examples: list[str]

def encodings() -> list[EncodingRow]: ...
def set_threads(threads: int, /) -> None: ...
def get_threads() -> int: ...

class Encoding:
    def __new__(
        cls,
        spec: str,
        *,
        heads: int = ...,
        head_dim: int = ...,
        kv_heads: int = ...,
        model_dim: int = ...,
        seed: int = ...,
    ) -> Self: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def spec(self) -> str: ...
    @property
    def heads(self) -> int: ...
    @property
    def kv_heads(self) -> int: ...
    @property
    def head_dim(self) -> int: ...
    @property
    def model_dim(self) -> int: ...
    @property
    def axes(self) -> int: ...
    @property
    def scale(self) -> float: ...
    @property
    def magnitude(self) -> float: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def hooks(self) -> list[str]: ...
    @property
    def claims(self) -> list[str]: ...
    @property
    def kernels(self) -> str: ...
    @property
    def gates(self) -> bool: ...
    @property
    def relative_dim(self) -> int: ...
    def tensors(self) -> list[TensorRow]: ...
    def pairs(self) -> list[PairRow]: ...
    def embed_width(self, width: int, /) -> int: ...
    def rotate(
        self,
        x: Any,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: Side = ...,
        out: Any = ...,
        layout: Layout = ...,
        params: Any = ...,
    ) -> Any: ...
    def unrotate(
        self,
        x: Any,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: Side = ...,
        out: Any = ...,
        layout: Layout = ...,
        params: Any = ...,
    ) -> Any: ...
    def rotate_back(
        self,
        x: Any,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: Side = ...,
        out: Any = ...,
        layout: Layout = ...,
        params: Any = ...,
    ) -> Any: ...
    def rotate_grad(
        self,
        dy: Any,
        x: Any,
        dparams: Any,
        *,
        positions: ArrayLike | None = ...,
        start: ArrayLike | None = ...,
        side: Side = ...,
        layout: Layout = ...,
        params: Any = ...,
    ) -> None: ...
    def table(
        self, positions: ArrayLike, *, side: Side = ..., dtype: Float = ..., params: Any = ...
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def embed(
        self,
        x: Any = ...,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        out: Any = ...,
        dtype: Float = ...,
        params: Any = ...,
    ) -> Any: ...
    def embed_back(
        self,
        dy: Any,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        dparams: Any = ...,
        width: int = ...,
    ) -> Any: ...
    def bias(
        self,
        queries: ArrayLike,
        keys: ArrayLike | None = ...,
        *,
        stage: Literal["before", "after"] | None = ...,
        params: Any = ...,
    ) -> NDArray[float32]: ...
    def attention(
        self,
        q: Any,
        k: Any,
        v: Any,
        *,
        q_positions: ArrayLike | None = ...,
        k_positions: ArrayLike | None = ...,
        causal: bool = ...,
        align: Literal["end", "start", "position"] = ...,
        window: int = ...,
        first_keys: int = ...,
        keep: Any = ...,
        mask: Any = ...,
        keys_before: int = ...,
        keys_after: int = ...,
        q_lengths: ArrayLike | None = ...,
        k_lengths: ArrayLike | None = ...,
        q_offsets: ArrayLike | None = ...,
        k_offsets: ArrayLike | None = ...,
        padding: Literal["right", "left"] = ...,
        page_table: ArrayLike | None = ...,
        keys: int = ...,
        kv_dtype: Blocks | None = ...,
        sinks: Any = ...,
        soft_cap: float = ...,
        scale: float = ...,
        rotated: bool = ...,
        q_gates: Any = ...,
        k_gates: Any = ...,
        relative: Any = ...,
        params: Any = ...,
        layout: Layout = ...,
        exact: bool = ...,
        out: Any = ...,
        lse: Any = ...,
        scores: Any = ...,
        probabilities: Any = ...,
    ) -> Any: ...
    def attention_backward(self, q: Any, k: Any, v: Any, **options: Any) -> tuple[Any, Any, Any, Any, Any, Any]: ...
    def shift(
        self,
        k: Any,
        positions: ArrayLike,
        to: ArrayLike,
        *,
        page_table: ArrayLike | None = ...,
        dtype: Blocks | None = ...,
        layout: Layout = ...,
    ) -> Any: ...
    def rebase(
        self,
        k: Any,
        positions: ArrayLike,
        old: Encoding,
        *,
        page_table: ArrayLike | None = ...,
        dtype: Blocks | None = ...,
        layout: Layout = ...,
    ) -> Any: ...

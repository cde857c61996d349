# SPDX-License-Identifier: MIT
from typing import Any, Literal, Self, TypedDict, TypeVar, overload

from numpy import float32
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

__version__: str

_Layout = Literal["bthd", "bhtd"]
_Side = Literal["query", "key", "value", "output"]
_Float = Literal["float32", "float16", "bfloat16", "float64"]
_Blocks = Literal["q8_0", "q4_0"]
_Array = TypeVar("_Array")  # of NumPy, PyTorch or any other library with __dlpack__

class Error(ValueError):
    status: str
    sentence: str

class _TensorRow(TypedDict):
    name: str
    shape: tuple[int, ...]
    offset: int
    count: int
    about: str
    min: float
    max: float

class _PairRow(TypedDict):
    x: int
    y: int
    x_out: int
    y_out: int
    axis: int
    frequency: float
    phase: float

class _EncodingRow(TypedDict):
    name: str
    summary: str
    formula: str
    paper: str
    arxiv: str
    models: str
    examples: list[str]

def encodings() -> list[_EncodingRow]: ...
def set_threads(threads: int, /) -> None: ...
def get_threads() -> int: ...
def set_cuda_compiler(path: str, /) -> None: ...

@disjoint_base
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
    def __buffer__(self, flags: int, /) -> memoryview: ...  # from Python 3.12 on
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
    def counts_keys(self) -> bool: ...
    @property
    def gates(self) -> bool: ...
    @property
    def relative_dim(self) -> int: ...
    def tensors(self) -> list[_TensorRow]: ...
    def pairs(self) -> list[_PairRow]: ...
    def embed_width(self, width: int, /) -> int: ...
    def rotate(
        self,
        x: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: _Side = ...,
        out: _Array | None = ...,
        layout: _Layout = ...,
        params: Any = ...,
        stream: int | None = ...,
    ) -> _Array: ...
    def unrotate(
        self,
        x: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: _Side = ...,
        out: _Array | None = ...,
        layout: _Layout = ...,
        params: Any = ...,
        stream: int | None = ...,
    ) -> _Array: ...
    def rotate_back(
        self,
        x: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        side: _Side = ...,
        out: _Array | None = ...,
        layout: _Layout = ...,
        params: Any = ...,
        stream: int | None = ...,
    ) -> _Array: ...
    def rotate_qk(
        self,
        q: _Array,
        k: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        back: bool = ...,
        q_out: _Array | None = ...,
        k_out: _Array | None = ...,
        layout: _Layout = ...,
        params: Any = ...,
        stream: int | None = ...,
    ) -> tuple[_Array, _Array]: ...
    def rotate_grad(
        self,
        dy: Any,
        x: Any,
        dparams: Any,
        *,
        positions: ArrayLike | None = ...,
        start: ArrayLike | None = ...,
        side: _Side = ...,
        layout: _Layout = ...,
        params: Any = ...,
    ) -> None: ...
    def table(
        self, positions: ArrayLike, *, side: _Side = ..., dtype: _Float = ..., params: Any = ...
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @overload
    def embed(
        self,
        x: None = ...,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        out: NDArray[Any] | None = ...,
        dtype: _Float = ...,
        params: Any = ...,
    ) -> NDArray[Any]: ...
    @overload
    def embed(
        self,
        x: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        out: _Array | None = ...,
        dtype: _Float = ...,
        params: Any = ...,
    ) -> _Array: ...
    def embed_back(
        self,
        dy: _Array,
        positions: ArrayLike | None = ...,
        *,
        start: ArrayLike | None = ...,
        dparams: Any = ...,
        width: int | None = ...,
    ) -> _Array: ...
    def bias(
        self,
        queries: ArrayLike,
        keys: ArrayLike | None = ...,
        *,
        stage: Literal["before", "after"] | None = ...,
        params: Any = ...,
        q_gates: Any = ...,
        k_gates: Any = ...,
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
        keys: int | None = ...,
        kv_dtype: _Blocks | None = ...,
        sinks: Any = ...,
        soft_cap: float = ...,
        scale: float = ...,
        rotated: bool = ...,
        q_gates: Any = ...,
        k_gates: Any = ...,
        relative: Any = ...,
        params: Any = ...,
        layout: _Layout = ...,
        exact: bool = ...,
        out: Any = ...,
        lse: Any = ...,
        scores: Any = ...,
        probabilities: Any = ...,
        q_start: ArrayLike | None = ...,
        behind: int | None = ...,
        ahead: int | None = ...,
        work: Any = ...,
        stream: int | None = ...,
    ) -> Any: ...
    def attention_backward(
        self,
        q: _Array,
        k: Any,
        v: Any,
        *,
        out: _Array,
        lse: Any,
        dout: Any,
        dq: Any = ...,
        dk: Any = ...,
        dv: Any = ...,
        dmask: Any = ...,
        dparams: Any = ...,
        dsinks: Any = ...,
        dq_gates: Any = ...,
        dk_gates: Any = ...,
        drelative: Any = ...,
        piece: bool = ...,
        accumulate: bool = ...,
        **options: Any,
    ) -> tuple[_Array | None, _Array | None, _Array | None, _Array | None, _Array | None, _Array | None]: ...
    def shift(
        self,
        k: _Array,
        positions: ArrayLike,
        to: ArrayLike,
        *,
        page_table: ArrayLike | None = ...,
        dtype: _Blocks | None = ...,
        layout: _Layout = ...,
    ) -> _Array: ...
    def rebase(
        self,
        k: _Array,
        positions: ArrayLike,
        old: Encoding,
        *,
        page_table: ArrayLike | None = ...,
        dtype: _Blocks | None = ...,
        layout: _Layout = ...,
    ) -> _Array: ...

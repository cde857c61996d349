# SPDX-License-Identifier: MIT
"""posenc for PyTorch: rotation, embedding and attention with any encoding, as operators with gradients.

    pe = posenc.torch.Encoding("rope:theta=5e5", heads=8, head_dim=64)       # a module; learned parameters are its own
    out = pe.attention(q, k, v, causal=True)                                 # (batch, tokens, heads, dim)

Tensors may be on the CPU or on a CUDA device, all of a call on the same one; there the work is enqueued on PyTorch's
current stream.

The operators (``torch.ops.posenc.*``) work with torch.compile, fake tensors and autograd. Gradients of gradients and
vmap are refused with an error, except that a rotation can be differentiated any number of times with respect to its
vectors.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from . import _core
from ._encoding import Encoding as NumpyEncoding

__all__ = ["Encoding", "attention", "embed", "ring_attention", "ring_tokens", "rotate", "rotate_qk"]

Layout = Literal["bthd", "bhtd"]

# ---------------------------------------------------------------- CUDA's compiler


def _find_compiler() -> str | None:
    """PyTorch's own libnvrtc, where both came as packages from PyPI."""
    version = torch.version.cuda
    spec = importlib.util.find_spec("nvidia") if version else None
    if not version or spec is None or "POSENC_NVRTC" in os.environ:
        return None
    name = f"*/lib/libnvrtc.so.{version.partition('.')[0]}"
    found = (str(path) for folder in spec.submodule_search_locations or () for path in Path(folder).glob(name))
    return next(found, None)


if _compiler := _find_compiler():
    _core.set_cuda_compiler(_compiler)

# ---------------------------------------------------------------- encodings by name, since operators take text

_made: dict[str, NumpyEncoding] = {}


def _encoding(key: str) -> Any:
    """The encoding that a key stands for: spec and four sizes, separated by '|'."""
    found = _made.get(key)
    if found is None:
        spec, *sizes = key.rsplit("|", 4)
        heads, kv_heads, head_dim, model_dim = (int(size) for size in sizes)
        found = NumpyEncoding(spec, heads=heads, kv_heads=kv_heads, head_dim=head_dim, model_dim=model_dim)
        _made[key] = found
    return found


def key_of(e: _core.Encoding) -> str:
    """The text by which operators know an encoding."""
    key = f"{e.spec}|{e.heads}|{e.kv_heads}|{e.head_dim}|{e.model_dim}"
    if key not in _made:
        _encoding(key)
    return key


# ---------------------------------------------------------------- operators

# A call goes to the C module at once where nobody watches: plain tensors, no compiler, no mode, no transform. That
# costs 2 us; the registered operator, which everything else uses, costs 5 to 40. The C module computes where the
# tensors lie, on the CPU or on a CUDA device.

_library: Any = torch.library.Library("posenc", "DEF")  # type: ignore[no-untyped-call]
_TWICE = (
    "posenc has no gradient of a gradient of {}; use torch.no_grad() around it, or the eager attention of your model"
)


Function = Callable[..., Any]


class _Operator:
    """An operator for tensors of the CPU and of CUDA devices; under vmap it raises."""

    def __init__(
        self, name: str, schema: str, run: Function, fake: Function, setup: Function, backward: Function
    ) -> None:
        full = f"posenc::{name}"
        _library.define(f"{name}{schema}")
        _library.impl(name, run, "CPU")
        _library.impl(name, run, "CUDA")
        torch.library.register_fake(full, fake, lib=_library)
        torch.library.register_vmap(full, _no_vmap(name), lib=_library)
        torch.library.register_autograd(full, backward, setup_context=setup, lib=_library)
        self.op = getattr(torch.ops.posenc, name).default
        self.run = run
        self.tensors = schema.partition(") ->")[0].count("Tensor")  # they come first, but for a list of flags

        def forward(ctx: Any, *values: Any) -> Any:
            out = run(*values)
            setup(ctx, values, out)
            return tuple(out) if isinstance(out, list) else out  # autograd knows tuples only

        steps = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        self.function: Any = type(name, (torch.autograd.Function,), steps)

    def __call__(self, *arguments: Any) -> Any:
        way = _way([value for value in arguments[: self.tensors + 1] if isinstance(value, Tensor)])
        call = self.run if way == "call" else self.function.apply if way == "gradient" else self.op
        return call(*arguments)


_PLAIN = (Tensor, nn.Parameter)


def _way(tensors: Sequence[Tensor]) -> Literal["operator", "gradient", "call"]:
    """How tensors reach the C module: through the registered operator, through autograd, or at once."""
    if torch.compiler.is_dynamo_compiling():
        return "operator"
    if forward_ad._current_level >= 0:
        raise NotImplementedError("posenc has no forward-mode gradients (jvp); use backward()")
    if _watched():
        return "operator"
    wants = False
    for tensor in tensors:
        if type(tensor) not in _PLAIN or not (tensor.is_cpu or tensor.is_cuda):
            return "operator"
        wants = wants or tensor.requires_grad
    return "gradient" if wants and torch.is_grad_enabled() else "call"


def _inside(module: str, name: str, otherwise: Any) -> Any:
    """A function of torch._C, whose names may change: without it every call goes to the operator."""
    return getattr(getattr(torch._C, module, torch._C), name, lambda: otherwise)


_modes = _inside("", "_len_torch_dispatch_stack", 1)
_transforms = _inside("_functorch", "peek_interpreter_stack", 1)
_profiled = _inside("_autograd", "_profiler_enabled", True)


def _watched() -> bool:
    """Whether a mode, a transform (vmap, grad) or a profiler is to see the call."""
    return _modes() or _transforms() is not None or _profiled()


def _no_vmap(name: str) -> Function:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError(
            f"posenc.torch.{name} has no vmap; it takes a batch dimension: (batch, tokens, heads, dim)"
        )

    return refuse


def _no_twice(name: str) -> Function:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError(_TWICE.format(name))

    return refuse


def _dense(x: Tensor) -> Tensor:
    """The tensor with neighbours in its last dimension: nearly always itself."""
    return x if x.is_contiguous() or x.stride(-1) == 1 or x.shape[-1] < 2 else x.contiguous()


def _nothing(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """What an operator without a gradient keeps."""


def _like(x: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _stream(x: Tensor) -> int | None:
    """PyTorch's current stream on the tensor's device; None on the CPU."""
    return torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else None


# ---- rotation


def _rotate(
    x: Tensor, positions: Tensor | None, params: Tensor | None, key: str, start: int, side: str, layout: str, mode: str
) -> Any:
    e = _encoding(key)
    call = e.rotate if mode == "rotate" else e.rotate_back if mode == "back" else e.unrotate
    if positions is None:
        return call(_dense(x), None, start=start, side=side, layout=layout, params=params, stream=_stream(x))
    return call(_dense(x), positions, side=side, layout=layout, params=params, stream=_stream(x))


def _rotate_grad(
    dy: Tensor, x: Tensor, positions: Tensor | None, params: Tensor, key: str, start: int, side: str, layout: str
) -> Tensor:
    dparams = torch.zeros_like(params)
    begin = {"positions": positions} if positions is not None else {"start": start}
    _encoding(key).rotate_grad(_dense(dy), _dense(x), dparams, side=side, layout=layout, params=params, **begin)
    return dparams


def _rotate_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, positions, params, *rest = inputs
    ctx.save_for_backward(x if params is not None and params.requires_grad else None, positions, params)
    ctx.rest = rest


def _rotate_backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
    x, positions, params = ctx.saved_tensors
    key, start, side, layout, mode = ctx.rest
    dx = dparams = None
    if ctx.needs_input_grad[0]:
        other = {"rotate": "back", "back": "rotate"}.get(mode)
        if other is None:
            raise NotImplementedError("posenc.torch.rotate(inverse=True) has no gradient")
        dx = rotate_op(dy, positions, params, key, start, side, layout, other)
    if ctx.needs_input_grad[2]:
        if mode != "rotate":
            raise NotImplementedError(_TWICE.format("trained frequencies"))
        dparams = rotate_grad_op(dy, x, positions, params, key, start, side, layout)
    return dx, None, dparams, None, None, None, None, None


rotate_op = _Operator(
    "rotate",
    "(Tensor x, Tensor? positions, Tensor? params, str key, SymInt start, str side, str layout, str mode) -> Tensor",
    _rotate,
    lambda x, *_: _like(x),
    _rotate_setup,
    _rotate_backward,
)
rotate_grad_op = _Operator(
    "rotate_grad",
    "(Tensor dy, Tensor x, Tensor? positions, Tensor params, str key, SymInt start, str side, str layout) -> Tensor",
    _rotate_grad,
    lambda dy, x, positions, params, *_: torch.empty_like(params),
    _nothing,
    _no_twice("trained frequencies"),
)


def _rotate_qk(
    q: Tensor, k: Tensor, positions: Tensor | None, key: str, start: int, layout: str, back: bool
) -> tuple[Tensor, Tensor]:
    begin = {"positions": positions} if positions is not None else {"start": start}
    e = _encoding(key)
    both: tuple[Tensor, Tensor] = e.rotate_qk(
        _dense(q), _dense(k), back=back, layout=layout, stream=_stream(q), **begin
    )
    return both


def _rotate_qk_setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(inputs[2])
    ctx.rest = inputs[3:]


def _rotate_qk_backward(ctx: Any, dq: Tensor, dk: Tensor) -> tuple[Any, ...]:
    *rest, back = ctx.rest
    return (*rotate_qk_op(dq, dk, *ctx.saved_tensors, *rest, not back), None, None, None, None, None)


rotate_qk_op = _Operator(
    "rotate_qk",
    "(Tensor q, Tensor k, Tensor? positions, str key, SymInt start, str layout, bool back) -> (Tensor, Tensor)",
    _rotate_qk,
    lambda q, k, *_: (_like(q), _like(k)),
    _rotate_qk_setup,
    _rotate_qk_backward,
)


# ---- embedding


def _embed(x: Tensor, positions: Tensor | None, params: Tensor | None, key: str, start: int) -> Any:
    e = _encoding(key)
    if positions is None:
        return e.embed(_dense(x), start=start, params=params)
    return e.embed(_dense(x), positions, params=params)


def _embed_fake(x: Tensor, positions: Tensor | None, params: Tensor | None, key: str, start: int) -> Tensor:
    return x.new_empty((*x.shape[:-1], _encoding(key).embed_width(x.shape[-1])))


def _embed_back(
    dy: Tensor, positions: Tensor | None, params: Tensor | None, key: str, start: int, width: int
) -> tuple[Tensor, Tensor]:
    dparams = torch.zeros_like(params) if params is not None else dy.new_empty(0)
    begin = {"positions": positions} if positions is not None else {"start": start}
    wanted = dparams if params is not None else None
    dx = _encoding(key).embed_back(_dense(dy), dparams=wanted, width=width, **begin)
    return dx, dparams


def _embed_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, positions, params, key, start = inputs
    ctx.save_for_backward(positions, params)
    ctx.rest = key, start, x.shape[-1]


def _embed_backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
    positions, params = ctx.saved_tensors
    dx, dparams = embed_back_op(dy, positions, params, *ctx.rest)
    return dx, None, dparams if params is not None else None, None, None


embed_op = _Operator(
    "embed",
    "(Tensor x, Tensor? positions, Tensor? params, str key, SymInt start) -> Tensor",
    _embed,
    _embed_fake,
    _embed_setup,
    _embed_backward,
)
embed_back_op = _Operator(
    "embed_back",
    "(Tensor dy, Tensor? positions, Tensor? params, str key, SymInt start, SymInt width) -> (Tensor, Tensor)",
    _embed_back,
    lambda dy, positions, params, key, start, width: (
        dy.new_empty((*dy.shape[:-1], width)),
        dy.new_empty(0) if params is None else torch.empty_like(params),
    ),
    _nothing,
    _no_twice("embed"),
)


# ---- attention

# Tensors that an attention may have beside q, k and v, in the order of the operator's arguments. Those with a gradient
# come first.
_TRAINED = ("mask", "params", "sinks", "q_gates", "k_gates", "relative")
_GIVEN = ("q_positions", "k_positions", "keep", "q_lengths", "k_lengths", "q_offsets", "k_offsets", "page_table")
_NAMES = _TRAINED + _GIVEN
_INPUTS = "Tensor q, Tensor k, Tensor v, " + ", ".join(f"Tensor? {name}" for name in _NAMES)
_FIRST_OPTION = 3 + len(_NAMES)
_OPTIONS = {  # what else it takes: type in the schema
    "causal": "bool",
    "align": "str",
    "window": "SymInt",
    "first_keys": "SymInt",
    "padding": "str",
    "keys": "SymInt",
    "soft_cap": "float",
    "scale": "float",
    "rotated": "bool",
    "layout": "str",
}
_ARGUMENTS = f"{_INPUTS}, str key, " + ", ".join(f"{kind} {name}" for name, kind in _OPTIONS.items())


_DEVICE_TYPES = {  # as the GPU library reads them
    **dict.fromkeys(("q_lengths", "k_lengths", "q_offsets", "k_offsets"), torch.int64),
    **dict.fromkeys(("params", "sinks"), torch.float32),
}


def _attention_arguments(q: Tensor, k: Tensor, values: tuple[Any, ...]) -> tuple[NumpyEncoding, dict[str, Any]]:
    """The operator's arguments after v, as those of posenc.Encoding.attention, for which None is as not given."""
    at = len(_NAMES)  # of the key
    arguments = dict(zip((*_NAMES, *_OPTIONS), values[:at] + values[at + 1 :], strict=True))
    arguments["keys"] = arguments["keys"] or None
    e = _encoding(values[at])
    if q.is_cuda:
        _for_device(e, q, k, arguments)
    return e, arguments


def _for_device(e: NumpyEncoding, q: Tensor, k: Tensor, arguments: dict[str, Any]) -> None:
    """Changes arguments to the types that the GPU library reads, and adds what it cannot read from device memory."""
    arguments["stream"] = _stream(q)
    for name, dtype in _DEVICE_TYPES.items():
        if arguments[name] is not None:
            arguments[name] = arguments[name].to(dtype)
    lengths, ends = arguments["k_lengths"], arguments["padding"] == "right"
    alone = all(arguments[name] is None for name in ("q_positions", "q_lengths", "q_offsets"))
    if lengths is not None and ends and alone:  # queries are the last of each sequence's keys
        arguments["q_start"] = lengths - _tokens(q, arguments["layout"])
    if "bias" in e.hooks:
        arguments.update(_reach(q, k, arguments))


def _tokens(x: Tensor, layout: str) -> int:
    return x.shape[-2] if layout == "bhtd" or x.ndim == 2 else x.shape[-3]


def _reach(q: Tensor, k: Tensor, arguments: dict[str, Any]) -> dict[str, int]:
    """The largest distances between queries and keys, where the C module does not know them."""
    queries, keys = _tokens(q, arguments["layout"]), _tokens(k, arguments["layout"])
    q_at, k_at = arguments["q_positions"], arguments["k_positions"]
    arrays = any(at is not None and at.ndim for at in (q_at, k_at))
    if not arrays and "q_start" not in arguments:
        return {}
    if arrays and torch.cuda.is_current_stream_capturing():
        raise NotImplementedError(
            "positions are tensors and the encoding has a bias by distance: posenc reads the largest distance from "
            "them, which a CUDA graph cannot capture; needs positions as numbers, or none"
        )
    first_key, last_key = _ends(k_at, 0, keys)
    if "q_start" in arguments:  # the last query of a sequence is at its last key
        ahead = 0 if arguments["causal"] and arguments["align"] == "end" else queries
        return {"behind": max(keys - 1, keys - 1 - first_key, 0), "ahead": ahead + max(last_key - keys + 1, 0)}
    first, last = _ends(q_at, keys - queries, queries)
    return {"behind": max(last - first_key, last, 0), "ahead": max(last_key - first, 0)}


def _ends(positions: Tensor | None, start: int, tokens: int) -> tuple[int, int]:
    """The first and the last position; a tensor on a device is waited for."""
    if positions is not None and positions.ndim:
        low, high = torch.stack(torch.aminmax(positions)).tolist() if positions.numel() else (0, 0)
        return int(low), int(high)
    first = start if positions is None else int(positions)
    return first, first + tokens - 1


def _attention(q: Tensor, k: Tensor, v: Tensor, *values: Any, lse: bool = True) -> Any:
    e, arguments = _attention_arguments(q, k, values)
    return e.attention(_dense(q), _dense(k), _dense(v), lse=lse, **arguments)


def _attention_fake(q: Tensor, k: Tensor, v: Tensor, *values: Any) -> tuple[Tensor, Tensor]:
    out = q.new_empty((*q.shape[:-1], v.shape[-1]))
    return out, q.new_empty(q.shape[:-1], dtype=torch.float64 if q.dtype == torch.float64 else torch.float32)


def _attention_backward(
    dout: Tensor, out: Tensor, lse: Tensor, wanted: Sequence[bool], q: Tensor, k: Tensor, v: Tensor, *values: Any
) -> list[Tensor]:
    e, arguments = _attention_arguments(q, k, values)
    made: dict[str, Any] = {}
    for name, want in zip(_TRAINED, wanted[3:], strict=True):
        if want and name in ("mask", "params", "sinks"):
            made["d" + name] = torch.zeros_like(arguments[name], dtype=_sum_type(arguments[name].dtype))
    flags = {name: True for name, want in zip(("dq_gates", "dk_gates", "drelative"), wanted[6:], strict=True) if want}
    dq, dk, dv, dq_gates, dk_gates, drelative = e.attention_backward(
        _dense(q),
        _dense(k),
        _dense(v),
        out=out,
        lse=lse,
        dout=_dense(dout),
        dq=wanted[0],
        dk=wanted[1],
        dv=wanted[2],
        **arguments,
        **made,
        **flags,
    )
    all_of_them = [
        dq,
        dk,
        dv,
        made.get("dmask"),
        made.get("dparams"),
        made.get("dsinks"),
        dq_gates,
        dk_gates,
        drelative,
    ]
    none = q.new_empty(0)
    return [none.clone() if grad is None else grad for grad in all_of_them]


def _sum_type(dtype: torch.dtype) -> torch.dtype:
    """Sums over many tokens are kept in float32 at least."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def _attention_backward_fake(
    dout: Tensor, out: Tensor, lse: Tensor, wanted: Sequence[bool], q: Tensor, k: Tensor, v: Tensor, *values: Any
) -> list[Tensor]:
    trained = values[: len(_TRAINED)]
    grads: list[Tensor] = []
    for index, (tensor, want) in enumerate(zip((q, k, v, *trained), wanted, strict=True)):
        if not want or tensor is None:
            grads.append(q.new_empty(0))
        elif index in (3, 4, 5):
            grads.append(torch.empty_like(tensor, dtype=_sum_type(tensor.dtype), memory_format=torch.contiguous_format))
        else:
            grads.append(_like(tensor))
    return grads


def _attention_setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*output, *inputs[:_FIRST_OPTION])
    ctx.options = inputs[_FIRST_OPTION:]
    ctx.mark_non_differentiable(output[1])


def _attention_gradient(ctx: Any, dout: Tensor, dlse: Tensor | None) -> tuple[Any, ...]:
    out, lse, *tensors = ctx.saved_tensors
    count = 3 + len(_TRAINED)
    wanted = [bool(need) for need in ctx.needs_input_grad[:count]]
    grads = attention_backward_op(dout, out, lse, wanted, *tensors, *ctx.options)
    kept = [grad.to(tensor.dtype) if want else None for grad, tensor, want in zip(grads, tensors, wanted, strict=False)]
    return (*kept, *(None for _ in _GIVEN), *(None for _ in ctx.options))


attention_op = _Operator(
    "attention",
    f"({_ARGUMENTS}) -> (Tensor, Tensor)",
    _attention,
    _attention_fake,
    _attention_setup,
    _attention_gradient,
)
attention_backward_op = _Operator(
    "attention_backward",
    f"(Tensor dout, Tensor out, Tensor lse, bool[] wanted, {_ARGUMENTS}) -> Tensor[]",
    _attention_backward,
    _attention_backward_fake,
    _nothing,
    _no_twice("attention"),
)

# ---------------------------------------------------------------- functions


def _key_and_params(encoding: Any, like: Tensor) -> tuple[str, Tensor | None]:
    """The text by which operators know an encoding, and its learned parameters in one row, None: there are none. Those
    of a posenc.Encoding are copied to the device of `like`."""
    if isinstance(encoding, str):
        if encoding.count("|") < 4:  # no key
            raise TypeError(f"{encoding!r} has no shape; needs posenc.Encoding({encoding!r}, heads=..., head_dim=...)")
        return encoding, None
    if isinstance(encoding, Encoding):
        return encoding.key, encoding.flat
    if not isinstance(encoding, _core.Encoding):
        raise TypeError(f"{encoding!r} is no encoding; needs posenc.Encoding(...) or posenc.torch.Encoding(...)")
    own = torch.frombuffer(encoding, dtype=torch.float32) if memoryview(encoding) else None
    return key_of(encoding), own.to(like.device) if own is not None and like.is_cuda else own


def _tensor(value: Any, like: Tensor) -> Tensor | None:
    """A tensor as it is, or one of a list or an array on the device of `like`, or of a number; None: not given."""
    if value is None or isinstance(value, Tensor):
        return value
    made = torch.as_tensor(np.asarray(value))
    return made.to(like.device) if made.ndim else made


def _positions(given: Any, like: Tensor) -> Tensor | None:
    at = _tensor(given, like)
    if at is not None and at.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError("posenc has no gradient of positions; needs positions.detach()")
    return at


def rotate(
    x: Tensor,
    encoding: Any,
    positions: Any = None,
    *,
    start: int = 0,
    side: Literal["query", "key", "value", "output"] = "query",
    layout: Layout = "bthd",
    params: Tensor | None = None,
    inverse: bool = False,
) -> Tensor:
    """Queries or keys rotated by their positions: an array, or start, start + 1, and so on."""
    key, own = _key_and_params(encoding, x)
    mode = "inverse" if inverse else "rotate"
    at = _positions(positions, x)
    out: Tensor = rotate_op(x, at, own if params is None else params, key, start, side, layout, mode)
    return out


def rotate_qk(
    q: Tensor, k: Tensor, encoding: Any, positions: Any = None, *, start: int = 0, layout: Layout = "bthd"
) -> tuple[Tensor, Tensor]:
    """Queries and keys of the same tokens, rotated in one call; in two, where the encoding has learned parameters."""
    key, own = _key_and_params(encoding, q)
    if own is not None:
        turned = rotate(q, encoding, positions, start=start, layout=layout)
        return turned, rotate(k, encoding, positions, start=start, side="key", layout=layout)
    both: tuple[Tensor, Tensor] = rotate_qk_op(q, k, _positions(positions, q), key, start, layout, False)
    return both


def embed(x: Tensor, encoding: Any, positions: Any = None, *, start: int = 0, params: Tensor | None = None) -> Tensor:
    """x with the codes of its positions added, or appended where the spec says join=concat."""
    key, own = _key_and_params(encoding, x)
    out: Tensor = embed_op(x, _positions(positions, x), own if params is None else params, key, start)
    return out


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Any,
    *,
    causal: bool = False,
    align: Literal["end", "start", "position"] = "end",
    window: int = 0,
    first_keys: int = 0,
    padding: Literal["right", "left"] = "right",
    keys: int = 0,
    soft_cap: float = 0.0,
    scale: float = 0.0,
    rotated: bool = False,
    layout: Layout = "bthd",
    params: Tensor | None = None,
    lse: bool = False,
    **tensors: Any,
) -> Any:
    """Fused attention with any encoding; q and k are rotated inside, as the encoding says. Under autocast q, k and v
    are converted to its type.

    tensors: mask (added to scores), keep (bool), sinks, q_gates, k_gates, relative, q_positions, k_positions,
    q_lengths, k_lengths, q_offsets, k_offsets, page_table; see posenc.Encoding.attention.
    """
    key, own = _key_and_params(encoding, q)
    params = own if params is None else params
    place = "cuda" if q.is_cuda else "cpu"
    if torch.is_autocast_enabled(place) and q.dtype != torch.float64:
        low = torch.get_autocast_dtype(place)
        q, k, v = q.to(low), k.to(low), v.to(low)
    given = _attention_tensors(tensors, q) if tensors else []
    alone = _way([q, k, v, *given] if params is None else [q, k, v, params, *given]) == "call"
    if alone and not given:
        return _encoding(key).attention(
            _dense(q),
            _dense(k),
            _dense(v),
            causal=causal,
            align=align,
            window=window,
            first_keys=first_keys,
            padding=padding,
            keys=keys or None,
            soft_cap=soft_cap,
            scale=scale,
            rotated=rotated,
            params=params if params is None or q.is_cpu else params.float(),
            layout=layout,
            lse=lse,
            stream=_stream(q),
        )
    tensors["params"] = params
    options = (causal, align, window, first_keys, padding, keys, soft_cap, scale, rotated, layout)
    values = (*(tensors.get(name) for name in _NAMES), key, *options)
    if alone:
        return _attention(q, k, v, *values, lse=lse)
    both = attention_op(q, k, v, *values)
    return both if lse else both[0]


def _attention_tensors(tensors: dict[str, Any], q: Tensor) -> list[Tensor]:
    """Checks the tensors of an attention, makes those of lists, and lists them."""
    for name, value in tensors.items():
        if name not in _NAMES:
            raise TypeError(f"attention() has no argument {name!r}")
        tensors[name] = _positions(value, q) if name.endswith("positions") else _tensor(value, q)
    return [value for value in tensors.values() if value is not None]


class Encoding(nn.Module):
    """An encoding as a module: its learned parameters are nn.Parameters, under the names that posenc gives them."""

    def __init__(
        self, spec: str, *, heads: int, head_dim: int, kv_heads: int = 0, model_dim: int = 0, seed: int = 0
    ) -> None:
        super().__init__()
        e = NumpyEncoding(spec, heads=heads, head_dim=head_dim, kv_heads=kv_heads, model_dim=model_dim, seed=seed)
        self.spec = e.spec
        self.heads, self.kv_heads, self.head_dim, self.model_dim = e.heads, e.kv_heads, e.head_dim, e.model_dim
        self.hooks = e.hooks
        self.key = key_of(e)
        self.names = [name.replace(".", "_").replace("-", "_") for name in e.params]
        for name, values in zip(self.names, e.params.values(), strict=True):
            self.register_parameter(name, nn.Parameter(torch.tensor(values)))

    @property
    def flat(self) -> Tensor | None:
        """All learned parameters in one row, as the operators take them; None: there are none."""
        if not self.names:
            return None
        parts = [getattr(self, name).reshape(-1) for name in self.names]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def rotate(self, x: Tensor, positions: Any = None, **options: Any) -> Tensor:
        """Queries or keys rotated by their positions."""
        return rotate(x, self, positions, **options)

    def rotate_qk(self, q: Tensor, k: Tensor, positions: Any = None, **options: Any) -> tuple[Tensor, Tensor]:
        """Queries and keys of the same tokens, rotated in one call."""
        return rotate_qk(q, k, self, positions, **options)

    def embed(self, x: Tensor, positions: Any = None, *, start: int = 0) -> Tensor:
        """x with the codes of its positions."""
        return embed(x, self, positions, start=start)

    def attention(self, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Any:
        """Fused attention with this encoding."""
        return attention(q, k, v, self, **options)

    def scores(self, q: Tensor, k: Tensor, **options: Any) -> Tensor:
        """The input of the softmax, as posenc.Encoding.scores has it; it has no gradient."""
        flat = self.flat
        scores: Tensor = _encoding(self.key).scores(q, k, params=None if flat is None else flat.detach(), **options)
        return scores

    def forward(self, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Any:
        """The same as attention."""
        return attention(q, k, v, self, **options)

    def extra_repr(self) -> str:
        """What print shows."""
        return repr(_encoding(self.key)).removeprefix("Encoding(").removesuffix(")")


from ._ring import ring_attention, ring_tokens  # noqa: E402  (it is written with the operators above)

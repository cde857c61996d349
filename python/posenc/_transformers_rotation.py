# SPDX-License-Identifier: MIT
# pyright: basic
"""Rotation of transformers' models by posenc: exact tables of cosines and sines, and posenc.torch.rotate."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from . import torch as posenc_torch
from ._core import Error
from ._transformers_base import before, key_for

_ROTARY_FUNCTION = re.compile(r"apply_\w*(rotary|rope)\w*")
_NOT_ROTATION = re.compile(r",?(temperature|floor|shift|softmax|turn)=[^,+]*")  # keys that models apply elsewhere
_PROBES = 48  # positions at which a model's tables are compared with posenc's


def rotations_of(spec: str) -> list[str]:
    """The rotations of a spec, without what models apply elsewhere."""
    parts = [part for part in spec.split("+") if part.partition(":")[0] == "rope"]
    return [_NOT_ROTATION.sub("", part).replace(":,", ":").removesuffix(":") for part in parts if "dims=0" not in part]


@dataclass(frozen=True)
class _Columns:
    """Which pair each column of a model's table belongs to."""

    kind: str  # "each": one column per pair; "halves": 0 1 2 0 1 2; "neighbours": 0 0 1 1 2 2
    still: int  # pairs at the end that are not rotated
    sign: int  # of the sines

    def spread(self, table: Tensor, still: float) -> Tensor:
        """(..., pairs) as (..., columns)."""
        if self.still:
            table = nn.functional.pad(table, (0, self.still), value=still)
        if self.kind == "halves":
            return torch.cat((table, table), -1)
        return table.repeat_interleave(2, -1) if self.kind == "neighbours" else table


@dataclass(frozen=True)
class _Match:
    """A rotation of posenc that equals a table of the model."""

    spec: str
    head_dim: int
    axes: int
    pairs: tuple[tuple[int, int, int], ...]  # elements: the first one, and where it and the second one are written
    columns: _Columns
    dtype: torch.dtype  # of the module's tables


@dataclass
class Rotary:
    """The rotations that a model may have, and what was found out about its modules and functions."""

    shapes: dict[str, int]  # head_dim by spec
    verdicts: dict[tuple[str, str, int, int, bool], int | None] = field(default_factory=dict)  # see _verdict
    exact: dict[str, str] = field(default_factory=dict)  # spec by rotary module, with the layer type
    kept: dict[str, str] = field(default_factory=dict)  # reason by rotary module

    def note(self, place: str, module: nn.Module, match: _Match | None) -> None:
        """Says of one rotary module what replaces it."""
        floats = [buffer for buffer in module.buffers() if buffer.is_floating_point()]
        narrow = [str(buffer.dtype) for buffer in floats if buffer.itemsize < 4]
        if match is not None:
            self.exact[place] = match.spec
        elif narrow:
            self.kept[place] = f"its frequencies are {narrow[0]}; load the model with dtype= instead of converting it"
        else:
            self.kept[place] = "its cosines and sines are those of no encoding that model.config gives"


@dataclass(frozen=True)
class _Rotation:
    """What a table of cosines and sines was computed from; it travels with the table."""

    rotary: Rotary
    spec: str
    positions: Tensor  # (batch or 1, tokens) or (batch or 1, tokens, axes)


def _coordinates(position_ids: Tensor, axes: int) -> Tensor | None:
    """Positions as posenc takes them: (batch, tokens), or (batch, tokens, axes) for several axes; None: neither."""
    if axes == 1:
        return position_ids if position_ids.dim() == 2 else None
    if position_ids.dim() == 2:
        return position_ids[..., None].expand(*position_ids.shape, axes)
    return position_ids.movedim(0, -1) if position_ids.shape[0] == axes else None


def _tables(match: _Match, spec: str, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Exact cosines and sines, (batch, tokens, columns), in float32: the vector (1, 0) of every pair, rotated."""
    first, cosines, sines = (list(elements) for elements in zip(*match.pairs, strict=True))
    ones = torch.zeros(match.head_dim, device=positions.device)
    ones[first] = 1.0
    vectors = ones.expand(*positions.shape[:2], 1, match.head_dim)
    rotated = posenc_torch.rotate(vectors, key_for(spec, 1, 1, match.head_dim), positions)[:, :, 0]
    columns = match.columns
    return columns.spread(rotated[..., cosines], 1.0), columns.sign * columns.spread(rotated[..., sines], 0.0)


def _as_pair(tables: Any) -> tuple[Tensor, Tensor] | None:
    """The cosines and sines in what a rotary module returns."""
    if isinstance(tables, Tensor) and tables.is_complex():
        return tables.real, tables.imag
    if isinstance(tables, tuple) and len(tables) == 2 and all(isinstance(table, Tensor) for table in tables):
        return tables
    return None


def _probes(module: nn.Module, position_ids: Tensor) -> Tensor:
    """Positions within the trained length, different in every axis, shaped like position_ids with a batch of 1."""
    limit = getattr(module, "original_max_seq_len", _PROBES)
    count = min(_PROBES, limit) if isinstance(limit, int) else _PROBES
    along = torch.arange(count, device=position_ids.device).expand(*position_ids.shape[:-2], 1, -1)
    if position_ids.dim() < 3:
        return along
    factors = torch.arange(1, position_ids.shape[0] + 1, device=position_ids.device)
    return (along * factors[:, None, None]) % count


def _candidates(rotary: Rotary, probes: Tensor, width: int, dtype: torch.dtype) -> Iterator[tuple[_Match, Tensor]]:
    """Every way in which a table of this width could be that of an encoding, with the positions of the probes."""
    for spec, read in rotary.shapes.items():
        for head_dim in dict.fromkeys((read, width)):  # some layers have heads of another width than the config says
            try:
                encoding = posenc_torch._encoding(key_for(spec, 1, 1, head_dim))
            except Error:
                continue
            positions = _coordinates(probes, encoding.axes)
            pairs = tuple((pair["x"], pair["x_out"], pair["y_out"]) for pair in encoding.pairs())
            for columns in _column_orders(width, len(pairs)):
                if positions is not None and pairs:
                    yield _Match(spec, head_dim, encoding.axes, pairs, columns, dtype), positions


def _column_orders(width: int, pairs: int) -> Iterator[_Columns]:
    for kind, per_pair in (("halves", 2), ("neighbours", 2), ("each", 1)):
        still = width // per_pair - pairs
        if width % per_pair == 0 and still >= 0:
            yield _Columns(kind, still, 1)
            yield _Columns(kind, still, -1)


def _find(
    rotary: Rotary, module: nn.Module, x: Tensor, position_ids: Tensor, others: Mapping[str, Any]
) -> _Match | None:
    """The rotation of posenc whose tables equal the module's."""
    probes = _probes(module, position_ids)
    module = copy.deepcopy(module)  # some remember the longest sequence that they saw
    forward = before(module, "forward")
    own = _as_pair(forward(x.new_zeros(1, 1, 1, dtype=torch.float32), probes, **others))
    if own is None:
        return None
    made = forward(x.new_zeros(1, 1, 1), probes, **others)
    dtype = made.dtype if isinstance(made, Tensor) else made[0].dtype
    for match, positions in _candidates(rotary, probes, own[0].shape[-1], dtype):
        tables = _tables(match, _at_length(module, match.spec, probes, others.get("layer_type")), positions)
        if all(_close(ours, theirs, 5e-5) for ours, theirs in zip(tables, own, strict=True)):
            return match
    return None


def _close(a: Tensor, b: Tensor, tolerance: float) -> bool:
    """Whether two tensors differ by at most a part of the largest value of the second."""
    if a.shape != b.shape:
        return False
    if not a.numel():
        return True
    difference = (a.double() - b.double()).abs().max()
    return bool(difference <= tolerance * b.double().abs().max().clamp_min(1.0))


def exact_tables(self: Any, x: Tensor, position_ids: Tensor, layer_type: str | None = None, **others: Any) -> Any:
    """Replaces `forward` of a rotary module: the same tables, exact, with a note of where they come from."""
    if layer_type is not None:
        others["layer_type"] = layer_type
    match = _match_of(self, x, position_ids, others)
    positions = None if match is None else _coordinates(position_ids, match.axes)
    if match is None or positions is None:
        return before(self, "forward")(x, position_ids, **others)
    if "scaling=dynamic" in match.spec:
        before(self, "forward")(x, position_ids, **others)  # the module remembers the longest sequence
    spec = _at_length(self, match.spec, position_ids, layer_type)
    cos, sin = (table.to(x.device) for table in _tables(match, spec, positions))
    rotation = _Rotation(self._posenc_rotary, spec, positions)
    if match.dtype.is_complex:
        return _tagged(torch.complex(cos, sin).to(match.dtype), rotation)
    return _tagged(cos.to(match.dtype), rotation), _tagged(sin.to(match.dtype), rotation)


def _match_of(module: Any, x: Tensor, position_ids: Tensor, others: Mapping[str, Any]) -> _Match | None:
    """The rotation that replaces a module's, found at its first call."""
    found: dict[Any, _Match | None] = module._posenc_matches
    key = (x.dtype, position_ids.dim(), *others.values())
    if key not in found:
        with torch.no_grad():
            found[key] = _find(module._posenc_rotary, module, x, position_ids, others)
        place = " ".join([module._posenc_name, *map(str, others.values())])
        module._posenc_rotary.note(place, module, found[key])
    return found[key]


def _at_length(module: Any, spec: str, position_ids: Tensor, layer_type: str | None) -> str:
    """A spec for the sequence length that a module's frequencies are for, where they depend on it."""
    if "scaling=longrope" in spec:  # two sets of frequencies: up to the trained length, and past it
        trained = re.search(r"trained=(\d+)", spec)
        limit = int(trained[1]) if trained else 0
        length = limit + int(int(position_ids.max()) >= limit)
    elif "scaling=dynamic" in spec:
        prefix = "" if layer_type is None else f"{layer_type}_"
        length = int(getattr(module, f"{prefix}max_seq_len_cached", module.max_seq_len_cached))
    else:
        return spec
    return re.sub(r",length=\d+", "", spec) + f",length={length}"


def _tagged(table: Tensor, rotation: _Rotation) -> Tensor:
    table._posenc_rotation = rotation  # type: ignore[attr-defined]
    return table


# ---- the functions that apply tables

_functions: dict[tuple[ModuleType, str], tuple[Any, int]] = {}  # the function before, and how many models replace it
_now: list[_Rotation] = []  # the rotation of the attention module that runs, for models without a rotary module


def _rotation_function(original: Any) -> Callable[..., Any]:
    """Replaces a function of a model's file that rotates queries and keys; for other models it changes nothing."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def apply(*args: Any, **named: Any) -> Any:
        rotation = _rotation_of((*args, *named.values()))
        if rotation is not None:
            call = signature.bind(*args, **named)
            call.apply_defaults()
            rotated = _rotated(original, rotation, call)
            if rotated is not None:
                return rotated
        return original(*args, **named)

    return apply


def _rotation_of(values: Sequence[Any]) -> _Rotation | None:
    """Where all tables among a function's arguments come from; None: they differ, or a model changed one (-sin)."""
    tables = [x for x in values if isinstance(x, Tensor) and x.dim() < 4 and (x.is_floating_point() or x.is_complex())]
    notes: list[_Rotation | None] = [getattr(table, "_posenc_rotation", None) for table in tables]
    if _now and not any(notes):
        return _now[-1]
    return notes[0] if notes and all(note is notes[0] for note in notes) else None


def _rotated(original: Any, rotation: _Rotation, call: inspect.BoundArguments) -> Any:
    """The result of a call, computed by posenc.torch.rotate; None where the model's function does something else."""
    vectors = [x for x in call.arguments.values() if isinstance(x, Tensor) and x.dim() == 4 and not x.is_complex()]
    tokens, axis = rotation.positions.shape[1], call.arguments.get("unsqueeze_dim")
    if not vectors or len(vectors) > len(_SIDES):
        return None
    heads_first = axis == 1 if axis is not None else vectors[0].shape[1] != tokens
    if any(x.shape[2 if heads_first else 1] != tokens for x in vectors):
        return None
    verdicts, spec = rotation.rotary.verdicts, re.sub(r",length=\d+", "", rotation.spec)
    case = (f"{original.__module__}.{original.__name__}", spec, vectors[0].shape[-1], len(vectors), heads_first)
    if case not in verdicts:
        verdicts[case] = _verdict(original, rotation, call, vectors, heads_first)
    results = verdicts[case]
    if results is None:
        return None
    made = _rotate(rotation, vectors, heads_first)
    return made[0] if results == 0 else (*made, *[None] * (results - len(made)))


_SIDES = ("query", "key")


def _rotate(rotation: _Rotation, vectors: Sequence[Tensor], heads_first: bool) -> list[Tensor]:
    made = []
    for x, side in zip(vectors, _SIDES, strict=False):
        heads = x.shape[1 if heads_first else 2]
        key = key_for(rotation.spec, heads, heads, x.shape[-1])
        layout = "bhtd" if heads_first else "bthd"
        made.append(posenc_torch.rotate(x, key, rotation.positions, side=side, layout=layout))  # type: ignore[arg-type]
    return made


def _verdict(
    original: Any, rotation: _Rotation, call: inspect.BoundArguments, vectors: Sequence[Tensor], heads_first: bool
) -> int | None:
    """Whether posenc.torch.rotate gives what the function gives: the number of results, 0 for no tuple; None: no."""
    with torch.no_grad():
        theirs = original(*call.args, **call.kwargs)
        try:
            ours = _rotate(rotation, vectors, heads_first)
        except Error:  # the function rotates a part of a head that the spec cannot say
            return None
    given = theirs if isinstance(theirs, tuple) else (theirs,)
    known = [x for x in given if x is not None]
    tolerance = 2e-5 if vectors[0].dtype in (torch.float32, torch.float64) else 2e-2
    if len(known) != len(ours) or not all(_close(a, b, tolerance) for a, b in zip(ours, known, strict=True)):
        return None
    return len(given) if isinstance(theirs, tuple) else 0


def functions_of(model: nn.Module) -> set[tuple[ModuleType, str]]:
    """The functions of a model's files that rotate."""
    files = {sys.modules[type(module).__module__] for module in model.modules()}
    return {
        (file, name) for file in files if file.__name__.startswith(("transformers.", "transformers_modules."))
        for name, value in vars(file).items() if _ROTARY_FUNCTION.fullmatch(name) and callable(value)
    }  # fmt: skip


def replace_function(file: ModuleType, name: str) -> None:
    original, users = _functions.get((file, name), (None, 0))
    if not users:
        original = vars(file)[name]
        setattr(file, name, _rotation_function(original))
    _functions[file, name] = (original, users + 1)


def restore_function(file: ModuleType, name: str) -> None:
    original, users = _functions.pop((file, name))
    if users > 1:
        _functions[file, name] = (original, users - 1)
    else:
        setattr(file, name, original)


# ---- attention modules that compute their tables themselves (GPT-J, CodeGen)

OWN_TABLES = ("GPTJAttention", "CodeGenAttention")


def note_positions(module: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    rotary: Rotary = module._posenc_rotary
    if named.get("position_ids") is not None and len(rotary.shapes) == 1:
        _now.append(_Rotation(rotary, next(iter(rotary.shapes)), named["position_ids"]))


def forget_positions(module: nn.Module, args: tuple[Any, ...], result: Any) -> None:
    if _now:
        _now.pop()

# SPDX-License-Identifier: MIT
"""posenc.check(model): what a model's own modules compute for positions, against what its config says."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from . import _check_bias, _tool, _verbs
from ._encoding import Encoding

Row = dict[str, Any]
Config = Mapping[str, Any]
Arrays = Mapping[str, Tensor]

NEAR = (*range(8), 15, 16, 31, 63, 100, 255, 511, 1023, 2047, 4095)  # where float32 angles are good enough
FIRST = 32  # positions whose float32 angles no tolerance has to allow for
GRID = tuple((row, column) for row in range(4) for column in range(5))
TABLE = "embed_positions"  # of GPT-J's and CodeGen's attention: sines, then cosines, a row per position
HEADS = 2  # of the vectors that a model's function rotates


@dataclass
class Rotary:
    """A rotary module of a model: where it is, the module with its config above it, its tables by kind of layer."""

    path: str
    module: nn.Module
    owner: str
    config: Config
    kinds: list[str]


# ---------------------------------------------------------------- what there is to check


def _config_of(model: nn.Module, path: str, given: Config | None) -> tuple[str, Config]:
    """The nearest module above ``path`` that has a config, and that config."""
    names = path.split(".")
    for depth in range(len(names) - 1, -1, -1):
        owner = ".".join(names[:depth])
        config = getattr(model.get_submodule(owner), "config", None)
        if config is not None and hasattr(config, "to_dict"):
            return owner, given or config.to_dict()
    if given is None:
        raise _tool.ToolError("input", f"{path} has no config above it; give config=, a dictionary as in a config.json")
    return "", given


def _rotaries(model: nn.Module, given: Config | None) -> Iterator[Rotary]:
    for path, module in _check_bias.modules_of(model).items():
        buffers: list[str] = [name for name, _ in module.named_buffers(recurse=False) if name.endswith("inv_freq")]
        kinds = [name.removesuffix("_inv_freq") for name in buffers if "original" not in name and name != "inv_freq"]
        if torch.is_tensor(getattr(module, TABLE, None)):
            yield Rotary(path, module, path, _config_of(model, path, given)[1], [])
        elif buffers and path and re.search("rot|rope", type(module).__name__, re.IGNORECASE):
            yield Rotary(path, module, *_config_of(model, path, given), kinds)


def _explained(config: Config, path: str, length: int | None) -> dict[str, Any]:
    """The part of a model that a module belongs to: by its name, or the only one."""
    parts: list[dict[str, Any]] = _verbs.explain(config, length=length)["parts"]
    named = [part for part in parts if part["name"] and part["name"] in path]
    return (named or parts)[0]


def _encodings(part: Mapping[str, Any]) -> dict[int, Encoding]:
    """Those of the layers that rotate."""
    found: dict[int, Encoding] = {}
    for group in part["groups"]:
        if "rotation" in group:
            shape = {name: group[name] for name in ("heads", "kv_heads", "head_dim", "model_dim")}
            made = Encoding(group["spec"], **shape)
            found.update(dict.fromkeys(group["layers"], made))
    return found


# ---------------------------------------------------------------- the model's own functions


def _rotating_function(module: nn.Module, interleaved: bool) -> Callable[..., Any] | None:
    """The function beside an attention class that its forward rotates with."""
    forward = inspect.unwrap(type(module).forward)
    code = getattr(forward, "__code__", None)
    names = [name for name in code.co_names if re.search("rotary|rope", name)] if code else []
    found = {name: forward.__globals__[name] for name in names if callable(forward.__globals__.get(name))}
    usable = [name for name, one in found.items() if _tables_of(one)]
    usable.sort(key=lambda name: ("interleave" in name) != interleaved)
    return found[usable[0]] if usable else None


def _tables_of(function: Callable[..., Any]) -> set[str]:
    """How a function takes its tables: as cos and sin, or as complex numbers; empty: it does not rotate."""
    names = set(inspect.signature(function).parameters)
    return {"cos", "sin"} if {"cos", "sin"} <= names else {"freqs_cis"} & names


def _functions(model: nn.Module, rotary: Rotary) -> dict[int | None, Callable[..., Any]]:
    """{layer: function} of the attention modules that belong with a rotary module; None: of no known layer."""
    interleaved = bool(rotary.config.get("rope_interleave"))
    found: dict[int | None, Callable[..., Any]] = {}
    for module in model.get_submodule(rotary.owner).modules():
        function = _rotating_function(module, interleaved)
        if function:
            layer = getattr(module, "layer_idx", None)
            found.setdefault(layer, function)
            found.setdefault(None, function)
    return found


def _kinds(model: nn.Module, rotary: Rotary) -> dict[int, str]:
    """{layer: its table} of a module with several: by the kind of layer, or as its attention says (DeepSeek V4)."""
    if not rotary.kinds:
        return {}
    modules: list[Any] = list(model.get_submodule(rotary.owner).modules())
    own = [one for one in modules if hasattr(one, "rope_layer_type") and hasattr(one, "layer_idx")]
    said: dict[int, str] = {one.layer_idx: one.rope_layer_type for one in own}
    named: list[str] = rotary.config.get("layer_types") or []
    kinds = dict(enumerate(named)) | said
    return {layer: kind for layer, kind in kinds.items() if kind in rotary.kinds}


def _call(function: Callable[..., Any], vectors: Tensor, tables: Arrays) -> Tensor | None:
    """Keys (tokens, heads, dim) rotated by a function of q and k, or of one tensor; None: it does not take them."""
    parameters = inspect.signature(function).parameters
    both = not _tables_of(function) & set(list(parameters)[:2])
    tables = {name: table for name, table in tables.items() if name in parameters}
    for order in ((1, 0, 2), (0, 1, 2)):  # heads first, then tokens first; with a batch, then without
        for batch in (True, False):
            x = vectors.permute(order)
            given = {name: table[None] if batch else table for name, table in tables.items()}
            x = x[None] if batch else x
            try:
                out = function(x, x, **given)[1] if both else function(x, **given)
            except Exception:  # noqa: BLE001  # code of the model: another order may do
                continue
            if torch.is_tensor(out) and out.shape == x.shape:
                return (out[0] if batch else out).permute(order)
    return None


def _rotated(function: Callable[..., Any], encoding: Encoding, x: Tensor, tables: Arrays) -> Tensor | None:
    """The whole head; or, if the function takes no more, the elements that rotate, which attention splits off."""
    out = _call(function, x, tables)
    if out is None:
        first = min(pair["x"] for pair in encoding.pairs())
        end = first + 2 * len(encoding.pairs())
        part = _call(function, x[..., first:end].clone(), tables)
        out = None if part is None else torch.cat((x[..., :first], part, x[..., end:]), dim=-1)
    return out


def _tables(rotary: Rotary, kind: str | None, encoding: Encoding, positions: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin (tokens, width) of a copy of the module: some modules change with the longest sequence they see."""
    tokens = len(positions)
    if torch.is_tensor(rows := getattr(rotary.module, TABLE, None)):
        sin, cos = rows.cpu().float()[positions].chunk(2, dim=-1)
        return cos, sin
    module = copy.deepcopy(rotary.module).to("cpu").eval()
    more = {"layer_type": kind} if kind else {}
    pairs = len(encoding.pairs())
    for at in _arrangements(positions):
        out = module(torch.zeros(1, tokens, 8), at, **more)
        if torch.is_tensor(out) and out.is_complex():
            out = out.real, out.imag
        cos, sin = (table.reshape(-1, *table.shape[-2:])[0].float() for table in out)
        if len(cos) == tokens and cos.shape[1] in (pairs, 2 * pairs, encoding.head_dim):
            return cos, sin
    raise ValueError(f"cos is not {tokens} tokens by {pairs}, {2 * pairs} or {encoding.head_dim}")


def _arrangements(positions: Tensor) -> list[Tensor]:
    """Positions as rotary modules take them: with a batch; axes first; rows and columns, with a batch or without."""
    if positions.dim() == 1:
        return [positions[None]]
    return [positions[None], positions] if positions.shape[1] == 2 else [positions.T[:, None]]


# ---------------------------------------------------------------- comparison


def _positions(encoding: Encoding, trained: int | None, length: int | None) -> Tensor:
    """(tokens) or (tokens, axes), with different coordinates; up to ``length`` where that is given."""
    if encoding.axes == 2:
        return torch.tensor(GRID)
    within = torch.tensor([position for position in NEAR if position < (trained or NEAR[-1] + 1)])
    if length:
        within = torch.cat((within, torch.tensor([length - 1])))
    if encoding.axes == 1:
        return within
    return within[:, None] // (1 + torch.arange(encoding.axes))


def _check_arrays(encoding: Encoding, positions: Tensor, what: str, arrays: Arrays, **options: Any) -> Row:
    """What the tool finds. What it cannot name among all tokens it may among the first, whose angles are exact."""
    row = _found(encoding, positions, what, arrays, **options)
    if row["bug"] == "unknown":
        first = positions.reshape(len(positions), -1).amax(dim=1) < FIRST
        nearby = {name: values[first] for name, values in arrays.items()}
        named = _found(encoding, positions[first], what, nearby, **options)
        if named["verdict"] == "mismatch":
            row |= {name: named[name] for name in ("bug", "why", "fix")}
    return row


def _found(encoding: Encoding, positions: Tensor, what: str, arrays: Arrays, **options: Any) -> Row:
    """A row of what the tool says: "unknown" is a mismatch too; angles in float32, which all models have, are not."""
    found = _verbs.check(encoding.spec, positions=positions, side="key", allow="angles-float32", **arrays, **options)
    against: Row = found["against_spec"] or {}
    worst: Row = against.get("worst") or {}
    row: Row = {"what": what, "verdict": found["verdict"], "bug": found["bug"]}
    for key, text in (("why", "what"), ("fix", "fix")):
        row[key] = "; ".join(bug[text] for bug in found["bugs"]) or None
    if found["verdict"] == "unknown":
        row |= {"verdict": "mismatch", "bug": "unknown", "why": "no known bug explains the values"}
    elif found["allowed"]:
        row |= {"verdict": "ok", "bug": None, "why": None, "fix": None}
    return row | {"worst": worst.get("error"), "tolerance": worst.get("tolerance")}


def _compare(rotary: Rotary, encoding: Encoding, kind: str | None, function: Any, positions: Tensor) -> Row:
    """The rotation; without a function that rotates, the tables, which do not show how elements are paired."""
    try:
        cos, sin = _tables(rotary, kind, encoding, positions)
    except Exception as error:  # noqa: BLE001  # code of the model
        why = f"{type(rotary.module).__name__} did not run: {type(error).__name__}: {error}"
        nothing: Row = dict.fromkeys(("bug", "fix", "worst", "tolerance"))
        return nothing | {"what": "cos and sin", "verdict": "cannot-tell", "why": why}
    x = torch.randn(len(positions), HEADS, encoding.head_dim, generator=torch.Generator().manual_seed(0))
    arrays = {"cos": cos, "sin": sin, "freqs_cis": torch.complex(cos, sin), "position_ids": positions}
    out = _rotated(function, encoding, x, arrays) if function else None
    if out is not None:
        return _check_arrays(encoding, positions, "rotation", {"before": x, "after": out.float()})
    tables = {"cos": _per_pair(encoding, cos), "sin": _per_pair(encoding, sin) * _signs(encoding)}
    return _check_arrays(encoding, positions, "cos and sin", tables, head_dim=encoding.head_dim)


def _per_pair(encoding: Encoding, table: Tensor) -> Tensor:
    """(tokens, pairs) of a table with each number once, or twice: in halves, side by side, or at a pair's elements."""
    pairs = encoding.pairs()
    count, width = len(pairs), table.shape[1]
    if width == count:
        return table
    for once, again in ((table[:, : width // 2], table[:, width // 2 :]), (table[:, ::2], table[:, 1::2])):
        if width == 2 * count and torch.equal(once, again):
            return once
    first = 0 if width == encoding.head_dim else pairs[0]["x_out"]
    return table[:, [pair["x_out"] - first for pair in pairs]]


def _signs(encoding: Encoding) -> Tensor:
    """Modules compute sines of positive angles; what rotates the other way does so in its function."""
    return torch.tensor([-1.0 if pair["frequency"] < 0 else 1.0 for pair in encoding.pairs()])


def _lengths(config: Config, path: str, trained: int | None) -> list[int | None]:
    """Sequence lengths that the config computes differently: within the trained length, and twice that."""
    if not trained:
        return [None]
    specs = [
        [group["spec"] for group in _explained(config, path, length)["groups"]] for length in (trained, 2 * trained)
    ]
    return [None] if specs[0] == specs[1] else [None, 2 * trained]


def _trained_length(part: Mapping[str, Any], encoding: Encoding) -> int | None:
    original = re.search(r"trained=(\d+)", encoding.spec)
    return int(original[1]) if original else part["trained"]


def _check_rotary(model: nn.Module, rotary: Rotary) -> Iterator[Row]:
    functions, kinds = _functions(model, rotary), _kinds(model, rotary)
    part = _explained(rotary.config, rotary.path, None)
    trained = min((t for t in (_trained_length(part, e) for e in _encodings(part).values()) if t), default=None)
    inside = getattr(model.get_submodule(rotary.owner), "layer_idx", None)
    known: dict[Any, Row] = {}
    for length in _lengths(rotary.config, rotary.path, trained):
        near = min(trained or NEAR[-1] + 1, NEAR[-1] + 1)
        encodings = _encodings(_explained(rotary.config, rotary.path, length or near))
        for layer, encoding in encodings.items():
            if inside not in (None, layer) or (rotary.kinds and layer not in kinds):
                continue
            kind, function = kinds.get(layer), functions.get(layer, functions.get(None))
            key = encoding.spec, kind, function, length
            if key not in known:
                known[key] = _compare(rotary, encoding, kind, function, _positions(encoding, trained, length))
            yield {"layer": layer, "module": rotary.path, "spec": encoding.spec, "length": length} | known[key]


def _rows(model: nn.Module, rotary: Rotary) -> list[Row]:
    """Rows of a rotary module; none if its config has no rotation (Falcon with ALiBi); the reason if it is not read."""
    try:
        return list(_check_rotary(model, rotary))
    except _tool.ToolError as error:
        nothing: Row = dict.fromkeys(("layer", "spec", "length", "bug", "fix", "worst", "tolerance"))
        why = error.sentence.removeprefix("stdin: ")
        return [nothing | {"module": rotary.path, "what": "cos and sin", "verdict": "cannot-tell", "why": why}]


def _summary(rows: list[Row]) -> Row:
    """The verdict of the whole model: that of its worst row."""
    worst = min(rows, key=lambda row: ("mismatch", "cannot-tell", "ok").index(row["verdict"]))
    return {name: worst.get(name) for name in ("verdict", "bug", "why", "fix")}


def check_model(model: Any, *, config: Config | None = None) -> dict[str, Any]:
    """Runs a model's own rotary modules, ALiBi or T5 biases, and compares them with what its config says."""
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"check takes a spec, a model's file, a dictionary or a torch module; this is a {kind}")
    rows: list[Row] = []
    with torch.no_grad():
        for rotary in _rotaries(model, config):
            rows += _rows(model, rotary)
        rows += _check_bias.check_biases(model, config)
    if not rows:
        raise _tool.ToolError(
            "input",
            f"{type(model).__name__} has no rotary module, ALiBi or T5 bias that its config describes; "
            "check(spec, before=..., after=...) takes vectors of any code",
        )
    return {"verb": "check", "model": type(model).__name__} | _summary(rows) | {"layers": rows}

# SPDX-License-Identifier: MIT
"""The biases of a model for posenc.check(model): ALiBi as its layers receive it, and the tables of T5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from . import _tool, _verbs
from ._encoding import Encoding

Row = dict[str, Any]
Config = Mapping[str, Any]
Bias = NDArray[np.float64]

TOKENS = 40  # enough for T5's logarithmic buckets to differ
EXACT = 2e-6  # of the largest value: float32
BFLOAT16 = 2.0**-8  # Falcon multiplies slopes and positions in bfloat16


def modules_of(model: Any) -> dict[str, nn.Module]:
    """All modules by path."""
    return dict(model.named_modules())


def _spec_of(part: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Any]] | None:
    """The spec of the part's first layer with this encoding in it, without the others; and its group."""
    for group in part["groups"]:
        for one in (group["spec"] or "").split("+"):
            if one.partition(":")[0] == name:
                return one, group
    return None


def _encoding(spec: str, group: Mapping[str, Any]) -> Encoding:
    return Encoding(spec, heads=group["heads"], head_dim=group["head_dim"], kv_heads=group["kv_heads"])


def _with(spec: str, **keys: Any) -> str:
    """A spec with other values for some of its keys."""
    name, _, text = spec.partition(":")
    pairs: dict[str, Any] = dict(item.split("=", 1) for item in text.split(",") if item)
    return name + ":" + ",".join(f"{key}={value}" for key, value in (pairs | keys).items())


def _row(layer: int, module: str, spec: str, real: Bias, own: Bias, tolerance: float, bugs: Mapping[str, Any]) -> Row:
    """bugs: {name: (the bias that this bug would give, a sentence)}"""
    allowed = tolerance * float(np.max(np.abs(real)))
    worst = float(np.max(np.abs(real - own)))
    row: Row = {"layer": layer, "module": module, "spec": spec, "length": None, "what": "bias"}
    row |= {"verdict": "ok", "bug": None, "why": None, "fix": None, "worst": worst, "tolerance": allowed}
    if worst <= allowed:
        return row
    named = {"bias-missing": (np.zeros_like(own), "there is no bias")} | dict(bugs)
    for bug, (candidate, why) in named.items():
        if np.max(np.abs(real - candidate)) <= allowed:
            return row | {"verdict": "mismatch", "bug": bug, "why": why}
    return row | {"verdict": "mismatch", "bug": "unknown", "why": f"the bias differs by up to {worst:.3g}"}


# ---------------------------------------------------------------- ALiBi


def _from_last(rows: Any) -> Bias:
    """A row per head, up to a constant: softmax does not see it, and implementations differ in it."""
    values = np.asarray(rows, np.float64)
    return values - values[:, -1:]


def _alibi_rows(model: nn.Module, heads: int) -> dict[str, Bias]:
    """{path of a layer: (heads, keys)}: what layers get as alibi or position_bias in a forward of a few tokens."""
    seen: dict[str, Bias] = {}

    def record(path: str) -> Any:
        def hook(_module: nn.Module, _args: Any, kwargs: dict[str, Any]) -> None:
            value = kwargs.get("alibi", kwargs.get("position_bias"))
            if torch.is_tensor(value) and value.shape[-1] >= TOKENS:
                seen[path] = _from_last(value.float().cpu().reshape(heads, -1)[:, -TOKENS:])

        return hook

    layers = [(path, one) for path, one in modules_of(model).items() if getattr(one, "layer_idx", None) is not None]
    handles = [one.register_forward_pre_hook(record(path), with_kwargs=True) for path, one in layers]
    try:
        model(input_ids=torch.zeros(1, TOKENS, dtype=torch.int64, device=next(model.parameters()).device))
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _alibi_bugs(spec: str, group: Mapping[str, Any], own: Bias) -> dict[str, Any]:
    bugs = {"bias-sign": (-own, "the bias grows with distance; it must fall")}
    for convention in ("press", "falcon"):
        other = _alibi_row(_encoding(_with(spec, convention=convention), group))
        bugs[f"slopes-{convention}"] = (other, f"the slopes are those of convention={convention}")
    for largest in (4, 8, 16):
        other = _alibi_row(_encoding(_with(spec, max=largest), group))
        bugs[f"slopes-max-{largest}"] = (other, f"the slopes are those of alibi_bias_max {largest}")
    return bugs


def _alibi_row(encoding: Encoding) -> Bias:
    return _from_last(encoding.bias([TOKENS - 1], list(range(TOKENS)))[:, 0])


def _check_alibi(model: nn.Module, part: Mapping[str, Any]) -> Iterator[Row]:
    found = _spec_of(part, "alibi")
    if not found:
        return
    spec, group = found
    own = _alibi_row(_encoding(spec, group))
    tolerance = BFLOAT16 if "falcon" in spec else EXACT
    seen = _alibi_rows(model, group["heads"])
    for path, real in seen.items():
        layer: Any = model.get_submodule(path).layer_idx
        yield _row(layer, path, spec, real, own, tolerance, _alibi_bugs(spec, group, own))
    if not seen:
        nothing: Row = dict.fromkeys(("layer", "module", "length", "bug", "fix", "worst", "tolerance"))
        why = "no layer was given alibi= or position_bias= in a forward"
        yield nothing | {"spec": spec, "what": "bias", "verdict": "cannot-tell", "why": why}


# ---------------------------------------------------------------- T5


def _t5_bias(spec: str, group: Mapping[str, Any], table: Any) -> Bias:
    """Infinite where no such spec has this table."""
    try:
        encoding = _encoding(spec, group)
        encoding.params["table"][:] = table
        return encoding.bias(list(range(TOKENS))).astype(np.float64)
    except ValueError:  # posenc.Error, or NumPy's for another shape
        return np.full((group["heads"], TOKENS, TOKENS), np.inf)


def _t5_bugs(spec: str, group: Mapping[str, Any], table: Any) -> dict[str, Any]:
    bugs: dict[str, Any] = {}
    for direction in ("both", "causal"):
        other = _t5_bias(_with(spec, direction=direction), group, table)
        bugs[f"direction-{direction}"] = (other, f"the buckets are those of direction={direction}")
    for distance in (20, 32, 64, 128, 256, 512, 1024):
        other = _t5_bias(_with(spec, max=distance), group, table)
        bugs[f"distance-{distance}"] = (other, f"the buckets are those of relative_attention_max_distance {distance}")
    return bugs


def _check_t5(model: nn.Module, parts: list[dict[str, Any]]) -> Iterator[Row]:
    module: Any
    for path, module in modules_of(model).items():
        weight = getattr(getattr(module, "relative_attention_bias", None), "weight", None)
        if weight is None or not callable(getattr(module, "compute_bias", None)):
            continue
        named = [part for part in parts if part["name"] and part["name"] in path]
        found = _spec_of((named or parts)[0], "t5")
        if found:
            spec, group = found
            table = weight.detach().float().cpu().numpy()
            real = module.compute_bias(TOKENS, TOKENS)[0].double().cpu().numpy()
            own = _t5_bias(spec, group, table)
            layer = getattr(module, "layer_idx", None) or 0
            yield _row(layer, path, spec, real, own, EXACT, _t5_bugs(spec, group, table))


def check_biases(model: nn.Module, given: Config | None) -> list[Row]:
    """Rows of every ALiBi or T5 bias of a model whose config has one."""
    own: Any = getattr(model, "config", None)
    config = own.to_dict() if given is None and hasattr(own, "to_dict") else given
    if config is None:
        return []
    try:
        parts = _verbs.explain(config)["parts"]
    except _tool.ToolError:
        return []
    return [*_check_alibi(model, parts[0]), *_check_t5(model, parts)]

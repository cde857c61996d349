# SPDX-License-Identifier: MIT
"""The verbs of the tool that answer with data: what the tool prints with --json, as dictionaries."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _tool
from ._encoding import Encoding

if TYPE_CHECKING:
    from torch import nn

Source = str | PathLike[str] | Mapping[str, Any]


def _operand(source: Source | _core.Encoding) -> tuple[str, str | None]:
    """A file or a spec by name; a dictionary is a config.json and goes to stdin."""
    if isinstance(source, _core.Encoding):
        return source.spec, None
    to_dict = getattr(source, "to_dict", None)  # of a config of transformers
    if to_dict is not None:
        source = to_dict()
    if isinstance(source, Mapping):
        return "-", json.dumps(source)
    if not isinstance(source, str | PathLike):
        raise TypeError(f"a {type(source).__name__} names no model; needs a file, a spec, a config or its dictionary")
    return str(source), None


def explain(source: Source, **options: Any) -> dict[str, Any]:
    """What a model's files say of positions: a config.json (file or dictionary), GGUF, safetensors, or a folder.

    Options: layer, for_ ("vllm"), lenient, type, theta, head_dim, trained, length, pairs.
    """
    operand, stdin = _operand(source)
    return _tool.ask("explain", operand, stdin=stdin, **options)


def from_config(source: Source, *, part: str | None = None, **options: Any) -> list[Encoding | None]:
    """One encoding per layer of a model, from its config.json (file or dictionary) or other files; None: no encoding.

    ``part`` selects a part of a model that has several ("vision"); without it, the text model. Other options are those
    of explain.
    """
    described = explain(source, **options)
    parts = {row["name"]: row for row in described["parts"]}
    if part is None:
        part = next((name for name in ("", "text", "decoder") if name in parts), next(iter(parts)))
    if part not in parts:
        names = ", ".join(repr(name) for name in parts)
        raise _tool.ToolError("input", f"there is no part {part!r}; the file has {names}")
    layers: dict[int, Encoding | None] = {}
    for group in parts[part]["groups"]:
        made = None
        if group["spec"] and group["spec"] != "none":
            shape = {name: group[name] for name in ("heads", "kv_heads", "head_dim", "model_dim")}
            made = Encoding(group["spec"], **shape)
        layers.update(dict.fromkeys(group["layers"], made))
    return [layers[index] for index in sorted(layers)]


def diff(a: Source | _core.Encoding, b: Source | _core.Encoding, **options: Any) -> dict[str, Any]:
    """Whether two model files or specs compute the same, and where they differ. Options: at, ignore_layout, heads."""
    with tempfile.TemporaryDirectory() as folder:
        operands: list[str] = []
        for name, source in (("a", a), ("b", b)):
            operand, text = _operand(source)
            if text is not None:
                file = Path(folder, name, "config.json")
                file.parent.mkdir()
                file.write_text(text, encoding="utf-8")
                operand = str(file)
            operands.append(operand)
        return _tool.ask("diff", *operands, **options)


def extend(source: Source, to: int | str, **options: Any) -> dict[str, Any]:
    """A plan for a longer context: methods, what they cost, settings of engines. Options: method, for_, all."""
    operand, stdin = _operand(source)
    return _tool.ask("extend", operand, stdin=stdin, to=to, **options)


def prove(*claims: str, **options: Any) -> dict[str, Any]:
    """Measures claims ("order", "two-dogs") or properties of specs ("rope"). Options: properties, heads, head_dim."""
    return _tool.ask("prove", *claims, lang="en", **options)


def walk(spec: str | _core.Encoding, **options: Any) -> dict[str, Any]:
    """The arithmetic of one small case, step by step. Options: pos, key, dim, heads, head, seed."""
    return _tool.ask("walk", _operand(spec)[0], lang="en", **options)


def check(
    spec: Source | _core.Encoding | nn.Module,
    *,
    before: Any = None,
    after: Any = None,
    cos: Any = None,
    sin: Any = None,
    positions: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """Finds the bug in an implementation: vectors before and after its rotation, or its cos and sin, against a spec.

    Options: start, side, layer, allow, theta, head_dim, trained, length, pairs.

    ``check(model)`` runs the rotary modules, ALiBi or T5 biases of a torch model and compares them with its config, or
    with ``config=``. "verdict" is ok, mismatch or cannot-tell, "bug" names what is wrong, "layers" has a row per layer.
    """
    if not isinstance(spec, (str, PathLike, Mapping, _core.Encoding)):
        from ._check_model import check_model

        return check_model(spec, **options)
    vectors = {"before": before, "after": after, "cos": cos, "sin": sin}
    given = {name: values for name, values in vectors.items() if values is not None}
    if set(given) not in ({"before", "after"}, {"cos", "sin"}, {"cos"}):
        said = " and ".join(f"{name}=" for name in given) or "no vectors"
        raise _tool.ToolError(
            "usage", f"check got {said}; needs before= and after= of a rotation, or its cos= and sin="
        )
    with tempfile.TemporaryDirectory() as folder:
        operand, text = _operand(spec)
        if text is not None:
            Path(folder, "config.json").write_text(text, encoding="utf-8")
            operand = str(Path(folder, "config.json"))
        bf16 = bool(given) and all(_is_bfloat16(values) for values in given.values())
        if positions is not None:
            given["pos"] = positions
        for name, values in given.items():
            np.save(Path(folder, f"{name}.npy"), _as_saved(values, bf16 and name != "pos"))
            options[name] = Path(folder, f"{name}.npy")
        return _tool.ask("check", spec=operand, bf16=bf16, **options)


def _is_bfloat16(values: Any) -> bool:
    return str(getattr(values, "dtype", "")).endswith("bfloat16")


def _as_saved(values: Any, bf16: bool) -> Any:
    """An array that a .npy can hold: bfloat16 becomes float32, or, as --bf16 reads it, the bits of each number."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if _is_bfloat16(values) else values
    array = np.asarray(values)
    if _is_bfloat16(array):
        array = array.astype(np.float32)
    return (array.view(np.uint32) >> 16).astype(np.uint16) if bf16 else array

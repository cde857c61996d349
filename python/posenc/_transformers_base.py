# SPDX-License-Identifier: MIT
"""What posenc.transformers needs to replace methods of a model's modules and to put them back."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from torch import nn


def key_for(spec: str, heads: int, kv_heads: int, head_dim: int) -> str:
    """The text by which posenc.torch knows an encoding; torch.compile can trace it."""
    return f"{spec}|{heads}|{kv_heads}|{head_dim}|{heads * head_dim}"


def before(module: nn.Module, method: str) -> Callable[..., Any]:
    """A method as it was before it was replaced."""
    kept: dict[str, Callable[..., Any]] = module.__dict__["_posenc_before"]
    return kept.get(method) or MethodType(getattr(type(module), method), module)


def replace(module: nn.Module, method: str, replacement: Callable[..., Any]) -> None:
    kept = module.__dict__.setdefault("_posenc_before", {})
    if method in module.__dict__:
        kept[method] = module.__dict__[method]
    module.__dict__[method] = MethodType(replacement, module)


def restore(module: nn.Module, method: str) -> None:
    kept = module.__dict__["_posenc_before"]
    if method in kept:
        module.__dict__[method] = kept.pop(method)
    else:
        del module.__dict__[method]

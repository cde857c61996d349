# SPDX-License-Identifier: MIT
# pyright: basic
"""posenc inside models of the transformers library.

    import posenc.transformers
    state = posenc.transformers.enable(model)    # attention and rotation are now posenc's
    model(**batch)                               # the first batch is also computed with the model's own attention
    print(state)                                 # what was replaced, and the difference on that batch
    posenc.transformers.disable(model)           # the model is as before

A rotation is replaced in two steps. The tables of cosines and sines are computed exactly, from the encoding that
posenc.from_config reads in model.config. Then the function that applies them is replaced by posenc.torch.rotate where
both give the same result for the model's own vectors; elsewhere the model's function runs on the exact tables.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
import logging
import math
import sys
import weakref
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.modeling_utils import AttentionInterface

from . import _tool, _verbs
from ._encoding import Encoding
from ._transformers_attention import (
    WITHOUT_HOOK,
    Row,
    additive,
    attention,
    attention_mask_of,
    counting,
    note_padding,
    row_of,
)
from ._transformers_base import replace, restore
from ._transformers_rotation import (
    OWN_TABLES,
    Rotary,
    exact_tables,
    forget_positions,
    functions_of,
    note_positions,
    replace_function,
    restore_function,
    rotations_of,
)

__all__ = ["NAME", "Enabled", "disable", "enable", "register_scaling"]

NAME = "posenc"  # of the attention and of its mask, in transformers' tables
NAME_ADDED = "posenc_added"  # the same with masks that are added to scores, for models that extend such a mask
_EXTEND_MASKS = ("deepseek_v4",)  # their model_type
logger = logging.getLogger(__name__)

# The largest difference that enable() accepts, relative to the largest output of the model's own attention.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}

# ---------------------------------------------------------------- enable, disable


@dataclass(eq=False)
class Enabled:
    """A model whose attention is posenc's. `difference` is that of its first batch, None before it."""

    model: PreTrainedModel
    encodings: list[Encoding | None]
    tolerance: float
    unread: str = ""
    difference: float | None = None
    classes: list[str] = field(default_factory=list)
    rotary: Rotary = field(default_factory=lambda: Rotary({}))
    methods: list[tuple[nn.Module, str, Callable[..., Any]]] = field(default_factory=list)
    configs: list[tuple[PreTrainedConfig, str, str, str | None]] = field(default_factory=list)
    functions: set[tuple[ModuleType, str]] = field(default_factory=set)
    hooks: list[Any] = field(default_factory=list)

    @property
    def exact(self) -> Mapping[str, str]:
        """The rotations that are computed exactly: spec by module. Known after the first batch."""
        return self.rotary.exact

    @property
    def kept(self) -> Mapping[str, str]:
        """The rotations that are still the model's own, with the reason."""
        return self.rotary.kept

    def __repr__(self) -> str:
        said = "not compared yet"
        if self.difference is not None:
            said = f"difference {self.difference:.1e} of {self.tolerance:.0e}"
        kept = f", {len(self.kept)} rotations kept" if self.kept else ""
        return f"<posenc in {type(self.model).__name__}: {said}, {len(self.exact)} exact rotations{kept}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"posenc is enabled in this {type(self.model).__name__}, which cannot be copied or pickled; "
            "call disable(model) before, or save model.state_dict()"
        )

    def switch_on(self) -> None:
        """Replaces what the model computes itself."""
        for config, during, _, _ in self.configs:
            config._attn_implementation_internal = during
        for module, method, replacement in self.methods:
            replace(module, method, replacement)
        for file, name in self.functions:
            replace_function(file, name)

    def switch_off(self, *, own: bool) -> None:
        """The model as it was; own: with the attention that it is compared with."""
        for config, _, reference, before in self.configs:
            config._attn_implementation_internal = reference if own else before
        for module, method, _ in self.methods:
            restore(module, method)
        for file, name in self.functions:
            restore_function(file, name)


def enable(
    model: PreTrainedModel, *, rotary: bool = True, compare: bool = True, tolerance: float | None = None
) -> Enabled:
    """Replaces a model's attention, and its rotation, by posenc's, until disable(model).

    At the first batch the model also runs with its own eager attention, in eval mode and without gradients. The largest
    difference of the outputs, as a part of the largest output, is then Enabled.difference; past the tolerance (1e-4 in
    float32) it is an error. ``rotary=False`` keeps the model's own rotation, ``compare=False`` skips the comparison.

    A model with the same config object also gets posenc's attention, without the rotation and the comparison; enabling
    it too is refused.
    """
    if not isinstance(model, nn.Module) or not isinstance(getattr(model, "config", None), PreTrainedConfig):
        raise TypeError(f"enable() got a {type(model).__name__}; needs a model of transformers, with its config")
    if "_posenc_enabled" in model.__dict__:
        raise ValueError(f"posenc is already enabled in this {type(model).__name__}; disable(model) comes first")
    encodings, shapes, unread = _read(model.config)
    state = Enabled(model, encodings, TOLERANCE.get(model.dtype, 1e-1) if tolerance is None else tolerance, unread)
    _plan_attention(state)
    _refuse_shared_configs(state)
    if rotary:
        state.rotary.shapes = shapes
        _plan_rotation(state)
    state.switch_on()
    if compare:
        state.hooks.append(model.register_forward_pre_hook(_compare_first, with_kwargs=True))
    model.__dict__["_posenc_enabled"] = state
    _enabled.add(state)
    return state


_enabled: weakref.WeakSet[Enabled] = weakref.WeakSet()


def _refuse_shared_configs(state: Enabled) -> None:
    """A config says which attention runs: of two models that share one, only the first can say what it was before."""
    shared = {id(row[0]) for other in _enabled for row in other.configs}
    if any(id(row[0]) in shared for row in state.configs):
        raise ValueError(
            f"posenc is enabled in another model with the same config object as this {type(state.model).__name__}; "
            "needs a config of its own: type(model)(copy.deepcopy(config))"
        )


def disable(model: PreTrainedModel) -> None:
    """Undoes enable(model)."""
    state: Enabled | None = getattr(model, "__dict__", {}).pop("_posenc_enabled", None)
    if state is None:
        raise ValueError(f"posenc is not enabled in this {type(model).__name__}")
    _enabled.discard(state)
    state.switch_off(own=False)
    for hook in state.hooks:
        hook.remove()
    for module in model.modules():
        for name in [name for name in module.__dict__ if name.startswith("_posenc_")]:
            del module.__dict__[name]


def _read(config: PreTrainedConfig) -> tuple[list[Encoding | None], dict[str, int], str]:
    """What posenc reads in a config: an encoding per layer, the head_dim of each rotation, or why it cannot read it."""
    scaling = _scaling_of(config)
    if scaling is not None:
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        made = Encoding(scaling, heads=config.num_attention_heads, head_dim=head_dim)
        return [made] * config.num_hidden_layers, {made.spec: head_dim}, ""
    described = json.loads(config.to_json_string(use_diff=False))
    try:
        parts = _verbs.explain(described)["parts"]
        encodings = _verbs.from_config(described, part=parts[0]["name"])
    except _tool.ToolError as error:
        return [], {}, error.sentence
    groups = [group for part in parts for group in part["groups"] if group["spec"]]
    return encodings, {spec: group["head_dim"] for group in groups for spec in rotations_of(group["spec"])}, ""


def _plan_attention(state: Enabled) -> None:
    """Finds the configs and methods by which a model chooses its attention."""
    model = state.model
    found: dict[int, tuple[PreTrainedConfig, str, str, str | None]] = {}
    rows: dict[str, Row] = {}
    for module in model.modules():
        config, row = getattr(module, "config", None), row_of(module)
        if row is not None:
            state.methods.append((module, row.method, row.replacement))
            rows[type(module).__module__] = row
        hooked = hasattr(sys.modules[type(module).__module__], "ALL_ATTENTION_FUNCTIONS")
        if hooked and isinstance(config, PreTrainedConfig):
            name = NAME_ADDED if config.model_type in _EXTEND_MASKS else NAME
            found[id(config)] = (config, name, "eager", config._attn_implementation)
    for module in model.modules():
        row = rows.get(type(module).__module__)
        if row is not None and isinstance(module, PreTrainedModel):
            config = module.config
            found[id(config)] = (config, row.implementation, row.implementation, config._attn_implementation)
        if type(module).__name__ == "BloomModel":
            state.hooks.append(module.register_forward_pre_hook(note_padding, with_kwargs=True))
    if not found:
        names = ", ".join(sorted(WITHOUT_HOOK))
        raise ValueError(
            f"{type(model).__name__} computes its attention itself; posenc.transformers needs a model that uses "
            f"transformers' AttentionInterface, or one of {names}"
        )
    state.configs = list(found.values())


def _plan_rotation(state: Enabled) -> None:
    """Finds the modules and functions by which a model rotates."""
    for name, module in state.model.named_modules():
        given = inspect.signature(type(module).forward).parameters
        if "Rotary" in type(module).__name__ and {"x", "position_ids"} <= given.keys():
            if not state.rotary.shapes:
                state.rotary.kept[name] = state.unread or "model.config gives no rotation"
                continue
            module.__dict__.update(_posenc_rotary=state.rotary, _posenc_matches={}, _posenc_name=name)
            state.methods.append((module, "forward", exact_tables))
        elif type(module).__name__ == "RoFormerSelfAttention" and len(state.rotary.shapes) == 1:
            module.__dict__["_posenc_spec"] = next(iter(state.rotary.shapes))
            state.rotary.exact[name] = module.__dict__["_posenc_spec"]
        elif type(module).__name__ in OWN_TABLES:
            module.__dict__["_posenc_rotary"] = state.rotary
            state.hooks.append(module.register_forward_pre_hook(note_positions, with_kwargs=True))
            state.hooks.append(module.register_forward_hook(forget_positions, always_call=True))
    state.functions = functions_of(state.model)


# ---- the first batch


def _compare_first(model: PreTrainedModel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Runs a model's first batch with its own attention and with posenc's, and notes the difference."""
    state: Enabled = model.__dict__["_posenc_enabled"]
    given = dict(zip(inspect.signature(model.forward).parameters, args, strict=False)) | named
    with torch.no_grad(), _evaluating(model):
        state.switch_off(own=True)
        try:
            own = {name: _copied(value) for name, value in given.items()}
            if "attention_mask" in own:
                own["attention_mask"] = _own_mask(own["attention_mask"], model.dtype)
            theirs = _tensors_of(model.forward(**own))
        finally:
            state.switch_on()
        with counting() as calls:
            ours = _tensors_of(model.forward(**{name: _copied(value) for name, value in given.items()}))
    if not calls:
        raise RuntimeError(f"{type(model).__name__} never called posenc's attention; disable(model)")
    state.classes = sorted({cls.__name__ for cls in calls})
    state.difference = _difference(ours, theirs, model.config, given)
    name = type(model).__name__
    said = f"{name}: posenc differs from its own attention by {state.difference:.2e} of the largest output"
    if not state.difference <= state.tolerance:
        raise RuntimeError(f"{said}; the tolerance is {state.tolerance:.0e}; disable(model), or pass tolerance=")
    state.hooks.pop().remove()
    logger.info("%s", said)


def _copied(value: Any) -> Any:
    """An argument that a model may change: a cache is copied."""
    return value.detach() if isinstance(value, Tensor) else copy.deepcopy(value)


def _own_mask(mask: Any, dtype: torch.dtype) -> Any:
    """A mask that generate() made for posenc, (batch, 1, queries, keys), as eager attention takes it."""
    if isinstance(mask, Mapping):
        return {name: _own_mask(part, dtype) for name, part in mask.items()}
    if isinstance(mask, Tensor) and mask.dim() == 4 and mask.dtype == torch.bool:
        return additive(mask, dtype)
    return mask


@contextlib.contextmanager
def _evaluating(model: nn.Module) -> Generator[None]:
    """The model in eval mode, and afterwards each module in its own mode again."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _tensors_of(output: Any) -> dict[str, Tensor]:
    """The outputs of a model that are compared, by name."""
    if not isinstance(output, Mapping):
        output = dict(enumerate(output if isinstance(output, tuple) else (output,)))
    named = {str(name): value for name, value in output.items() if isinstance(value, Tensor)}
    return {name: value for name, value in named.items() if value.is_floating_point() and value.dim() >= 2}


def _difference(
    ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor], config: PreTrainedConfig, named: Mapping[str, Any]
) -> float:
    """The largest difference, as a part of the largest value, over the tokens that are not padding."""
    worst = 0.0 if ours else math.nan
    for name in ours.keys() & theirs.keys():
        of_decoder = getattr(config, "is_encoder_decoder", False) and not name.startswith("encoder")
        padding = named.get("decoder_attention_mask" if of_decoder else "attention_mask")
        a, b = (_without_padding(values[name].double(), padding) for values in (ours, theirs))
        difference = float((a - b).abs().max() / b.abs().max().clamp_min(1e-30)) if a.numel() else 0.0
        worst = math.nan if math.isnan(difference) else max(difference, worst)
    return worst


def _without_padding(x: Tensor, mask: Any) -> Tensor:
    """The rows of tokens that are not padding; a mask of queries and keys shows them as those that see a key."""
    if isinstance(mask, Mapping):
        mask = next((part for part in mask.values() if part is not None), None)
    if not isinstance(mask, Tensor) or x.dim() < 3 or x.shape[0] != mask.shape[0]:
        return x
    if mask.dim() == 4:
        mask = (mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2).any(-1)[:, 0]
    last = mask[:, -x.shape[1] :].bool()
    return x[last] if last.shape == x.shape[:2] else x


# ---------------------------------------------------------------- scalings

_scalings: dict[str, Callable[[PreTrainedConfig], str]] = {}


def register_scaling(name: str, spec_of: str | Callable[[PreTrainedConfig], str]) -> None:
    """Makes a spec of posenc a rope_type of transformers: config.rope_parameters = {"rope_type": name, ...}.

    ``spec_of`` is a spec ("rope:theta=1e6,scaling=ntk,alpha=8") or computes one from a model's config.
    """
    if name in ROPE_INIT_FUNCTIONS and name not in _scalings:
        raise ValueError(f"{name!r} is a rope_type of transformers itself; needs another name")
    if isinstance(spec_of, str) and "rotate" not in Encoding(spec_of, heads=2, head_dim=64).hooks:
        raise ValueError(f"{spec_of!r} does not rotate; needs a spec of rope")
    make = (lambda config: spec_of) if isinstance(spec_of, str) else spec_of
    _scalings[name] = make

    def frequencies(config: PreTrainedConfig, device: Any = None, **others: Any) -> tuple[Tensor, float]:
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        encoding = Encoding(make(config), heads=config.num_attention_heads, head_dim=head_dim)
        values = [pair["frequency"] for pair in encoding.pairs()]
        return torch.tensor(values, dtype=torch.float32, device=device), encoding.magnitude

    ROPE_INIT_FUNCTIONS[name] = frequencies


def _scaling_of(config: PreTrainedConfig) -> str | None:
    """The spec that register_scaling() was given for this config's rope_type."""
    given = getattr(config, "rope_parameters", None) or {}
    make = _scalings.get(given.get("rope_type", ""))
    return None if make is None else make(config)


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, attention_mask_of)
AttentionInterface.register(NAME_ADDED, attention)
AttentionMaskInterface.register(NAME_ADDED, eager_mask)

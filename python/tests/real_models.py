# SPDX-License-Identifier: MIT
"""Every config class of the installed transformers: its own rotary module, run and compared with posenc.from_config.

A case is a config: a model type ("llama"), or a part of one ("qwen3_omni_moe.code2wav_config"), with the kind of layer
behind it where the rotary module has a table for each ("gemma3_text.sliding_attention"). A part whose config is the
default of a model type has its case there. tools/golden/census.py walks the same modules for the golden vectors; what
it knows of them is used here.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import posenc
import torch
from huggingface_hub.errors import StrictDataclassClassValidationError
from numpy.typing import NDArray
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

sys.path.append(str(Path(__file__).parents[2] / "tools" / "golden"))
import census  # noqa: E402

Array = NDArray[np.float64]

FREQUENCY = 4e-6  # relative: theta to a power in float32
ANGLE = 2.0**-22  # a position times a frequency, and its cosine, in float32
ROTATED = 1e-6  # relative: two products and a sum in float32

MODEL_TYPES = sorted(CONFIG_MAPPING_NAMES)
LENGTH = max(census.POSITIONS) + 1  # of the sequence that dynamic and longrope scaling see

CONFORMER = {"position_embeddings_type": "rotary"}
GEMMA4_DRAFT = {"model_type": "gemma4_text", "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
GLM = {"rope_parameters": PLAIN | {"mrope_section": [8, 12, 12], "partial_rotary_factor": 0.5}}

# What makes a model rotate, or its rotary module run, where the defaults of its config class do not.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [9, 18, 27]},
    "cohere_compass_text": {"rope_parameters": {"full_attention": PLAIN | {"mrope_section": [24, 20, 20]}}},
    "deepseek_v4": {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "compressed_sparse_attention"]},
    "esm": {"position_embedding_type": "rotary"},
    "gemma4_assistant": {"text_config": GEMMA4_DRAFT},
    "glm4v_moe_text": GLM | {"head_dim": 128},
    "glm4v_text": GLM,
    "glm_image_text": GLM,
    "granitemoehybrid": {"position_embedding_type": "rope", "layer_types": ["mamba", "attention"] * 16},
    "hunyuan_vl_text": {"rope_parameters": PLAIN | {"mrope_section": [16, 16, 16, 16]}},
    "qwen3_omni_moe_text": {"head_dim": 128},
    "seamless_m4t": CONFORMER,
    "wav2vec2-bert": CONFORMER,
    "wav2vec2-conformer": CONFORMER,
    "zamba2": {"use_mem_rope": True},
}

# Kinds of tables that are not named as the kinds of layers that use them.
LAYERS_OF_KIND = {"main": ["sliding_attention"], "compress": ["compressed_sparse_attention"]}

# One of each scaling that transformers computes, for models that are trained with none.
TRAINED = {"original_max_position_embeddings": 1024}
SCALINGS: dict[str, dict[str, Any]] = {
    "dynamic": {"factor": 2.0},
    "linear": {"factor": 4.0},
    "llama3": TRAINED | {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "longrope": TRAINED | {"factor": 4.0},
    "proportional": {"partial_rotary_factor": 0.5},
    "yarn": TRAINED | {"factor": 4.0},
}


class Different(Exception):
    """What from_config and the model's own module do not agree on."""


@dataclass
class Rotary:
    """A rotary module that has run: tables (tokens, width), and the function that rotates (heads, tokens, head_dim)."""

    inv_freq: Array
    cos: torch.Tensor
    sin: torch.Tensor
    apply: Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]] | None


# ---------------------------------------------------------------- configs


@cache
def config_of(model_type: str) -> PreTrainedConfig:
    """The config of a model type. Raises what its class raises where it has no defaults."""
    return CONFIG_MAPPING[model_type](**ARGUMENTS.get(model_type, {}))


def is_default_of_its_type(config: PreTrainedConfig) -> bool:
    if config.model_type not in CONFIG_MAPPING_NAMES:
        return False
    return bool(CONFIG_MAPPING[config.model_type]().to_dict() == config.to_dict())


def configs_in(name: str, config: PreTrainedConfig) -> Iterator[tuple[str, PreTrainedConfig]]:
    """The config and the configs in it, by name."""
    yield name, config
    for key in config.sub_configs:
        part = getattr(config, key, None)
        if isinstance(part, PreTrainedConfig):
            yield from configs_in(f"{name}.{key}", part)


def cases_in(model_type: str, config: PreTrainedConfig) -> Iterator[tuple[str, PreTrainedConfig]]:
    """Without the parts that have their case under a model type of their own."""
    yield model_type, config
    for name, part in configs_in(model_type, config):
        if part is not config and not is_default_of_its_type(part):
            yield name, part


# ---------------------------------------------------------------- rotary modules


def modeling_module(config: PreTrainedConfig) -> ModuleType:
    return importlib.import_module(census.modeling_text(config)[0])


def rotary_module(config: PreTrainedConfig) -> torch.nn.Module | None:
    """The rotary module that models with this config make. None: they make none, or make it from a part's config.

    Raises Different where a model without parts has a class that does not take its config.
    """
    try:
        name, code = census.modeling_text(config)
    except census.LeftOut:
        return None
    own, others = census.rotary_classes(code, config)
    if not own + others or getattr(config, "position_embeddings_type", "rotary") != "rotary":
        return None
    refused = None
    for name in own + others:
        try:
            return getattr(modeling_module(config), name)(config)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            refused = refused or (f"{name} does not take its config: {error}" if name in own else None)
    if refused and not config.sub_configs:
        raise Different(refused)
    return None


def run_module(config: PreTrainedConfig, rotary: torch.nn.Module, kind: str | None, positions: Array) -> Rotary:
    """Calls the module, and finds the function that its attention rotates with."""
    at = torch.tensor(positions, dtype=torch.int64)  # (tokens, axes)
    picture = census.sees_pictures(rotary) and at.shape[1] == 2  # DeepSeek-OCR 2's sees one place per token
    if not picture:
        at = at[None, :, 0] if at.shape[1] == 1 else at.T[:, None]  # (batch, tokens), (axes, batch, tokens)
    more = {"layer_type": kind} if kind else {}
    out = rotary(torch.zeros(1, len(positions), 8), at, **more)
    inv_freq = getattr(rotary, f"{kind}_inv_freq" if kind else "inv_freq").double().numpy().ravel()
    if torch.is_tensor(out):  # complex numbers
        return Rotary(inv_freq, out.real[0], out.imag[0], None)
    cos, sin = (table.reshape(-1, *table.shape[-2:])[0] if table.dim() > 2 else table for table in out)
    function = census.apply_function(modeling_module(config), config, None, picture, rotary)
    return Rotary(inv_freq, cos, sin, lambda q, k: census.rotate(function, q, k, cos, sin, picture)[:2])


def run_gemma4_vision(config: PreTrainedConfig, positions: Array) -> Rotary:
    from transformers.models.gemma4 import modeling_gemma4 as module

    rotary = module.Gemma4VisionRotaryEmbedding(config)
    at = torch.tensor(positions, dtype=torch.int64)[None]
    cos, sin = rotary(torch.zeros(1, at.shape[1], 8), at)

    def apply(*vectors: torch.Tensor) -> Any:
        rotated = (module.apply_multidimensional_rope(x.transpose(0, 1)[None], cos, sin, at) for x in vectors)
        return tuple(x[0].transpose(0, 1) for x in rotated)

    return Rotary(rotary.inv_freq.double().numpy(), cos[0], sin[0], apply)


def run_dinov3(config: PreTrainedConfig, positions: Array) -> Rotary:
    """The angle is 2 pi * inv_freq * coordinate, -1 to 1 over the grid; a frequency is the angle per step."""
    module = modeling_module(config)
    classes = {"eomt_dinov3": "EomtDinov3RotaryEmbedding", "sapiens2": "Sapiens2RopePositionEmbedding"}
    rotary = getattr(module, classes.get(config.model_type, "DINOv3ViTRopePositionEmbedding"))(config).eval()
    cos, sin = rotary(torch.zeros(1, 3, config.image_size, config.image_size))
    side = config.image_size // config.patch_size
    rows = torch.tensor(positions @ [side, 1], dtype=torch.int64)
    cos, sin = cos[rows], sin[rows]

    def apply(q: torch.Tensor, k: torch.Tensor) -> Any:
        return tuple(x[0] for x in module.apply_rotary_pos_emb(q[None], k[None], cos, sin))

    return Rotary(rotary.inv_freq.double().numpy() * 4 * np.pi / side, cos, sin, apply)


def run_gptj(config: PreTrainedConfig, positions: Array) -> Rotary:
    """GPT-J and CodeGen: a table of sines and cosines instead of a module; the first elements of a head rotate."""
    module, width = modeling_module(config), config.rotary_dim
    table = module.create_sinusoidal_positions(LENGTH, width)[torch.tensor(positions[:, 0], dtype=torch.int64)]
    sin, cos = table.chunk(2, dim=-1)

    def apply(*vectors: torch.Tensor) -> Any:
        for x in vectors:
            turned = module.apply_rotary_pos_emb(x.transpose(0, 1)[None, :, :, :width], sin[None], cos[None])[0]
            yield torch.cat((turned.transpose(0, 1), x[..., width:]), dim=-1)

    angle = 10000.0 ** (-np.arange(0, width, 2) / width)  # the function keeps no frequencies
    return Rotary(angle, cos, sin, lambda q, k: tuple(apply(q, k)))


def run_roformer(config: PreTrainedConfig, positions: Array) -> Rotary:
    from transformers.models.roformer import modeling_roformer as module

    width = config.hidden_size // config.num_attention_heads
    table = module.RoFormerSinusoidalPositionalEmbedding(LENGTH, width).create_weight()
    table = table[torch.tensor(positions[:, 0], dtype=torch.int64)]
    sin, cos = table.chunk(2, dim=-1)
    turn = module.RoFormerSelfAttention.apply_rotary_position_embeddings

    def apply(q: torch.Tensor, k: torch.Tensor) -> Any:
        return tuple(x[0] for x in turn(table[None, None], q[None], k[None]))

    return Rotary(10000.0 ** (-np.arange(0, width, 2) / width), cos, sin, apply)


# Models that rotate by something else than a module that takes a config and positions.
RUNS: dict[str, Callable[[PreTrainedConfig, Array], Rotary]] = {
    "codegen": run_gptj,
    "dinov3_vit": run_dinov3,
    "eomt_dinov3": run_dinov3,
    "gemma4_vision": run_gemma4_vision,
    "gptj": run_gptj,
    "roformer": run_roformer,
    "sapiens2": run_dinov3,
}

# Models that rotate inside their attention or by a module that takes no positions, and that from_config does not read.
NOT_RUN = ("lightglue", "vjepa2")


# ---------------------------------------------------------------- comparison


def positions_for(encoding: posenc.Encoding) -> Array:
    """(tokens, axes). The axes of a text model with images differ, as they do inside an image."""
    if encoding.axes == 2:
        within = 14  # of the smallest grid
        return np.array([[row % within, column % within] for row, column in census.PLACES], np.float64)
    steps = np.array(census.POSITIONS, np.float64)[:, None]
    return steps if encoding.axes == 1 else steps // (1 + np.arange(encoding.axes))


def places(positions: Array) -> NDArray[np.int64]:
    """Positions as posenc takes them: (tokens) where there is one axis."""
    whole = positions.astype(np.int64)
    return whole[:, 0] if whole.shape[1] == 1 else whole


def check_frequencies(encoding: posenc.Encoding, rotary: Rotary) -> Array:
    """Returns the module's frequency of each pair. A spectrum that all axes share is there once."""
    own = np.abs([pair["frequency"] for pair in encoding.pairs()])
    if len(own) % len(rotary.inv_freq):
        raise Different(f"inv_freq has {len(rotary.inv_freq)} elements; {encoding.spec} rotates {len(own)} pairs")
    real = np.resize(rotary.inv_freq, len(own))
    if len(rotary.inv_freq) == len(own) and np.all(np.diff(own) <= 0):
        real = np.sort(rotary.inv_freq)[::-1]  # ERNIE lists its frequencies by axis
    worst = np.max(np.abs(own - real) - FREQUENCY * real)
    if worst > 0:
        raise Different(f"inv_freq differs from {encoding.spec} by up to {np.max(np.abs(own - real)):.2g}")
    return real


def columns(encoding: posenc.Encoding, rotary: Rotary) -> tuple[list[int], list[int]]:
    """Where a row of the module's tables holds the cos of each pair's first and second element."""
    pairs = encoding.pairs()
    count, width = len(pairs), rotary.cos.shape[1]
    if width == count:
        return list(range(count)), list(range(count))
    halves = [table[:, :count] for table in (rotary.cos, rotary.sin)]
    if width == 2 * count and all(torch.equal(a, b[:, count:]) for a, b in zip(halves, (rotary.cos, rotary.sin))):
        return list(range(count)), list(range(count, width))
    first = 0 if width == encoding.head_dim else pairs[0]["x_out"]
    both = [pair["x_out"] - first for pair in pairs], [pair["y_out"] - first for pair in pairs]
    if max(map(max, both)) >= width:
        raise Different(f"cos is {width} wide; {encoding.spec} rotates {count} pairs")
    return both


def check_tables(encoding: posenc.Encoding, rotary: Rotary, positions: Array, tolerance: Array) -> None:
    forward = np.array([-1 if pair["frequency"] < 0 else 1 for pair in encoding.pairs()])
    cos, sin = encoding.table(places(positions), side="key", dtype="float64")
    for name, own, real in (("cos", cos, rotary.cos), ("sin", sin * forward, rotary.sin)):
        for column in columns(encoding, rotary):
            apart = np.abs(own.reshape(len(positions), -1) - real.double().numpy()[:, column])
            if np.any(apart > tolerance):
                raise Different(f"{name} differs from {encoding.spec} by up to {np.max(apart):.2g}")


def rotated_by_module(encoding: posenc.Encoding, rotary: Rotary, q: torch.Tensor, k: torch.Tensor) -> Any:
    """Functions that take the rotated elements only get those: their attention splits the head before the call."""
    assert rotary.apply
    try:
        return rotary.apply(q, k)
    except RuntimeError:
        first = min(pair["x"] for pair in encoding.pairs())
        end = first + 2 * len(encoding.pairs())
        turned = rotary.apply(q[..., first:end].clone(), k[..., first:end].clone())
        return tuple(torch.cat((x[..., :first], y, x[..., end:]), dim=-1) for x, y in zip((q, k), turned))


def check_rotation(encoding: posenc.Encoding, rotary: Rotary, positions: Array, tolerance: Array) -> None:
    torch.manual_seed(1)
    q, k = (torch.randn(heads, len(positions), encoding.head_dim) for heads in (2, 1))
    turned = rotated_by_module(encoding, rotary, q, k)
    for side, x, real in (("query", q, turned[0]), ("key", k, turned[1])):
        one = posenc.Encoding(encoding.spec, heads=len(x), head_dim=encoding.head_dim)
        own = one.rotate(x.numpy(), places(positions), side=side, layout="bhtd")
        allowed = np.zeros(own.shape)  # an element that does not turn has no tolerance
        for number, pair in enumerate(encoding.pairs()):
            size = (x[..., pair["x"]].abs() + x[..., pair["y"]].abs()).double().numpy()
            for element in (pair["x_out"], pair["y_out"]):
                allowed[..., element] = size * (ROTATED * max(1, encoding.magnitude) + tolerance[:, number])
        if np.any(np.abs(own - real.numpy()) > allowed):
            worst = np.max(np.abs(own - real.numpy()))
            raise Different(f"the rotation of a {side} differs from {encoding.spec} by up to {worst:.2g}")


def compare(
    config: PreTrainedConfig, rotary: torch.nn.Module | None, encoding: posenc.Encoding, kind: str | None
) -> None:
    """Raises Different. Each tolerance is that of tests/golden/README.md."""
    run = RUNS.get(config.model_type)
    positions = positions_for(encoding)
    with torch.no_grad():
        if run:
            ran = run(config, positions)
        elif rotary:
            ran = run_module(config, rotary, kind, positions)
        else:
            raise Different("from_config reads it; nothing here runs its code")
        real = check_frequencies(encoding, ran)
        axis = [pair["axis"] for pair in encoding.pairs()]
        angle = np.abs(positions[:, axis] * real)
        if "coords=normalised" in encoding.spec:
            angle = np.maximum(angle, 2 * np.pi)  # positions are scaled to -1 .. 1 first: a phase beside the angle
        tolerance = (FREQUENCY * angle + ANGLE * (1 + angle)) * encoding.magnitude
        check_tables(encoding, ran, positions, tolerance)
        if ran.apply:
            check_rotation(encoding, ran, positions, tolerance)


# ---------------------------------------------------------------- cases


def encodings_of(config: PreTrainedConfig) -> list[posenc.Encoding | None]:
    """What from_config says, one per layer; Different where it refuses."""
    try:
        return posenc.from_config(config.to_dict(), part="", length=LENGTH)  # not the text model inside
    except posenc.ToolError as error:
        raise Different(error.sentence.removeprefix("stdin: ")) from error


def rotating(encodings: list[posenc.Encoding | None]) -> list[posenc.Encoding]:
    """Each encoding that rotates, once. A rope of 0 elements is a temperature alone."""
    return [e for e in dict.fromkeys(encodings) if e is not None and "rotate" in e.hooks and e.pairs()]


def says_rotation(config: PreTrainedConfig) -> bool:
    try:
        return bool(rotating(encodings_of(config)))
    except Different:
        return False


def of_kind(
    encodings: list[posenc.Encoding | None], config: PreTrainedConfig, kind: str | None
) -> list[posenc.Encoding]:
    """Those of the layers that use this kind of table."""
    kinds = getattr(config, "layer_types", None)
    if kind is None or not kinds:
        return rotating(encodings)
    wanted = LAYERS_OF_KIND.get(kind, [kind])
    return rotating([encoding for encoding, one in zip(encodings, kinds) if one in wanted])


def compare_config(name: str, config: PreTrainedConfig) -> Iterator[tuple[str, str | None]]:
    """(case, what differs or None) of one config; nothing where neither it nor from_config rotates."""
    try:
        rotary = rotary_module(config)
    except Different as error:
        yield name, str(error)
        return
    if rotary is None and config.model_type not in (*RUNS, *NOT_RUN):
        if not config.sub_configs and says_rotation(config):
            yield name, "from_config rotates; its modeling file has no rotary class for its config"
        return
    kinds = census.layer_types_of(rotary, config) if rotary and config.model_type not in RUNS else [None]
    for kind in kinds:
        case = f"{name}.{kind}" if kind else name
        try:
            found = of_kind(encodings_of(config), config, kind)
            if not found:
                raise Different("its modeling file has a rotary class; from_config does not rotate")
            for encoding in found:
                compare(config, rotary, encoding, kind)
            yield case, None
        except Different as error:
            yield case, str(error)


def groups_of(row: dict[str, Any]) -> list[Any]:
    return [[group[key] for key in ("layers", "spec", "heads", "kv_heads", "head_dim")] for group in row["groups"]]


def differing_parts(model_type: str) -> list[str]:
    """Parts of a model that explain reads otherwise from the whole config than from the part's own."""
    config = config_of(model_type)
    try:
        rows = posenc.explain(config.to_dict())["parts"]
    except posenc.ToolError:
        return []
    wrong = []
    for row in rows:
        alone = [part for _, part in configs_in(model_type, config) if part.model_type == row["type"]]
        if row["name"] and len(alone) == 1 and alone[0] is not config:
            own = posenc.explain(alone[0].to_dict())["parts"]
            wrong += [row["name"]] if len(own) == 1 and groups_of(own[0]) != groups_of(row) else []
    return wrong


def compare_type(model_type: str) -> dict[str, str | None]:
    """{case: what differs, or None} of a model type and of the parts of its model."""
    try:
        config = config_of(model_type)
    except Exception as error:  # noqa: BLE001  # a config class may ask for anything
        return {model_type: f"its config class has no defaults: {type(error).__name__}"}
    found = [case for name, part in cases_in(model_type, config) for case in compare_config(name, part)]
    return dict(found)


def scaled_config(model_type: str, scaling: str) -> PreTrainedConfig | None:
    """The config of a model with one plain rope, scaled. None: it has none, or transformers refuses the scaling."""
    config = config_of(model_type)
    plain = getattr(config, "rope_parameters", None)
    if not isinstance(plain, dict) or plain.get("rope_type") != "default" or model_type in RUNS:
        return None
    try:
        rotary = rotary_module(config)
        if rotary is None:
            return None
        keys = {"rope_type": scaling} | SCALINGS[scaling]
        if scaling == "longrope":
            ramp = np.linspace(0, 1, len(rotary.inv_freq))
            keys |= {"short_factor": (1 + 0.1 * ramp).tolist(), "long_factor": (1 + 3 * ramp).tolist()}
        arguments = ARGUMENTS.get(model_type, {}) | {"rope_parameters": plain | keys}
        scaled = CONFIG_MAPPING[model_type](**arguments)
        return scaled if rotary_module(scaled) is not None else None
    except (Different, StrictDataclassClassValidationError, AttributeError, KeyError, ValueError, RuntimeError):
        return None

# SPDX-License-Identifier: MIT
"""ONNX's own node tests of RotaryEmbedding, Attention and FlexAttention, and each operator by posenc.Encoding."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import posenc
from numpy.typing import NDArray
from onnx.backend.test.case import node as node_tests

Array = NDArray[Any]
MODULES = {"RotaryEmbedding": "rotaryembedding", "Attention": "attention", "FlexAttention": "flexattention"}


@dataclass
class Case:
    """One node with its attributes, inputs by name and expected outputs by name."""

    name: str
    operator: str
    attributes: dict[str, Any]
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    rtol: float
    atol: float


class Unexpressed(Exception):
    """What the Python interface cannot say."""


def cases() -> dict[str, Case]:
    """All tests of one node, by name. Those of several nodes are the same data, with the operator spelled out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODULES.values():
            importlib.import_module(f"onnx.backend.test.case.node.{name}")
    found = {}
    for test in node_tests._NodeTestCases:
        node = test.model.graph.node[0]
        if len(test.model.graph.node) == 1 and node.op_type in MODULES:
            found[test.name] = case_of(test, node)
    return found


def case_of(test: Any, node: Any) -> Case:
    inputs, outputs = test.data_sets[0]
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    given = dict(zip((name for name in node.input if name), inputs, strict=True))
    wanted = dict(zip((name for name in node.output if name), outputs, strict=True))
    return Case(test.name.removeprefix("test_"), node.op_type, attributes, given, wanted, test.rtol, test.atol)


# ---------------------------------------------------------------- RotaryEmbedding


def rotary_embedding(case: Case) -> dict[str, Array]:
    """Tables that hold any numbers: each pair has an axis, its position is the angle; its length is multiplied after.

    The numbers of these tests are no cosines and sines, so no spec has them as its own tables.
    """
    x = case.inputs["input"]
    heads = case.attributes.get("num_heads", 0)
    rows = x.reshape(*x.shape[:2], heads, -1) if heads else x.transpose(0, 2, 1, 3)  # (batch, tokens, heads, dim)
    cos, sin = (case.inputs[name].astype(np.float64) for name in ("cos_cache", "sin_cache"))
    if "position_ids" in case.inputs:
        cos, sin = cos[case.inputs["position_ids"]], sin[case.inputs["position_ids"]]
    pairs = cos.shape[-1]
    layout = "adjacent" if case.attributes.get("interleaved") else "half"
    sections = "/".join(["1"] * pairs)
    spec = f"rope:pairs={layout},dims={2 * pairs},axes={pairs},sections={sections}"
    encoding = posenc.Encoding(spec, heads=rows.shape[2], head_dim=rows.shape[3])
    length = np.ones((*rows.shape[:2], 1, rows.shape[3]))
    positions = np.zeros((*rows.shape[:2], pairs))
    for number, pair in enumerate(encoding.pairs()):
        positions[..., pair["axis"]] = np.arctan2(sin, cos)[..., number] / pair["frequency"]
        length[..., 0, [pair["x"], pair["y"]]] = np.hypot(cos, sin)[..., number, None]
    turned = encoding.rotate(rows, positions) * length
    turned = turned.reshape(x.shape) if heads else turned.transpose(0, 2, 1, 3)
    return {"output": turned.astype(x.dtype)}


# ---------------------------------------------------------------- Attention


def heads_first(x: Array, heads: int | None) -> Array:
    """(batch, heads, tokens, dim)"""
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def mask_options(case: Case, keys: int) -> dict[str, Any]:
    """attn_mask as keep or mask; what it lacks in keys is hidden."""
    mask = case.inputs.get("attn_mask")
    if mask is None:
        return {}
    hidden = False if mask.dtype == bool else -np.inf
    missing = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
    mask = np.pad(mask, missing, constant_values=hidden)
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return {"keep": mask} if mask.dtype == bool else {"mask": mask}


def place_options(case: Case, batch: int, queries: int, keys: int) -> dict[str, Any]:
    """Queries follow the cache, at the position after its last key; k_lengths are the keys that are real."""
    lengths = case.inputs.get("nonpad_kv_seqlen")
    first = np.full(batch, case.inputs["past_key"].shape[2] if "past_key" in case.inputs else 0)
    if lengths is not None:
        first = lengths - queries
    places = {"q_positions": first[:, None] + np.arange(queries), "k_positions": np.arange(keys), "align": "position"}
    return places | ({"k_lengths": lengths} if lengths is not None else {})


def window_options(case: Case, places: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A window to the left of causal queries, or of both sides alike; any other is a keep mask."""
    left, right = (case.attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    causal = bool(case.attributes.get("is_causal", 0))
    if left < 0 and right < 0:
        return {"causal": causal}
    if left >= 0 and (causal or left == right):
        return {"causal": causal, "window": left + 1}
    distance = places["q_positions"][:, None, :, None] - places["k_positions"]
    keep = ((distance <= left) | (left < 0)) & ((-distance <= right) | (right < 0))
    return {"causal": causal, "keep": keep & options.get("keep", True)}


def attention(case: Case) -> dict[str, Array]:
    count = case.attributes
    q = heads_first(case.inputs["Q"], count.get("q_num_heads"))
    k, v = (heads_first(case.inputs[name], count.get("kv_num_heads")) for name in "KV")
    if "past_key" in case.inputs:
        k = np.concatenate((case.inputs["past_key"], k), axis=2)
        v = np.concatenate((case.inputs["past_value"], v), axis=2)
    encoding = posenc.Encoding("none", heads=q.shape[1], kv_heads=k.shape[1], head_dim=q.shape[3])
    common: dict[str, Any] = {"layout": "bhtd"}
    if "scale" in count:
        common["scale"] = count["scale"]
    cap = {"soft_cap": count["softcap"]} if count.get("softcap") else {}
    seen = mask_options(case, k.shape[2])
    places = place_options(case, len(q), q.shape[2], k.shape[2])
    seen |= places | window_options(case, places, seen)
    out = encoding.attention(q, k, v, **common, **cap, **seen)
    if case.inputs["Q"].ndim == 3:
        out = out.transpose(0, 2, 1, 3).reshape(*case.inputs["Q"].shape[:2], -1)
    answer = {"Y": out, "present_key": k, "present_value": v}
    if "qk_matmul_output" in case.outputs:
        mode = count.get("qk_matmul_output_mode", 0)  # 0: products, 1: capped, 2: masked, 3: probabilities
        shown = common | (cap if mode else {}) | (seen if mode > 1 else {})
        answer["qk_matmul_output"] = encoding.scores(q, k, softmax=mode == 3, **shown)
    return answer


# ---------------------------------------------------------------- FlexAttention


def constants(graph: Any) -> dict[str, Array]:
    return {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer} | {
        node.output[0]: onnx.numpy_helper.to_array(onnx.helper.get_attribute_value(node.attribute[0]))
        for node in graph.node
        if node.op_type == "Constant"
    }


def operators(graph: Any) -> str:
    return " ".join(node.op_type for node in graph.node if node.op_type not in ("Constant", "Identity"))


def flex_attention(case: Case) -> dict[str, Array]:
    q, k, v = (case.inputs[name] for name in "QKV")
    spec, options, after = "none", {}, np.ones(())
    if "scale" in case.attributes:
        options["scale"] = case.attributes["scale"]
    if "score_mod" in case.attributes:
        spec, more = score_options(case.attributes["score_mod"], (1, 1, q.shape[2], k.shape[2]))
        options |= more
    if "prob_mod" in case.attributes:
        if operators(case.attributes["prob_mod"]) != "Mul":
            raise Unexpressed("its probabilities are changed by a graph")
        (after,) = constants(case.attributes["prob_mod"]).values()
    encoding = posenc.Encoding(spec, heads=q.shape[1], kv_heads=k.shape[1], head_dim=q.shape[3])
    if "slopes=learned" in spec:
        encoding.params["slopes"][:] = -1  # the bias falls with distance; this test adds the distance itself
    out = encoding.attention(q, k, v, layout="bhtd", **options)
    return {"Y": (out * after).astype(out.dtype)}


def score_options(graph: Any, shape: tuple[int, ...]) -> tuple[str, dict[str, Any]]:
    """What a score_mod does, by its operators: (spec, options of attention)."""
    kept, does = constants(graph), operators(graph)
    if does == "Add":
        (bias,) = kept.values()
        return "none", {"mask": np.zeros(shape, bias.dtype) + bias}
    if does == "Div Tanh Mul":
        (cap,) = kept.values()
        return "none", {"soft_cap": float(cap.reshape(()))}
    if does.endswith("GreaterOrEqual Where"):
        return "none", {"causal": True, "align": "start"}
    if does.endswith("Sub Cast Add"):
        return "alibi:slopes=learned", {}
    raise Unexpressed(f"its scores are changed by a graph: {does}")


RUN = {"RotaryEmbedding": rotary_embedding, "Attention": attention, "FlexAttention": flex_attention}

# SPDX-License-Identifier: MIT
"""The census of layers: which layers of each model type rotate, found by running the model.

A model of each type that has a row in src/zoo/facts_rope.c is made with 12 layers and the other defaults of its config,
on torch's meta device, which needs no memory and computes no numbers. Its functions that rotate are replaced by ones that
note the layer that calls them. A case has the name of the model type; rotates has a 1 for each layer that calls one. A
type that cannot be run so has no case; left_out in the index says why."""
import importlib
import inspect
import itertools
import re
import sys

import torch
from torch.fx.experimental import _config as meta_tensors

from census import ABOUT_POSITIONS, LeftOut

meta_tensors.meta_nonzero_assume_all_nonzero = True  # where code asks which elements are not 0
LAYERS = 12
# What the defaults lack: layers that rotate among those that do not, or sizes that a model cannot be made without.
MORE = {
    "bamba": {"attn_layer_indices": [2, 5, 9]},
    "chameleon": {"vocabulary_map": {"<image>": 1}},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense"] * 12},
    "deepseek_v2": {"num_experts_per_tok": 2},
    "dots1": {"n_routed_experts": 8},
    "gemma3n_text": {"num_kv_shared_layers": 0},  # its defaults share the keys of more layers than 12
    "granitemoehybrid": {
        "layer_types": ["mamba", "mamba", "attention"] * 4, "position_embedding_type": "rope",
    },
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl_text": {"head_dim": 128},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention"] * 4},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "zamba2": {"layers_block_type": ["mamba", "mamba", "hybrid"] * 4, "use_mem_rope": True},
}  # fmt: skip
ABOUT_LAYERS = re.compile(
    r"layer|layers_block_type|attn_type_list|block_types|full_attn_idxs|compress_r|first_k_dense|prefix_dense|pattern|"
    r"window|attention_chunk|interval|period"
)
A_LAYER = re.compile(r"^(?:.*\.)?(?:layers?|h|blocks)\.(\d+)$")
ROTATES = re.compile(r"apply_(\w*_)?rot(ary|ate)\w*|apply_rope\w*")
MAKES_MASK = re.compile(r"create_\w*mask\w*")  # masks are made from numbers, which meta tensors do not have


def types_of(folder):
    with open(f"{folder}/facts_rope.c") as f:
        return re.findall(r'^    \{ "([^"]+)", ', f.read(), re.M)


def classes_of(config):
    """The models beside the config class that are made from it: those of parts, which AutoModel does not know."""
    from transformers import PreTrainedModel

    name = type(config).__name__
    try:
        module = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    except ImportError:
        return []
    found = [
        one for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, PreTrainedModel) and one.__module__ == module.__name__
        and re.search(rf"\b{name}\b", str(inspect.signature(one.__init__).parameters.get("config", "")))
    ]  # fmt: skip
    return sorted(found, key=lambda one: ("PreTrained" in one.__name__, "For" in one.__name__))


def models_of(config):
    """Yields the models that can be made from it, the one that AutoModel makes first."""
    from transformers import AutoModel, AutoModelForCausalLM

    failed = None
    for kind in [AutoModel.from_config, AutoModelForCausalLM.from_config, *classes_of(config)]:
        try:
            with torch.device("meta"):
                model = kind(config).eval()
        except Exception as error:
            failed = failed or error
            continue
        failed = None
        yield model
    if failed:
        raise LeftOut(f"it is no model by itself, or its defaults are not complete: {type(failed).__name__}")


def make(model_type):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    if model_type not in CONFIG_MAPPING:
        raise LeftOut("it has no config class of its own")
    try:
        config = CONFIG_MAPPING[model_type](num_hidden_layers=LAYERS, **MORE.get(model_type, {}))
    except Exception as error:  # a config class may raise anything
        raise LeftOut(f"its config class does not take {LAYERS} layers: {type(error).__name__}") from error
    config._attn_implementation = "eager"
    return config, next(models_of(config))


def watch(model, mask):
    """Returns the set that the numbers of layers go into, and what undoes the replacing; mask: what stands for masks."""
    module = sys.modules[type(model).__module__]
    now, seen, was = [None], set(), {}

    def noting(function):
        def noted(*arguments, **more):
            seen.add(now[0])
            return function(*arguments, **more)

        return noted

    for name in dir(module):
        value = getattr(module, name)
        if callable(value) and ROTATES.fullmatch(name):
            was[name] = value
            setattr(module, name, noting(value))
        elif callable(value) and MAKES_MASK.fullmatch(name):
            was[name] = value
            setattr(module, name, lambda *arguments, **more: mask)
    for name, part in model.named_modules():
        found = A_LAYER.match(name)
        if type(part).__name__.endswith("Experts"):  # they choose tokens by numbers
            part.forward = lambda x, *arguments, **more: x
        if found:
            part.register_forward_pre_hook(lambda *_, n=int(found[1]): now.__setitem__(0, n))
    return seen, lambda: [setattr(module, name, value) for name, value in was.items()]


def run(model, layers):
    """The numbers of layers that rotated. Some models do without a mask, others take one from it."""
    tokens = {"input_ids": torch.zeros(1, 8, dtype=torch.long, device="meta")}
    vectors = {"inputs_embeds": torch.zeros(1, 8, getattr(model.config, "hidden_size", 8), device="meta")}
    failed = None
    for given, mask in itertools.product((tokens, vectors), (None, torch.zeros(1, 1, 8, 8, device="meta"))):
        seen, undo = watch(model, mask)
        try:
            with torch.no_grad():
                model(**given, use_cache=False)
            return seen
        except Exception as error:  # code after the last layer may want numbers
            failed = failed or error
        finally:
            undo()
        if layers - 1 in seen:
            return seen
    raise LeftOut(f"it does not run without numbers: {type(failed).__name__}: {str(failed)[:80]}")


def case_of(model_type):
    config, model = make(model_type)
    layers = getattr(config, "num_hidden_layers", 0)
    seen = run(model, layers)
    modules = {int(found[1]) for name, _ in model.named_modules() if (found := A_LAYER.match(name))}
    if len(modules) < layers:
        raise LeftOut("its layers run more than once")
    if not seen or None in seen or max(seen) >= layers:
        raise LeftOut("its layers rotate in a way that this program does not see")
    whole = config.to_dict()
    keys = [k for k in whole if (ABOUT_POSITIONS.search(k) or ABOUT_LAYERS.search(k)) and k != "rope_scaling"]
    meta = {"model_type": model_type, "config": {k: whole[k] for k in keys} | {"model_type": model_type}}
    return {"meta": meta, "tensors": {"rotates": torch.tensor([int(n in seen) for n in range(layers)])}}


def build(folder):
    cases, left_out = {}, {}
    for model_type in types_of(folder):
        try:
            cases[model_type] = case_of(model_type)
        except LeftOut as why:
            left_out[model_type] = str(why)
    return cases, left_out

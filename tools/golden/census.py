# SPDX-License-Identifier: MIT
"""The census: each model type's own config class, rotary class and apply function, run on a few vectors.

A case has the name of the model type. If the type is composed of several models, the case is of its text model and
.text follows the name; if the rotary class has a table for each kind of layer, the kind follows too. The config of a
case has the keys that concern positions. A type that cannot be run has no case; left_out in the index says why."""
import importlib
import inspect
import os
import re

import torch

from store import Inputs

POSITIONS = (0, 1, 5, 100, 4000)
PLACES = ((0, 0), (0, 1), (1, 0), (3, 7), (40, 20))  # of an image: row, column
ABOUT_POSITIONS = re.compile(
    r"rope|rotary|theta|^head_dim$|global_head_dim|qk_|v_head_dim|^hidden_size$|^num_(hidden_layers|attention_heads)$|"
    r"^num_key_value_heads$|max_position_embeddings$|^layer_types$|sliding_window|local_attention$|^attention_bias$|"
    r"^model_type$|^embed_dim$|^n_(embd|head|layer|positions)$|^num_heads$|^depth$|^use_mem_rope$|"
    r"^position_embedding_type$"
)


class LeftOut(Exception):
    """Why a model type has no case."""


def config_types():
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return sorted(CONFIG_MAPPING_NAMES)


def default_config(model_type):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    more = {"esm": {"position_embedding_type": "rotary"}}.get(model_type, {})  # selects its rotary encoding
    try:
        return CONFIG_MAPPING[model_type](**more)
    except Exception as error:  # a config class may raise anything
        raise LeftOut(f"its config class has no defaults: {type(error).__name__}") from error


def text_part(config):
    """The config of the text model, and whether it is a part of another config."""
    try:
        text = config.get_text_config()
    except ValueError:
        text = getattr(config, "text_config", config)
    return text, text is not config


def modeling_text(config):
    """The modeling file beside the config class: its module's name and text."""
    name = type(config).__module__.replace("configuration_", "modeling_")
    folder = os.path.dirname(inspect.getfile(type(config)))
    path = os.path.join(folder, name.rsplit(".", 1)[1] + ".py")
    if not os.path.exists(path):
        raise LeftOut("there is no modeling file beside its config class")
    with open(path) as f:
        return name, f.read()


def rotary_classes(text, config):
    """Names of the rotary classes that models with this config class construct, and of the others in the file."""
    blocks = re.split(r"^class ", text, flags=re.M)[1:]
    names = [re.match(r"\w+", block)[0] for block in blocks]
    names = [name for name in names if re.search(r"Rotary(Pos\w*)?Emb", name)]
    config_name = type(config).__name__
    makers = [b for b in blocks if re.search(rf"def __init__\(\s*self,\s*config: {config_name}\b", b)]
    own = [name for name in names if any(f"{name}(" in maker for maker in makers)]
    return own, [name for name in names if name not in own and "Vision" not in name]


def make_rotary(cls, config):
    parameters = inspect.signature(cls.__init__).parameters
    if "config" not in parameters:
        raise LeftOut(f"{cls.__name__} takes no config")
    return cls(config=config)


def layer_types_of(rotary, config):
    """The kinds of layers that have their own table; [None] if there is one table for all."""
    if "layer_type" not in inspect.signature(rotary.forward).parameters:
        return [None]
    kinds = getattr(rotary, "layer_types", None) or getattr(config, "layer_types", None) or []
    return sorted({kind for kind in kinds if hasattr(rotary, f"{kind}_inv_freq")}) or [None]


def sees_pictures(rotary):
    return bool(re.search("Vision(?!Text)|ViT|MLCD", type(rotary).__name__))


def tables(rotary, positions, layer_type):
    """cos and sin, (tokens, width), and whether they were complex numbers. M-RoPE: all axes have the same position."""
    more = {"layer_type": layer_type} if layer_type else {}
    x = torch.zeros(1, len(positions), 8)
    failed = None
    tries = [positions]
    if positions.dim() == 1:
        tries = [positions[None], positions.expand(3, 1, -1)]
    for at in tries:
        try:
            out = rotary(x, at, **more)
        except Exception as error:  # the next shape may work
            failed = error
            continue
        if torch.is_tensor(out) and out.is_complex():
            return out.real[0], out.imag[0], True
        if not isinstance(out, tuple) or len(out) != 2:
            raise LeftOut(f"{type(rotary).__name__} gives no cos and sin")
        cos, sin = (t.reshape(-1, *t.shape[-2:])[0] if t.dim() > 2 else t for t in out)
        if cos.dim() == 2 and len(cos) == len(positions):
            return cos, sin, False
    why = f"{type(failed).__name__}: {str(failed)[:120]}" if failed else "tables of another shape"
    raise LeftOut(f"{type(rotary).__name__} does not run with the defaults of its config: {why}")


def calls(module, rotary, name):
    """Whether the attention beside this rotary class calls the function; None: there is no attention of that name."""
    attention = getattr(module, type(rotary).__name__.split("Rotary")[0] + "Attention", None)
    return attention and bool(re.search(rf"\b{name}\(", inspect.getsource(attention)))


def apply_function(module, config, name, picture, rotary):
    """The function that the attention of this module calls."""
    names = ["apply_rotary_pos_emb", "apply_rotary_emb", "apply_rotary_pos_emb_interleave"]
    if picture:
        names = ["apply_rotary_pos_emb_vision"] + names[:1]
    elif getattr(config, "rope_interleave", True):  # if the function exists, the main attention calls it
        names = names[::-1]
    names = [one for one in names if calls(module, rotary, one)] or names
    for one in [name] if name else names:
        if hasattr(module, one):
            return getattr(module, one)
    raise LeftOut("its modeling file has no apply_rotary_pos_emb")


def rotate(apply, q, k, cos, sin, picture):
    """q_out, k_out, and {"apply_single": True} for a function of one tensor."""
    names = list(inspect.signature(apply).parameters)
    if picture:  # (tokens, heads, head_dim)
        q_out, k_out = apply(q.transpose(0, 1), k.transpose(0, 1), cos, sin)
        return q_out.transpose(0, 1), k_out.transpose(0, 1), {}
    if "k" in names[:3] or "key" in names[1]:
        q_out, k_out = apply(q[None], k[None], cos[None], sin[None])[:2]
        return q_out[0], k_out[0], {}
    q_out, k_out = (apply(t[None], cos[None], sin[None])[0] for t in (q, k))
    return q_out, k_out, {"apply_single": True}


def head_dim_of(config, width):
    """width: of the tables; used if the config does not tell a head dimension because it differs by layer."""
    try:
        head = getattr(config, "head_dim", None)
    except Exception:
        return width
    if head:
        return head
    return (getattr(config, "embed_dim", None) or config.hidden_size) // config.num_attention_heads


def meta_config(config, keys=None):
    whole = config.to_dict()
    if keys is None:
        keys = [key for key in whole if ABOUT_POSITIONS.search(key) and key != "rope_scaling"]
    return {key: whole[key] for key in keys if key in whole}


def run_case(case, model_type, text, nested, cls, layer_type, module, stored):
    given = Inputs(case, stored)
    was = stored["meta"] if stored else {}
    rotary = make_rotary(cls, text)
    picture = sees_pictures(rotary)
    positions = given.fixed("positions", PLACES if picture else POSITIONS)
    cos, sin, is_complex = tables(rotary, positions, layer_type)
    inv_freq = getattr(rotary, f"{layer_type}_inv_freq" if layer_type else "inv_freq")
    scaling = getattr(rotary, f"{layer_type}_attention_scaling" if layer_type else "attention_scaling", 1.0)
    apply = None if is_complex else apply_function(module, text, was.get("apply"), picture, rotary)
    head = head_dim_of(text, cos.shape[-1])
    meta = {
        "model_type": model_type, "part": "text" if nested else "", "rotary_class": cls.__name__,
        "layer_type": layer_type, "apply": apply.__name__ if apply else None, "head_dim": head,
        "attention_scaling": float(scaling),
        "config": meta_config(text, list(was["config"]) if "config" in was else None),
    }  # fmt: skip
    out = {"inv_freq": inv_freq, "positions": positions, "cos": cos, "sin": sin}
    if is_complex:
        return meta | {"complex": True}, out
    q, k = given.normal("q", 2, len(positions), head), given.normal("k", 1, len(positions), head)
    try:
        q_out, k_out, more = rotate(apply, q, k, cos, sin, picture)
    except RuntimeError:  # the function takes only the rotated elements; its attention splits them off
        width = 2 * inv_freq.shape[-1]
        q_out, k_out, more = rotate(apply, q[..., :width], k[..., :width], cos, sin, picture)
        q_out, k_out = (torch.cat((a, b[..., width:]), dim=-1) for a, b in ((q_out, q), (k_out, k)))
        more |= {"applied_to_first": width}
    return meta | more, out | {"q": q, "k": k, "q_out": q_out, "k_out": k_out}


def stored_form(tensors):
    return {f: (t.detach().float() if t.is_floating_point() else t).clone().contiguous() for f, t in tensors.items()}


def cases_of(model_type, stored):
    """Returns [(case, meta, tensors)] of one model type; raises LeftOut if it has none."""
    config = default_config(model_type)
    text, nested = text_part(config)
    if nested and not any(case.split(".")[0] == model_type for case in stored):
        raise LeftOut(f"a model of models: {text.model_type} has the case")
    name, code = modeling_text(text)
    own, others = rotary_classes(code, text)
    if not own and not others:
        raise LeftOut("no rotary class")
    module = importlib.import_module(name)
    failed = None
    for one in own + others:
        cls = getattr(module, one)
        try:
            found = []
            for layer_type in layer_types_of(make_rotary(cls, text), text):
                case = model_type + (".text" if nested else "") + (f".{layer_type}" if layer_type else "")
                meta, tensors = run_case(
                    case, model_type, text, nested, cls, layer_type, module, stored.get(case)
                )
                found.append((case, meta, stored_form(tensors)))
            return found
        except LeftOut as error:
            failed = failed or error
        except Exception as error:  # a class of transformers may raise anything
            why = f"{one} does not run with the defaults of its config: {type(error).__name__}: {str(error)[:120]}"
            failed = failed or LeftOut(why if one in own else "no rotary class for its config class")
    raise failed


def build(stored, unread):
    """Returns {case: {"meta", "tensors"}}, {model type: why it has no case}; unread: types src/zoo does not read."""
    cases, left_out = {}, {}
    with torch.no_grad():
        for model_type in config_types():
            try:
                if model_type in unread:
                    raise LeftOut("src/zoo/facts_unread.c says why")
                for case, meta, tensors in cases_of(model_type, stored):
                    cases[case] = {"meta": meta, "tensors": tensors}
            except LeftOut as error:
                left_out[model_type] = str(error)
    return cases, left_out

# SPDX-License-Identifier: MIT
"""Compares the rows of src/zoo/facts_*.c with the config classes of transformers, and makes rows from the classes."""
import glob
import os
import re

from census import LeftOut, config_types, default_config, modeling_text, rotary_classes

NUMBERS = {"hidden", "head_dim", "layers", "length", "theta", "local_theta", "rope_dim", "nope_dim", "rotary_fraction",
           "window", "image", "patch"}  # fmt: skip
LETTERS = {
    "sliding_attention": "s", "full_attention": "f", "linear_attention": "l", "chunked_attention": "c", "mamba": "m",
    "recurrent": "r", "conv": "v", "hybrid": "h", "hybrid_sliding": "S", "compressed_sparse_attention": "C",
    "heavily_compressed_attention": "H", "indexed_attention": "f", "deepseek_sparse_attention": "f",
}  # fmt: skip

# Where a row intentionally differs from its class, and why.
EXPLAINED = {
    ("deepseek_v4", "theta"): "the class has one for sliding layers, the row's local_theta",
    ("qwen2_moe", "window"): "the class sets it to 0 where use_sliding_window is false",
    ("qwen3_omni_moe_talker", ""): "a part of qwen3_omni_moe that is no type of its own in transformers",
    ("semantic", ""): "a part of bark that is no type of its own in transformers",
    ("coarse_acoustics", ""): "a part of bark that is no type of its own in transformers",
    ("fine_acoustics", ""): "a part of bark that is no type of its own in transformers",
    ("pp_formulanet_text", "heads"): "its class has those of an encoder that it does not have",
    ("pp_formulanet_text", "layers"): "its class has those of an encoder that it does not have",
}

# ---------------------------------------------------------------- text


def read_rows(folder):
    """{model type: (family, {key: value}, file)}; flags have the value ""."""
    rows = {}
    for path in sorted(glob.glob(os.path.join(folder, "facts_*.c"))):
        with open(path) as f:
            text = f.read()
        for type_, family, strings in re.findall(r'\{ "([^"]+)", "([^"]+)",\s*((?:"[^"]*"\s*)+)\}', text):
            words = "".join(re.findall(r'"([^"]*)"', strings))
            words, _, source = words.partition("source=")
            pairs = [word.partition("=") for word in words.split()]
            rows[type_] = family, {k: v for k, _, v in pairs} | ({"source": source} if source else {}), path
    return rows


def read_unread(folder):
    """Model types of facts_unread.c."""
    with open(os.path.join(folder, "facts_unread.c")) as f:
        text = f.read()
    table = text[text.index("unread[] = {") : text.index("};", text.index("unread[] = {"))]
    groups = re.findall(r'\{ ((?:"[^"]*"\s*)+),', table)
    return {word for group in groups for string in re.findall(r'"([^"]*)"', group) for word in string.split()}


def write_text(type_, family, text):
    """A row as it is written in the tables, in lines of up to 120 columns."""
    lines, line = [], f'    {{ "{type_}", "{family}", "'
    for piece in re.findall(r"\S+\s*", text):
        while len(piece) > 100:  # rope_parameters
            cut = max(piece.rfind(mark, 0, 116 - len(line)) for mark in ",;") + 1
            lines.append(line + piece[:cut] + '"')
            line, piece = '      "', piece[cut:]
        if len(line) + len(piece) > 116:
            lines.append(line + '"')
            line = '      "'
        line += piece
    return "\n".join(lines + [line + '" },'])


def write_row(type_, family, words):
    text = " ".join(f"{key}={value}" if value != "" or key == "sections" else key for key, value in words.items())
    return write_text(type_, family, text)


def number(text):
    unit = {"k": 1024, "M": 1 << 20}.get(text[-1:], 0)
    return float(text[:-1]) * unit if unit else float(text)


def size(value):
    value = int(value)
    for unit, letter in ((1 << 20, "M"), (1024, "k")):
        if value >= unit and value % unit == 0:
            return f"{value // unit}{letter}"
    return str(value)


def base(value):
    digits = f"{value:.0f}".rstrip("0") or "0"
    power = len(f"{value:.0f}") - 1
    if value != int(value) or len(f"{value:.0f}") - len(digits) < 4:
        return f"{value:g}" if value < 1e6 else f"{value:.0f}"
    return digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{power}"


# ---------------------------------------------------------------- config classes


def ask(config, *names):
    for name in names:
        try:
            value = getattr(config, name, None) if name else None
        except Exception:  # a config whose layers differ raises an error
            value = config.to_dict().get(name)
        if value is not None:
            return value
    return None


def pattern_of(kinds):
    letters = "".join(LETTERS.get(kind, "?") for kind in kinds)
    if len(set(letters)) == 1:
        return letters[0]
    for period in range(1, len(letters) + 1):
        if (letters[:period] * len(letters))[: len(letters)] == letters:
            return letters[:period]
    return letters


def bare(value):
    """JSON without its quotes."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{bare(v)}" for k, v in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else f"{value:.0f}" if isinstance(
        value, float) else str(value)  # fmt: skip


def rope_words(config):
    words = {}
    parameters = ask(config, "rope_parameters") or {}
    by_kind = {k: v for k, v in parameters.items() if isinstance(v, dict)}
    main = by_kind.get("full_attention", parameters if not by_kind else next(iter(by_kind.values())))
    theta = main.get("rope_theta", ask(config, "rope_theta", "rotary_emb_base"))
    if isinstance(theta, (int, float)):
        words["theta"] = base(float(theta))
    local = by_kind.get("sliding_attention", {}).get("rope_theta")
    if local and local != theta:
        words["local_theta"] = base(float(local))
    share = main.get("partial_rotary_factor", ask(config, "partial_rotary_factor"))
    if isinstance(share, (int, float)):
        words["rotary_fraction"] = f"{share:g}"
    if main.get("rope_type", "default") not in ("default", "axial"):
        words["rope_parameters"] = bare(parameters)
    return words


def class_words(model_type):
    """The words of a row, from the defaults of a config class."""
    config = default_config(model_type)
    folder = type(config).__module__.split(".")[-2]
    words = {"folder": folder} if folder != model_type else {}
    hidden, heads = ask(config, "embed_dim", "hidden_size"), ask(config, "num_attention_heads", "num_heads")
    key_heads = ask(config, "num_key_value_heads")
    if isinstance(hidden, int):
        words["hidden"] = str(hidden)
    if isinstance(heads, int):
        words["heads"] = f"{heads}/{key_heads}" if key_heads else str(heads)
    head = ask(config, "head_dim")
    if isinstance(head, int) and head and isinstance(hidden, int) and isinstance(heads, int) and head != hidden // heads:
        words["head_dim"] = str(head)
    for key, name in (("rope_dim", "qk_rope_head_dim"), ("nope_dim", "qk_nope_head_dim")):
        if ask(config, name):
            words[key] = str(ask(config, name))
    if "rope_dim" in words:
        words.pop("head_dim", None)
    layers = ask(config, "num_hidden_layers", "depth")
    if isinstance(layers, int):
        words["layers"] = str(layers)
    length = ask(config, "max_position_embeddings", "n_positions")
    if isinstance(length, int):
        words["length"] = size(length)
    for key, name in (("image", "image_size"), ("patch", "patch_size")):
        if isinstance(ask(config, name), int):
            words[key] = str(ask(config, name))
    words |= rope_words(config)
    window = ask(config, "local_attention", "sliding_window")
    if isinstance(window, int):
        words["window"] = size(window)
    kinds = ask(config, "layer_types")
    if kinds and set(kinds) != {"full_attention"}:
        words["pattern"] = pattern_of(kinds)
    return words


def parts_of(model_type):
    """{key: model type} of the configs that a config class contains; {} if it contains none."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    keys = getattr(CONFIG_MAPPING[model_type], "sub_configs", {})
    if not keys:
        return {}
    config = default_config(model_type)
    parts = {key: getattr(getattr(config, key, None), "model_type", "") for key in keys}
    return {key: type_ for key, type_ in parts.items() if type_}


def rotates(model_type):
    try:
        config = default_config(model_type)
        _, code = modeling_text(config)
        return bool(rotary_classes(code, config)[0])
    except (LeftOut, OSError):
        return False


# ---------------------------------------------------------------- comparison


def same(key, a, b):
    if key == "heads":
        return a.split("/")[0] == b.split("/")[0] and ("/" not in a or "/" not in b or a == b)
    return number(a) == number(b) if key in NUMBERS else a == b


def spread(pattern, layers):
    """A letter for each layer: "f>sf" means that the first layer is f and that sf repeats after it."""
    first, _, again = pattern.rpartition(">")
    return (first + (again * layers)[len(first) :])[:layers]


def row_changes(model_type, words, row):
    """Yields where the class contradicts the row. A key that only one of them has is no contradiction: rows omit what
    their family does not need, and have facts that no class has."""
    for key in ("hidden", "heads", "head_dim", "rope_dim", "nope_dim", "layers", "length", "theta", "local_theta",
                "rotary_fraction", "window", "pattern"):  # fmt: skip
        if key not in words or key not in row:
            continue
        if key == "pattern":
            layers = int(words.get("layers", 1))
            if spread(row[key], layers) == spread(words[key], layers):
                continue
        if not same(key, row[key], words[key]) and (model_type, key) not in EXPLAINED:
            yield f"{key}={row[key]}, its class has {words[key]}"


def report(folder):
    """Prints which rows differ or are missing; returns how many."""
    rows, unread = read_rows(folder), read_unread(folder)
    found = 0
    for model_type in config_types():
        try:
            parts = parts_of(model_type)
            words = {} if parts else class_words(model_type)
        except Exception as error:
            if model_type not in rows and model_type not in unread:
                print(f"  {model_type} has no row, and {type(error).__name__}: {error}"[:160])
                found += 1
            continue
        if model_type in unread:
            continue
        if model_type not in rows:
            what = "parts" if parts else "rope" if rotates(model_type) else "?"
            print(f"  {model_type} has no row; its class would give\n{write_row(model_type, what, parts or words)}")
            found += 1
        elif rows[model_type][0] == "parts":
            row = {k: v for k, v in rows[model_type][1].items() if k not in ("folder", "source")}
            changes = [f"{k}={row[k]}, its class has {v}" for k, v in parts.items() if k in row and row[k] != v]
            for change in changes:
                print(f"  {model_type}: {change}")
            found += len(changes)
        else:
            row = rows[model_type][1]
            if ask(default_config(model_type), row.get("window_before_key", "")):
                words["window"] = size(number(words["window"]) + 1)
            for change in row_changes(model_type, words, row):
                print(f"  {model_type}: {change}")
                found += 1
    here = set(config_types())
    gone = [t for t, (_, row, _) in rows.items() if t not in here and "source" not in row and (t, "") not in EXPLAINED]
    if gone:
        print(f"  not in this transformers: {' '.join(gone)}")
    return found + len(gone)

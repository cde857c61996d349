# SPDX-License-Identifier: MIT
"""Builds the golden vectors with the installed transformers, and shows what changed.

    golden.py build INTO STORED SRC write all files into the folder INTO, with the inputs of the cases in STORED; the
                                    census leaves out the model types of SRC/facts_unread.c
    golden.py compare OLD NEW       show what changed between two folders
    golden.py facts SRC             compare the rows of SRC/facts_*.c with the installed transformers' config classes
    golden.py reflow FILE...        rewrite the rows of a table in lines of 120 columns

Exit: 0 nothing differs, 1 something does."""
import json
import os
import re
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here needs the network


def quiet():
    import logging
    import warnings

    import transformers

    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)


def source():
    import torch
    import transformers

    return f"transformers {transformers.__version__}, torch {torch.__version__}"


def defaults():
    """{model type: {key about positions: default}}"""
    from census import LeftOut, config_types, default_config, meta_config
    from compare import flat

    out = {}
    for model_type in config_types():
        try:
            out[model_type] = flat(meta_config(default_config(model_type)))
        except LeftOut as error:
            out[model_type] = {"": str(error)}
    return out


def build(into, stored, folder):
    import census
    import facts
    import layers
    import store
    import tables
    import vectors

    for name in store.FILES:
        old, head = store.load(stored, name)
        head = head | {"source": source()}
        if name == "rope_census":
            cases, head["left_out"] = census.build(old, facts.read_unread(folder))
        elif name == "layer_census":
            cases, head["left_out"] = layers.build(folder)
        elif name == "table_census":
            cases, head["left_out"] = tables.build(facts.read_rows(folder))
        else:
            cases = {case: {"meta": meta, "tensors": tensors} for case, meta, tensors in vectors.build(name, old)}
        store.save(into, name, cases, head)
        print(f"{name}: {len(cases)} cases")
    with open(os.path.join(into, "defaults.txt"), "w") as f:
        json.dump(defaults(), f, indent=1)
    return 0


def compare_defaults(old, new):
    """Compares the config classes of two folders, if both have them."""
    paths = [os.path.join(folder, "defaults.txt") for folder in (old, new)]
    if not all(map(os.path.exists, paths)):
        return 0
    a, b = (json.load(open(path)) for path in paths)
    came, went = sorted(b.keys() - a.keys()), sorted(a.keys() - b.keys())
    print(f"model types: {len(came)} new, {len(went)} gone")
    print(f"  new: {' '.join(came)}\n  gone: {' '.join(went)}")
    found = 0
    for model_type in sorted(a.keys() & b.keys()):
        keys = sorted(k for k in a[model_type].keys() | b[model_type].keys() if a[model_type].get(k) != b[model_type].get(k))
        for key in keys:
            was, is_ = (str(x[model_type].get(key, "absent"))[:80] for x in (a, b))
            print(f"  {model_type}: {key}: {was} -> {is_}")
        found += len(keys)
    return len(came) + len(went) + found


def compare(old, new):
    import compare as parts
    import store

    found = 0
    for name in store.FILES:
        a, _ = store.load(old, name)
        b, head = store.load(new, name)
        found += parts.report(name, a, b, head.get("left_out", {}))
    found += compare_defaults(old, new)
    return 1 if found else 0


def check_facts(folder):
    import facts

    print(f"rows of {folder}, compared with {source()}:")
    found = facts.report(folder)
    print(f"{found} rows differ or are missing")
    return 1 if found else 0


def reflow(paths):
    import facts

    for path in paths:
        with open(path) as f:
            text = f.read()

        def again(match):
            type_, family, strings = match.groups()
            words = "".join(re.findall(r'"([^"]*)"', strings))
            return facts.write_text(type_, family, words)

        text = re.sub(r'    \{ "([^"]+)", "([^"]+)",\s*((?:"[^"]*"\s*)+)\},', again, text)
        with open(path, "w") as f:
            f.write(text)
    return 0


def main(arguments):
    commands = {"build": build, "compare": compare, "facts": check_facts}
    if arguments[:1] == ["reflow"]:
        return reflow(arguments[1:])
    if not arguments or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    quiet()
    return commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

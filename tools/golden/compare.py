# SPDX-License-Identifier: MIT
"""Shows what changed between two builds of a golden file, case by case."""
import torch


def flat(value, at=""):
    """A meta as {path: value}."""
    if isinstance(value, dict):
        out = {}
        for key, sub in value.items():
            out |= flat(sub, f"{at}.{key}" if at else key)
        return out
    return {at: value}


def meta_changes(old, new):
    a, b = flat(old), flat(new)
    for key in sorted(a.keys() | b.keys()):
        if key.endswith("transformers_version"):
            continue
        if key not in b:
            yield f"{key} is gone (was {a[key]})"
        elif key not in a:
            yield f"{key} is new: {b[key]}"
        elif a[key] != b[key]:
            yield f"{key}: {a[key]} -> {b[key]}"


def tensor_change(old, new):
    """A sentence that says how two tensors differ; None if they are equal bit for bit."""
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{tuple(old.shape)} {old.dtype} -> {tuple(new.shape)} {new.dtype}"
    if torch.equal(old, new):
        return None
    if not old.dtype.is_floating_point:
        return f"{int((old != new).sum())} of {old.numel()} differ"
    off = (old.double() - new.double()).abs().max().item()
    return f"differs by {off:.3g}, {off / max(old.double().abs().max().item(), 1e-300):.2g} of the largest"


def case_changes(old, new):
    """Lines that say how two cases differ; an empty list if they are the same."""
    lines = list(meta_changes(old["meta"], new["meta"]))
    for field in sorted(old["tensors"].keys() | new["tensors"].keys()):
        if field not in new["tensors"]:
            lines.append(f"{field} is gone")
        elif field not in old["tensors"]:
            lines.append(f"{field} is new")
        else:
            change = tensor_change(old["tensors"][field], new["tensors"][field])
            lines += [f"{field}: {change}"] if change else []
    return lines


def report(name, old, new, failed=()):
    """Prints the changes of a file; returns how many cases differ, are new or are gone."""
    equal = 0
    changed = {}
    for case in new:
        if case in old:
            lines = case_changes(old[case], new[case])
            equal += not lines
            if lines:
                changed[case] = lines
    came = [case for case in new if case not in old]
    gone = [case for case in old if case not in new]
    print(f"{name}: {equal} equal, {len(changed)} differ, {len(came)} new, {len(gone)} gone")
    for case, lines in changed.items():
        print(f"  {case}")
        for line in lines:
            print(f"    {line}")
    for case in came:
        print(f"  {case} is new")
    for case in gone:
        print(f"  {case} is gone{': ' + failed[case] if case in failed else ''}")
    return len(changed) + len(came) + len(gone)

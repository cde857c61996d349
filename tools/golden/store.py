# SPDX-License-Identifier: MIT
"""Golden files: NAME.json, the index (a case per line), beside NAME.safetensors. A case is {"meta": {...}, "tensors": {field: tensor}}."""
import json
import os
import zlib

import torch
from safetensors.torch import load_file, save_file

FILES = ("rope_types", "rope_layouts", "sinusoidal", "biases", "relative_attention", "rope_census", "layer_census",
         "table_census")  # fmt: skip


def load(folder, name):
    """Returns {case: {"meta", "tensors"}} and the rest of the index; two empty dicts if there is no such file."""
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return {}, {}
    with open(path) as f:
        index = json.load(f)
    data = load_file(os.path.join(folder, name + ".safetensors"))
    cases = {
        case: {"meta": one["meta"], "tensors": {field: data[at] for field, at in one["tensors"].items()}}
        for case, one in index.pop("cases").items()
    }
    return cases, index


def save(folder, name, cases, head):
    index = dict(head)
    index["cases"] = {
        case: {"meta": one["meta"], "tensors": {field: f"{case}/{field}" for field in one["tensors"]}}
        for case, one in cases.items()
    }
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".json"), "w") as f:
        lines = [f" {json.dumps(case)}: {json.dumps(one)}" for case, one in index.pop("cases").items()]
        top = [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in index.items()]
        f.write("{" + "\n".join(top) + '\n"cases": {\n' + ",\n".join(lines) + "\n}}\n")
    data = {f"{case}/{field}": t.contiguous() for case, one in cases.items() for field, t in one["tensors"].items()}
    save_file(data, os.path.join(folder, name + ".safetensors"))


class Inputs:
    """The inputs of a case: those of the stored case, or random numbers whose seed is the case's name."""

    def __init__(self, case, stored):
        self.stored = stored["tensors"] if stored else {}
        self.random = torch.Generator().manual_seed(zlib.crc32(case.encode()))

    def normal(self, field, *shape, scale=1.0, mean=0.0):
        if field in self.stored:
            return self.stored[field].clone()
        return torch.randn(*shape, generator=self.random) * scale + mean

    def uniform(self, field, *shape):
        if field in self.stored:
            return self.stored[field].clone()
        return torch.rand(*shape, generator=self.random)

    def whole(self, field, high, *shape):
        if field in self.stored:
            return self.stored[field].clone()
        return torch.randint(0, high, shape, generator=self.random)

    def fixed(self, field, values):
        return self.stored[field].clone() if field in self.stored else torch.tensor(values)

    def weights(self, module, names=None):
        """Fills the parameters of a module; returns them by their names in the golden file, where _ replaces dots."""
        taken = {}
        with torch.no_grad():
            for key, value in module.named_parameters():
                field = names(key) if names else key.replace(".", "_")
                value.copy_(self.normal(field, *value.shape, scale=0.3))
                taken[field] = value.detach().clone()
        return taken

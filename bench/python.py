# SPDX-License-Identifier: MIT
"""posenc through Python beside PyTorch: eager, compiled, and SDPA with a materialised bias.

    python3 bench/python.py [--quick] [--threads N]

Prints a Markdown table of microseconds. The candidates of a line run alternately; the best round of each counts. Biases
and tables of the peers are made before the clock starts. `make bench` runs this where posenc and torch can be imported.
"""

import argparse
import os
import sys
import time

try:
    import numpy as np
    import posenc
    import posenc.torch as pt
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    sys.exit(f"Python's own table is left out: {missing}")


def best(calls, rounds, quick):
    """Microseconds of each call: rounds of 2 ms or one call, alternately."""
    count = []
    for call in calls:
        call()
        begin = time.perf_counter()
        call()
        count.append(1 if quick else max(1, int(0.002 / max(time.perf_counter() - begin, 1e-7))))
    times = [float("inf")] * len(calls)
    for _ in range(1 if quick else rounds):
        for i, call in enumerate(calls):
            begin = time.perf_counter()
            for _ in range(count[i]):
                call()
            times[i] = min(times[i], (time.perf_counter() - begin) / count[i])
    return [t * 1e6 for t in times]


def rotate_half(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def attend(q, k, v, bias):
    """Eager attention, (batch, heads, tokens, dim)."""
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias, -1) @ v


def trained(call, inputs):
    """Forward and backward."""

    def step():
        for x in inputs:
            x.grad = None
        call(*inputs).sum().backward()

    return step


def calls():
    """What a call itself costs: one head of one token; Tensor.clone is the least that PyTorch does."""
    rope, alibi = (posenc.Encoding(spec, heads=1, head_dim=64) for spec in ("rope", "alibi"))
    rope_key, alibi_key = pt.key_of(rope), pt.key_of(alibi)
    x = torch.ones(1, 1, 1, 64)
    leaf = x.clone().requires_grad_()
    yield "call: Tensor.clone", {"posenc": x.clone}
    yield "call: rotate, the C module", {"posenc": lambda: rope.rotate(x)}
    yield "call: posenc.torch.rotate", {"posenc": lambda: pt.rotate(x, rope_key)}
    yield "call: posenc.torch.rotate, for backward", {"posenc": lambda: pt.rotate(leaf, rope_key)}
    yield "call: x + 1, for backward", {"posenc": lambda: leaf + 1}
    yield "call: attention, the C module", {"posenc": lambda: alibi.attention(x, x, x)}
    yield "call: posenc.torch.attention", {"posenc": lambda: pt.attention(x, x, x, alibi_key)}
    t5 = pt.Encoding("t5", heads=1, head_dim=64).requires_grad_(False)
    yield "call: posenc.torch.Encoding.attention, learned", {"posenc": lambda: t5.attention(x, x, x)}


def rotations(compiled):
    """Rows: name, {candidate: call}."""
    rope = posenc.Encoding("rope", heads=1, head_dim=64)
    tiny = np.ones((1, 1, 1, 64), np.float32)
    yield "one head of one token, new array", {"posenc": lambda: rope.rotate(tiny, start=3)}
    yield "one head of one token, out=", {"posenc": lambda: rope.rotate(tiny, start=3, out=tiny)}
    for tokens in (1, 512):
        e = posenc.Encoding("rope", heads=32, head_dim=128)
        key = pt.key_of(e)
        x = torch.randn(1, tokens, 32, 128)
        cos, sin = (torch.from_numpy(t).repeat(1, 2)[:, None] for t in e.table(tokens))
        name = f"{tokens} token{'s' if tokens > 1 else ''}, 32 heads of 128, tensors"
        fast = compiled(rotate_half)
        yield (
            name,
            {
                "posenc": lambda x=x, key=key: pt.rotate(x, key),
                "eager": lambda x=x, c=cos, s=sin: rotate_half(x, c, s),
                "compiled": lambda x=x, c=cos, s=sin, f=fast: f(x, c, s),
            },
        )


def attentions(compiled, quick):
    """Rows of attention: 8 heads of 64, causal; forward, forward and backward, decode."""
    n = 256 if quick else 1024
    fast = compiled(attend)
    for spec in ("none", "alibi", "t5"):
        e = posenc.Encoding(spec, heads=8, head_dim=64, seed=1)
        module = pt.Encoding(spec, heads=8, head_dim=64, seed=1).requires_grad_(False)
        scale = 1.0 if spec == "t5" else 64**-0.5
        q, k, v = torch.randn(3, 1, 8, n, 64)
        hidden = torch.full((n, n), float("-inf")).triu(1)
        bias = hidden + (torch.from_numpy(e.bias(n)) if spec != "none" else 0.0)

        def ours(q, k, v, module=module):
            return module(q, k, v, causal=True, layout="bhtd")

        def sdpa(q, k, v, bias=bias, plain=spec == "none", scale=scale):
            if plain:
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)

        candidates = {"posenc": ours, "SDPA": sdpa}
        candidates["eager"] = lambda q, k, v, b=bias: attend(q, k, v, b)
        candidates["compiled"] = lambda q, k, v, b=bias, f=fast: f(q, k, v, b)
        yield (
            f"{spec}, {n} tokens, forward",
            {name: (lambda f=f, q=q, k=k, v=v: f(q, k, v)) for name, f in candidates.items()},
        )
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        yield f"{spec}, {n} tokens, forward and backward", {name: trained(f, leaves) for name, f in candidates.items()}
        keys = 4 * n
        one, old_k, old_v = torch.randn(1, 8, 1, 64), torch.randn(1, 8, keys, 64), torch.randn(1, 8, keys, 64)
        row = torch.from_numpy(e.bias(np.array([keys - 1]), keys)) if spec != "none" else torch.zeros(1, 1, keys)
        yield (
            f"{spec}, decode, 1 query and {keys} keys",
            {
                "posenc": lambda m=module, q=one, k=old_k, v=old_v: m(q, k, v, layout="bhtd"),
                "SDPA": lambda q=one, k=old_k, v=old_v, b=row, s=scale: F.scaled_dot_product_attention(
                    q, k, v, attn_mask=b[None], scale=s
                ),
                "eager": lambda q=one, k=old_k, v=old_v, b=row: attend(q, k, v, b),
            },
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options, _ = parser.parse_known_args()
    torch.set_num_threads(options.threads)
    posenc.set_threads(options.threads)
    rounds = 9

    def compiled(function):
        return torch.compile(function, backend="eager" if options.quick else "inductor")

    columns = ["posenc", "SDPA", "eager", "compiled"]
    print(f"\n### Python: microseconds, {options.threads} threads, float32, best of {rounds}\n")
    print(f"posenc {posenc.__version__}, PyTorch {torch.__version__}. (3x): posenc is 3 times as fast.\n")
    print("| call |" + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    with torch.no_grad():
        rows = list(rotations(compiled))
    for name, candidates in [*calls(), *rows, *attentions(compiled, options.quick)]:
        with torch.set_grad_enabled("backward" in name):
            times = dict(zip(candidates, best(list(candidates.values()), rounds, options.quick), strict=True))
        cells = [f"{times['posenc']:.4g}"]
        cells += [f"{times[c]:.4g} ({times[c] / times['posenc']:.2g}x)" if c in times else "" for c in columns[1:]]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()

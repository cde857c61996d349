# SPDX-License-Identifier: MIT
"""posenc on a GPU beside its peers, in one run: `make bench-gpu`, or python bench/gpu.py [--json FILE] [--only PART].

Attention is causal, bfloat16; TFLOP/s are counted as 4 B H n^2 d / 2 forward and 3.5 times that with the backward pass.
Times are the best of several groups of calls between two CUDA events; calls are enqueued ahead, so that what the host
does between them does not count. Rotations, which are short, are replayed from a CUDA graph, each call on other memory.
A peer that fails says so in its row. Needs PyTorch with CUDA and the package posenc (pip install .).
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import posenc
import posenc.torch
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

Call = Callable[[], Any]
SHAPES = [(4, 16, 4096, 64), (2, 16, 8192, 128), (1, 16, 16384, 128)]  # batch, heads, tokens, head dimension
SPECS = {
    "plain": "none",
    "rope": "rope",
    "ALiBi": "alibi",
    "T5, trained": "t5",
    "KERPLE, trained": "kerple",
    "Sandwich": "sandwich",
}
ROTATIONS = [4096, 65536]  # tokens
QUERY_HEADS, KEY_HEADS, ROTATED_DIM = 32, 8, 128
ROUNDS = 5
BF16 = torch.bfloat16

# ---------------------------------------------------------------- time


def seconds(call: Call) -> float:
    return fastest([call])[0]


def fastest(calls: list[Call], least: float = 0.02) -> list[float]:
    """The time of each call: the best of some groups that take about so long. Calls take turns, so that changes of the
    GPU's clock meet all of them."""
    for call in 2 * calls:
        call()
    counts = [max(2, min(50, int(least / max(group(call, 1), 1e-6)))) for call in calls]
    times = [[group(call, count) for call, count in zip(calls, counts, strict=True)] for _ in range(ROUNDS)]
    return [min(of_call) for of_call in zip(*times, strict=True)]


def group(call: Call, count: int) -> float:
    """The mean time of calls that are enqueued one after the other."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(count):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / count


def replayed(calls: list[Call]) -> float:
    """The time of one of some calls, captured in a graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph, kept = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        kept.extend(call() for call in calls)
    return seconds(graph.replay) / len(calls)


# ---------------------------------------------------------------- attention


def inputs(shape: tuple[int, ...], heads_first: bool) -> list[Tensor]:
    """q, k, v and the gradient of the output."""
    batch, heads, tokens, dim = shape
    size = (batch, heads, tokens, dim) if heads_first else (batch, tokens, heads, dim)
    torch.manual_seed(1)
    return [torch.randn(size, device="cuda", dtype=BF16) for _ in range(4)]


def both_ways(attend: Callable[..., Tensor], x: list[Tensor], trained: list[Tensor]) -> tuple[Call, Call]:
    """The forward pass, and both passes with the gradients of q, k, v and of what is trained."""
    q, k, v, dout = x
    wanted = [t.detach().requires_grad_() for t in (q, k, v)]

    def forward() -> Tensor:
        with torch.no_grad():
            return attend(q, k, v)

    def train() -> Any:
        return torch.autograd.grad(attend(*wanted), [*wanted, *trained], dout)

    return forward, train


def of_posenc(spec: str, shape: tuple[int, ...]) -> tuple[Call, Call]:
    e = posenc.torch.Encoding(spec, heads=shape[1], head_dim=shape[3]).cuda()
    return both_ways(lambda q, k, v: e.attention(q, k, v, causal=True), inputs(shape, False), list(e.parameters()))


def of_sdpa(backend: SDPBackend, shape: tuple[int, ...]) -> tuple[Call, Call]:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return both_ways(attend, inputs(shape, True), [])


def slopes_of(heads: int) -> Tensor:
    return torch.exp2(-8 * torch.arange(1, heads + 1, device="cuda") / heads)


def of_flex(kind: str, shape: tuple[int, ...]) -> tuple[Call, Call]:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    _, heads, tokens, _ = shape
    slopes = slopes_of(heads)
    table = torch.randn(heads, tokens, device="cuda")
    mods: dict[str, Any] = {
        "plain": None,
        "ALiBi": lambda score, b, h, i, j: score - slopes[h] * (i - j),
        "table": lambda score, b, h, i, j: score + table[h, i - j],
    }
    seen = create_block_mask(lambda b, h, i, j: i >= j, None, None, tokens, tokens, device="cuda")
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention, dynamic=False)
    attend = lambda q, k, v: compiled(q, k, v, score_mod=mods[kind], block_mask=seen)  # noqa: E731
    return both_ways(attend, inputs(shape, True), [])


def of_flash4(shape: tuple[int, ...]) -> tuple[Call, Call]:
    from flash_attn.cute import flash_attn_func  # type: ignore[import-not-found]

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out = flash_attn_func(q, k, v, causal=True)
        return out[0] if isinstance(out, tuple) else out

    return both_ways(attend, inputs(shape, False), [])


def of_eager(compiled: bool, shape: tuple[int, ...]) -> tuple[Call, Call]:
    """ALiBi as a matrix that is added to scores, as models write it."""
    batch, heads, tokens, dim = shape
    needed, free = 12 * 2 * batch * heads * tokens**2, torch.cuda.mem_get_info()[0]
    if needed > free:
        raise MemoryError(f"needs about {needed / 2**30:.0f} GiB of device memory; {free / 2**30:.0f} are free")
    at = torch.arange(tokens, device="cuda")
    away = at[:, None] - at
    bias = torch.where(away >= 0, -slopes_of(heads)[:, None, None] * away, -torch.inf).to(BF16)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.transpose(-1, -2) * dim**-0.5 + bias
        return scores.softmax(-1, dtype=torch.float32).to(q.dtype) @ v

    if compiled:
        torch._dynamo.reset()
        attend = torch.compile(attend, dynamic=False)
    return both_ways(attend, inputs(shape, True), [])


PEERS: dict[str, Callable[[tuple[int, ...]], tuple[Call, Call]]] = {
    "SDPA flash, plain": lambda shape: of_sdpa(SDPBackend.FLASH_ATTENTION, shape),
    "SDPA cuDNN, plain": lambda shape: of_sdpa(SDPBackend.CUDNN_ATTENTION, shape),
    "FlashAttention-4, plain": of_flash4,
    "eager, ALiBi as a matrix": lambda shape: of_eager(False, shape),
    "torch.compile, ALiBi as a matrix": lambda shape: of_eager(True, shape),
    "FlexAttention, plain": lambda shape: of_flex("plain", shape),
    "FlexAttention, ALiBi": lambda shape: of_flex("ALiBi", shape),
    "FlexAttention, a table by distance": lambda shape: of_flex("table", shape),
}


def short(error: BaseException) -> str:
    """The first words of an error, for a table."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:80].replace("|", "/")


def measured(makes: dict[str, Callable[[], tuple[Call, Call]]], shape: tuple[int, ...]) -> list[dict[str, Any]]:
    """TFLOP/s of both passes of each, measured in turns; an error says why one is missing."""
    batch, heads, tokens, dim = shape
    flops, rows, calls = 4 * batch * heads * tokens**2 * dim / 2, {}, {}
    for name, make in makes.items():
        rows[name] = {"name": name, "shape": shape}
        try:
            passes = make()
            for call in passes:
                call()
            torch.cuda.synchronize()
            calls[name] = passes
        except Exception as error:  # a peer may fail in any way; its row says how
            rows[name]["error"] = short(error)
    times = iter(fastest([call for passes in calls.values() for call in passes]) if calls else [])
    for name in calls:
        rows[name]["forward"] = flops / next(times) / 1e12
        rows[name]["both"] = 3.5 * flops / next(times) / 1e12
    torch.cuda.empty_cache()
    for row in rows.values():
        print(f"{row['name']} {shape}: {said(row)}", file=sys.stderr)
    return list(rows.values())


def attention(until: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for shape in SHAPES:
        own = {f"posenc, {name}": lambda spec=spec: of_posenc(spec, shape) for name, spec in SPECS.items()}
        rows += measured(own, shape)
    for name, make in PEERS.items():
        for shape in SHAPES:
            if time.monotonic() > until:
                rows.append({"name": name, "shape": shape, "error": "not measured: out of time"})
            else:
                rows += measured({name: lambda: make(shape)}, shape)  # noqa: B023
    return rows


# ---------------------------------------------------------------- rotation


def turn_by_hand(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """As models write it: halves swapped, and two products."""

    def turn(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    return turn(q), turn(k)


def rotations(tokens: int) -> dict[str, Callable[[Tensor, Tensor], Call]]:
    e = posenc.Encoding("rope", heads=QUERY_HEADS, kv_heads=KEY_HEADS, head_dim=ROTATED_DIM)
    cos, sin = (
        torch.from_numpy(table).repeat(1, 2).to("cuda", BF16).reshape(1, tokens, 1, ROTATED_DIM)
        for table in e.table(tokens)
    )
    torch._dynamo.reset()
    compiled = torch.compile(turn_by_hand, dynamic=False)
    return {
        "clones of q and k": lambda q, k: lambda: (q.clone(), k.clone()),
        "posenc": lambda q, k: lambda: posenc.torch.rotate_qk(q, k, e),
        "posenc, in place": lambda q, k: lambda: e.rotate_qk(q, k, q_out=q, k_out=k),
        "eager": lambda q, k: lambda: turn_by_hand(q, k, cos, sin),
        "torch.compile": lambda q, k: lambda: compiled(q, k, cos, sin),
    }


def rotation() -> list[dict[str, Any]]:
    """TB/s: every element is read once and written once."""
    rows: list[dict[str, Any]] = []
    for tokens in ROTATIONS:
        size = 2 * 2 * tokens * (QUERY_HEADS + KEY_HEADS) * ROTATED_DIM
        buffers = [
            [
                torch.randn(1, tokens, heads, ROTATED_DIM, device="cuda", dtype=BF16)
                for heads in (QUERY_HEADS, KEY_HEADS)
            ]
            for _ in range(max(2, (1 << 28) // size))  # more than the caches hold
        ]
        for name, make in rotations(tokens).items():
            row: dict[str, Any] = {"name": name, "tokens": tokens}
            try:
                row["TB/s"] = size / replayed([make(q, k) for q, k in buffers]) / 1e12
            except Exception as error:  # as above
                row["error"] = short(error)
            rows.append(row)
            print(f"rotation of {tokens} tokens, {name}: {said(row)}", file=sys.stderr)
        torch.cuda.empty_cache()
    return rows


# ---------------------------------------------------------------- the machine


def limits() -> dict[str, float]:
    """What a copy of 1 GiB and a large product reach, in TB/s and TFLOP/s."""
    x = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    copy = 2 * x.numel() / seconds(lambda: y.copy_(x)) / 1e12
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=BF16) for _ in range(2))
    product = 2 * 8192**3 / seconds(lambda: a @ b) / 1e12
    return {"copy": copy, "product": product}


def machine() -> dict[str, str]:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"]
    try:
        driver = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        driver = "unknown"
    return {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name(),
        "driver": driver,
        "cuda": str(torch.version.cuda),
        "torch": torch.__version__,
        "posenc": posenc.__version__,
    }


# ---------------------------------------------------------------- tables


def said(row: dict[str, Any]) -> str:
    numbers = [f"{row[key]:.0f}" for key in ("forward", "both") if key in row]
    numbers += [f"{row['TB/s']:.2f}"] if "TB/s" in row else []
    return ", ".join([*numbers, *([row["error"]] if "error" in row else [])])


def over_plain(rows: list[dict[str, Any]], row: dict[str, Any]) -> str:
    """How much longer than plain attention of the same library it takes, in percent."""
    plain = next(r for r in rows if r["name"] == "posenc, plain" and r["shape"] == row["shape"])
    times = [
        f"{100 * (plain[key] / row[key] - 1):+.0f} %" for key in ("forward", "both") if key in row and key in plain
    ]
    return f" ({', '.join(times)})" if times else ""


def attention_table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| | " + " | ".join(f"B{b} H{h} n{n} d{d}" for b, h, n, d in SHAPES) + " |",
        "|---|" + "---|" * len(SHAPES),
    ]
    for name in dict.fromkeys(row["name"] for row in rows):
        cells = []
        for row in (r for r in rows if r["name"] == name):
            share = over_plain(rows, row) if name.startswith("posenc") and name != "posenc, plain" else ""
            cells.append(said(row) + share)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rotation_table(rows: list[dict[str, Any]], copy: float) -> str:
    lines = ["| | " + " | ".join(f"n {tokens}" for tokens in ROTATIONS) + " |", "|---|" + "---|" * len(ROTATIONS)]
    for name in dict.fromkeys(row["name"] for row in rows):
        cells = []
        for row in (r for r in rows if r["name"] == name):
            share = f" ({100 * row['TB/s'] / copy:.0f} %)" if "TB/s" in row else ""
            cells.append(said(row) + share)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(result: dict[str, Any]) -> str:
    m, limit = result["machine"], result["limits"]
    parts = [
        f"{m['date']}, {m['gpu']}, driver {m['driver']}, CUDA {m['cuda']}, PyTorch {m['torch']}, posenc {m['posenc']}. "
        f"In the same run a copy of 1 GiB reaches {limit['copy']:.2f} TB/s and a bfloat16 product of 8192 x 8192 "
        f"matrices {limit['product']:.0f} TFLOP/s."
    ]
    if result["attention"]:
        best = max(
            (row["forward"] for row in result["attention"] if row["name"] == "posenc, plain" and "forward" in row),
            default=0,
        )
        parts.append(
            "Causal attention, bfloat16: TFLOP/s forward, and forward with backward; in brackets the time over plain. "
            f"posenc's plain forward reaches {100 * best / limit['product']:.0f} % of the product."
        )
        parts.append(attention_table(result["attention"]))
    if result["rotation"]:
        parts.append(
            f"Rotation of q ({QUERY_HEADS} heads) and k ({KEY_HEADS}), bfloat16, d {ROTATED_DIM}: TB/s read and "
            "written, and the share of the copy of 1 GiB."
        )
        parts.append(rotation_table(result["rotation"], limit["copy"]))
    return "\n\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description="posenc on a GPU beside its peers")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to a file; -: to standard output, alone")
    parser.add_argument("--only", choices=["attention", "rotation"], help="one part")
    parser.add_argument("--seconds", type=float, default=200, help="peers are not begun after so long (default 200)")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("bench/gpu.py: needs a CUDA device (torch.cuda.is_available() is False)", file=sys.stderr)
        return 2
    until = time.monotonic() + options.seconds
    result: dict[str, Any] = {"machine": machine(), "limits": limits()}
    result["rotation"] = rotation() if options.only != "attention" else []
    result["attention"] = attention(until) if options.only != "rotation" else []
    text = json.dumps(result, indent=1)
    if options.json and options.json != "-":
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    print(text if options.json == "-" else report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Ring attention on paper: the tables of docs/scale.md, from constants that were measured or published.

    python3 bench/scale.py                 what long sequences need on known networks
    python3 bench/scale.py runs <lines     the table of scripts/bench_mpi.sh, from the lines of bench/mpi/ring.c

A step of the ring takes as long as its computing or its transfer, whichever is longer; ranks are alike (zigzag).
Nothing else is modelled: other parts of a model, stragglers, links that are shared.
"""

import sys
from collections.abc import Iterable
from typing import NamedTuple

HEADS, KV_HEADS, DIM, LAYERS = 32, 8, 128, 32  # Llama 3.1 8B
SIZE, SUM = 2, 4  # bytes of an element (bfloat16), of one of a gradient's sum
FORWARD, BOTH = 610e12, 440e12  # flop/s of one H200, measured: docs/performance.md, d 128
NETWORKS = {  # bytes per second in one direction, published
    "NVLink 4, 450 GB/s": 450e9,
    "400 Gbit/s per GPU": 50e9,
    "100 Gbit/s per GPU": 12.5e9,
    "25 Gbit/s per GPU": 3.125e9,
}
MEASURED = 16384  # tokens of one rank whose times are the constants of the model of runs


def step(tokens: int, ranks: int, rate: float, back: bool) -> tuple[float, float]:
    """Seconds of computing and of transfer in one step: causal, so half of all pairs."""
    share = tokens / ranks
    flop = (10 if back else 4) * DIM * HEADS * share * share / 2
    speed = 2.5 / (3.5 / BOTH - 1 / FORWARD) if back else FORWARD
    elements = share * 2 * KV_HEADS * DIM
    return flop / speed, elements * (SIZE + (SUM if back else 0)) / rate


def layer(tokens: int, ranks: int, rate: float, back: bool) -> float:
    """Seconds of one pass over one layer."""
    computing, transfer = step(tokens, ranks, rate, back)
    return computing + (ranks - 1) * max(computing, transfer)


def print_shares() -> None:
    """The least share of tokens whose transfer hides behind computing: m = (flop/s : bytes/s) * (G : H) * s."""
    print("| network | 32 key heads | 8 | 4 |\n|---|---|---|---|")
    for name, rate in NETWORKS.items():
        cells = (f"{FORWARD / rate * heads / HEADS * SIZE:,.0f}" for heads in (32, 8, 4))
        print(f"| {name} | {' | '.join(cells)} |")


def print_needs() -> None:
    """Time, efficiency and bytes of long sequences."""
    print("| tokens | GPUs | " + " | ".join(NETWORKS) + " | sent by a rank, GB | q, k, v, out of a rank, GB |")
    print("|---|---|" + "---|" * (len(NETWORKS) + 2))
    for tokens, counts in ((1 << 20, (8, 64, 512)), (10 << 20, (64, 512, 4096))):
        for ranks in counts:
            cells = []
            for rate in NETWORKS.values():
                took = LAYERS * (layer(tokens, ranks, rate, False) + layer(tokens, ranks, rate, True))
                alone = LAYERS * sum(ranks * step(tokens, ranks, rate, back)[0] for back in (False, True))
                cells.append(f"{took:,.1f} s, {alone / took:.0%}")
            share = tokens / ranks
            sent = LAYERS * (ranks - 1) * share * 2 * KV_HEADS * DIM * (2 * SIZE + SUM) / 1e9
            held = LAYERS * share * 2 * (HEADS + KV_HEADS) * DIM * SIZE / 1e9
            print(f"| {tokens >> 20}M | {ranks} | {' | '.join(cells)} | {sent:,.0f} | {held:,.1f} |")


class Run(NamedTuple):
    """A line of bench/mpi/ring.c: causal, float32, as many key heads as heads; the most of a rank."""

    ranks: int
    tokens: int
    order: str
    back: bool
    seconds: float
    sent: float
    memory: float
    heads: int
    dim: int


def read_run(line: str) -> Run:
    ranks, tokens, order, step, seconds, _, sent, memory, heads, dim = line.split()
    back = step == "backward"
    return Run(int(ranks), int(tokens), order, back, float(seconds), float(sent), float(memory), int(heads), int(dim))


def pairs(run: Run) -> float:
    """Of a query and a key that it sees, of the rank that has most."""
    most = (2 * run.ranks - 1) / run.ranks**2 if run.order == "contiguous" else 1 / run.ranks
    return run.heads * run.tokens**2 / 2 * most


def memory(run: Run) -> float:
    """Bytes of a rank's work memory: the formula of docs/scale.md, for one sequence in float32."""
    share, wide = run.tokens / run.ranks, 2 * run.dim
    part = share / 2 if run.order == "zigzag" else share
    if run.back:
        apart = run.heads * max(-(-8 // run.heads), min(-(-16 // run.heads), 4))
        return 28 * share * run.heads * wide + 4 * part * wide * (2 * run.heads + apart)
    return share * (8 * run.heads * wide + 4 * run.heads * (run.dim + 2)) + 4 * part * run.heads * wide


def told(seconds: float) -> str:
    return f"{seconds:.{4 if seconds < 0.1 else 3 if seconds < 1 else 2}f}"


def print_runs(lines: Iterable[str]) -> None:
    """What was measured, with the model beside it: its constants are the times of one rank with MEASURED tokens."""
    remarks, runs = [], []
    for line in lines:
        if line.startswith("#"):
            remarks.append(line.removeprefix("#").strip())
        else:
            runs.append(read_run(line))
    constant: dict[bool, float] = {}
    for run in runs:
        if (run.ranks, run.tokens) == (1, MEASURED):
            constant.setdefault(run.back, run.seconds / pairs(run))
    took: dict[tuple[str, int, int], list[Run]] = {}
    for run in runs:
        took.setdefault((run.order, run.tokens, run.ranks), []).append(run)
    seconds = {key: sum(run.seconds for run in both) for key, both in took.items()}
    names = "forward, s (model) | backward, s (model) | tokens/s | efficiency | MB sent | work memory, MB (model)"
    print(f"| order | tokens | ranks | {names} |\n|---|---|---|---|---|---|---|---|---|")
    for (order, tokens, ranks), both in sorted(took.items(), key=lambda x: (x[0][0] != "zigzag", x[0])):
        cells = [
            told(run.seconds) + (f" ({told(constant[run.back] * pairs(run))})" if run.back in constant else "")
            for run in both
        ]
        cells += ["not run"] * (2 - len(both))
        whole = seconds[order, tokens, ranks]
        alone = seconds.get((order, tokens, 1))
        cells += [f"{tokens / whole:,.0f}", f"{alone / (ranks * whole):.2f}" if alone else ""]
        cells += [f"{sum(run.sent for run in both) / 1e6:.2f}"]
        cells += [f"{both[-1].memory / 1e6:.1f} ({memory(both[-1]) / 1e6:.1f})"]
        print(f"| {order} | {tokens} | {ranks} | {' | '.join(cells)} |")
    for remark in sorted(set(remarks)):
        print(f"\n{remark}")


if __name__ == "__main__":
    if sys.argv[1:] == ["runs"]:
        print_runs(sys.stdin)
    else:
        print_shares()
        print()
        print_needs()

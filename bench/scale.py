# SPDX-License-Identifier: MIT
"""Ring attention on paper: the tables of docs/scale.md, from constants that were measured or published.

    python3 bench/scale.py

A step of the ring takes as long as its computing or its transfer, whichever is longer; ranks are alike (zigzag).
Nothing else is modelled: other parts of a model, stragglers, links that are shared.
"""

HEADS, KV_HEADS, DIM, LAYERS = 32, 8, 128, 32  # Llama 3.1 8B
SIZE, SUM = 2, 4  # bytes of an element (bfloat16), of one of a gradient's sum
FORWARD, BOTH = 610e12, 440e12  # flop/s of one H200, measured: docs/performance.md, d 128
NETWORKS = {  # bytes per second in one direction, published
    "NVLink 4, 450 GB/s": 450e9,
    "400 Gbit/s per GPU": 50e9,
    "100 Gbit/s per GPU": 12.5e9,
    "25 Gbit/s per GPU": 3.1e9,
}


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


print_shares()
print()
print_needs()

# SPDX-License-Identifier: MIT
"""Decoding from a paged KV cache, as vLLM and others keep it: one pool of pages, a table of pages per sequence.

Two sequences of different lengths grow token by token; a page is taken from the pool when the last one is full. The
result is compared with attention over all tokens at once.
"""

import numpy as np
import posenc

HEADS, KV_HEADS, DIM, PAGE = 8, 2, 64, 16
pe = posenc.Encoding("rope:theta=5e5", heads=HEADS, head_dim=DIM, kv_heads=KV_HEADS)
rng = np.random.default_rng(0)

pool_k = np.zeros((12, PAGE, KV_HEADS, DIM), np.float32)  # (pages, page size, heads, dim)
pool_v = np.zeros_like(pool_k)
free = list(rng.permutation(12))
table = np.zeros((2, 6), np.int32)  # the pages of each sequence, in order
length = np.array([0, 0])
seen = [([], [], []), ([], [], [])]  # q, k and v of each sequence, for the comparison


def append(sequence: int, k: np.ndarray, v: np.ndarray) -> None:
    """Stores one token; keys are stored rotated."""
    page, slot = divmod(int(length[sequence]), PAGE)
    if slot == 0:
        table[sequence, page] = free.pop()
    pe.rotate(k[None], start=length[sequence], side="key", out=pool_k[table[sequence, page], slot][None])
    pool_v[table[sequence, page], slot] = v
    length[sequence] += 1


for step in range(40):
    q, k, v = (rng.standard_normal((2, h, DIM), dtype=np.float32) for h in (HEADS, KV_HEADS, KV_HEADS))
    for sequence in range(2):
        if sequence == 0 and step < 9:  # the first sequence starts later
            continue
        append(sequence, k[sequence], v[sequence])
        for kept, new in zip(seen[sequence], (q, k, v), strict=True):
            kept.append(new[sequence])
    if length.min() == 0:
        continue
    out = pe.attention(q[:, None], pool_k, pool_v, page_table=table, k_lengths=length, rotated=True)

for sequence in range(2):
    all_q, all_k, all_v = (np.stack(kept) for kept in seen[sequence])
    whole = pe.attention(all_q, all_k, all_v, causal=True)
    worst = np.abs(out[sequence, 0] - whole[-1]).max()
    print(f"sequence {sequence}: {length[sequence]} tokens, largest difference {worst:.1e}")
    assert worst < 1e-5

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What others need for the same work, as JSON lines that posenc-bench --peers reads.

    bench/peers.py --threads 2 >peers.jsonl      all that is installed: NumPy, PyTorch, ONNX Runtime
    bench/peers.py --only rotate,tables --quick

Each is written as its users write it. A turn lasts 5 ms or one call, and the best turn counts, as in posenc-bench.
A peer that is not installed leaves a line that says how to get it.
"""
import argparse
import importlib.util
import json
import math
import sys
import time

HEADS, DIM = 32, 128      # rotation
A_HEADS, A_DIM = 8, 64    # attention
SIZES = (1, 16, 512, 4096)
args = None


def emit(table, line, who, unit, value, turns=0, n=0, threads=0):
    cell = {"table": table, "line": line, "who": who, "unit": unit, "value": value}
    for key, number in (("n", n), ("threads", threads), ("best_of", turns)):
        if number:
            cell[key] = number
    print(json.dumps(cell), flush=True)


def present(text):
    print(json.dumps({"present": text}), flush=True)


def say(text):
    print("peers: " + text, file=sys.stderr, flush=True)


def best(call, budget=0.25):
    """Seconds of the best turn, and of how many turns."""
    if args.quick:
        budget = 0
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    calls = max(1, int(0.005 / max(once, 1e-9)))
    least, turns, fastest = (1 if args.quick or once > 1 else 4), 0, math.inf
    begun = time.perf_counter()
    while turns < least or (turns < 40 and time.perf_counter() - begun < budget):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        fastest = min(fastest, (time.perf_counter() - start) / calls)
        turns += 1
    return fastest, turns


def sizes():
    return (16,) if args.quick else SIZES


def wanted(topic):
    return args.only is None or topic in args.only.split(",")


def rotated(who, what, n, threads, call):
    """Peers write new tensors; what they need stands beside posenc's time for both manners."""
    seconds, turns = best(call)
    for manner in ("in place", "out of place"):
        emit("rotate", f"{what}, {manner}, table", who, "ns/element", seconds / (n * HEADS * DIM) * 1e9, turns, n, threads)


# ---------------------------------------------------------------- NumPy

def numpy_angles(np, n, first=0):
    inverse = (1.0 / 10000.0 ** (np.arange(0, DIM, 2, dtype=np.float32) / DIM)).astype(np.float32)
    return np.outer(np.arange(first, first + n).astype(np.float32), inverse)


def numpy_rotate(np):
    for n in sizes():
        angles = numpy_angles(np, n)
        angles = np.concatenate((angles, angles), -1)[None]
        cosine, sine = np.cos(angles), np.sin(angles)
        q = np.random.rand(HEADS, n, DIM).astype(np.float32)

        def turn():
            half = np.concatenate((-q[..., DIM // 2:], q[..., :DIM // 2]), -1)
            return q * cosine + half * sine
        rotated("NumPy", "f32 half", n, 1, turn)


def numpy_tables(np):
    n = 2048 if args.quick else 131072

    def make():
        angles = numpy_angles(np, n)
        return np.cos(angles), np.sin(angles)
    seconds, turns = best(make)
    emit("tables", "positions in order", "NumPy f32", "ns/value", seconds / (n * DIM) * 1e9, turns, n, 1)


def true_turns(np, first, n):
    """Angles in the longest floats there are, enough to see errors of float32 angles."""
    places = np.arange(DIM // 2).astype(np.longdouble) / (DIM // 2)
    angles = np.outer(np.arange(first, first + n).astype(np.longdouble), np.longdouble(10000) ** -places)
    return np.cos(angles), np.sin(angles)


def worst(np, turn, truth):
    return float(max(np.abs(turn[i].astype(np.longdouble) - truth[i]).max() for i in range(2)))


def numpy_accuracy(np):
    for first in (10 ** 5, 10 ** 6, 10 ** 9):
        angles = numpy_angles(np, 512, first)
        emit("accuracy", "cos and sin from position", "NumPy f32", "absolute",
             worst(np, (np.cos(angles), np.sin(angles)), true_turns(np, first, 512)), n=first)


def run_numpy():
    import numpy as np
    present("NumPy " + np.__version__)
    say("NumPy")
    if wanted("rotate"):
        numpy_rotate(np)
    if wanted("tables"):
        numpy_tables(np)
    if wanted("accuracy"):
        numpy_accuracy(np)


# ---------------------------------------------------------------- PyTorch: rotation and tables

def torch_angles(torch, positions, dim):
    inverse = 1.0 / (10000.0 ** (torch.arange(0, dim, 2, dtype=torch.int64).float() / dim))
    return torch.outer(positions.float(), inverse)


def torch_half(torch, x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def torch_rotate(torch, threads):
    for n in sizes():
        angles = torch_angles(torch, torch.arange(n), DIM)
        both = torch.cat((angles, angles), -1)[None, None]
        for name, kind in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
            cosine, sine = both.cos().to(kind), both.sin().to(kind)
            q = (torch.rand(1, HEADS, n, DIM) * 2 - 1).to(kind)
            rotated("PyTorch eager", f"{name} half", n, threads, lambda: q * cosine + torch_half(torch, q) * sine)
        polar = torch.polar(torch.ones_like(angles), angles)[:, None, :]
        q = torch.rand(n, HEADS, DIM) * 2 - 1

        def adjacent():
            return torch.view_as_real(torch.view_as_complex(q.view(n, HEADS, DIM // 2, 2)) * polar).flatten(2)
        rotated("PyTorch eager", "f32 adjacent", n, threads, adjacent)


def torch_tables(torch, threads):
    n = 2048 if args.quick else 131072

    def make():
        angles = torch_angles(torch, torch.arange(n), DIM)
        return angles.cos(), angles.sin()
    seconds, turns = best(make)
    emit("tables", "positions in order", "PyTorch f32", "ns/value", seconds / (n * DIM) * 1e9, turns, n, threads)


def torch_accuracy(torch):
    import numpy as np
    for first in (10 ** 5, 10 ** 6, 10 ** 9):
        angles = torch_angles(torch, torch.arange(first, first + 512), DIM)
        emit("accuracy", "cos and sin from position", "PyTorch f32", "absolute",
             worst(np, (angles.cos().numpy(), angles.sin().numpy()), true_turns(np, first, 512)), n=first)


# ---------------------------------------------------------------- PyTorch: attention

def alibi_bias(torch, n):
    slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / A_HEADS) for h in range(A_HEADS)])
    place = torch.arange(n)
    return slopes[:, None, None] * (place[None, :] - place[:, None]).float()


def torch_buckets(torch, distance, buckets=32, most=128):
    exact = buckets // 2
    far = exact + (torch.log(distance.float().clamp(min=1) / exact) / math.log(most / exact) * (buckets - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=buckets - 1))


def t5_bias(torch, n, buckets=32):
    place = torch.arange(n)
    bucket = torch_buckets(torch, (place[:, None] - place[None, :]).clamp(min=0), buckets)
    return torch.rand(buckets, A_HEADS)[bucket].permute(2, 0, 1).contiguous()


def shaw_terms(torch, n, clip=16):
    """Clipped distances by a gather from q R^T, values by a sum per distance: kinder than an n x n x D tensor."""
    place = torch.arange(n)
    index = (place[:, None] - place[None, :]).clamp(-clip, clip) + clip
    index = index[None, None].expand(1, A_HEADS, n, n)
    keys = (torch.rand(2 * clip + 1, A_DIM) * 0.1).requires_grad_()
    values = (torch.rand(2 * clip + 1, A_DIM) * 0.1).requires_grad_()
    return index, keys, values


def attention_calls(torch, kind, n):
    """(who, function of nothing, tensors to differentiate by) for one encoding."""
    softmax_scale = 1 / math.sqrt(A_DIM)
    q, k, v = ((torch.rand(1, A_HEADS, n, A_DIM) * 2 - 1).requires_grad_() for _ in range(3))
    causal = torch.full((n, n), -math.inf).triu(1)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    angles = torch_angles(torch, torch.arange(n), A_DIM)
    both = torch.cat((angles, angles), -1)[None, None]
    cosine, sine = both.cos(), both.sin()
    inputs = [q, k, v]

    def turn(x):
        return x * cosine + torch_half(torch, x) * sine if kind == "rope" else x

    if kind == "shaw":
        index, r_keys, r_values = shaw_terms(torch, n)
        inputs += [r_keys, r_values]

        def shaw():
            score = (q @ k.transpose(-1, -2) + torch.gather(q @ r_keys.T, -1, index)) * softmax_scale + causal
            weight = torch.softmax(score, -1)
            by_distance = torch.zeros(1, A_HEADS, n, r_values.shape[0]).scatter_add(-1, index, weight)
            return weight @ v + by_distance @ r_values
        return [("PyTorch eager", shaw, inputs)]

    bias = causal
    if kind in ("alibi", "t5"):
        bias = (alibi_bias if kind == "alibi" else t5_bias)(torch, n)[None] + causal
    if kind == "t5":
        inputs.append(bias.requires_grad_())

    def eager():
        return torch.softmax(turn(q) @ turn(k).transpose(-1, -2) * softmax_scale + bias, -1) @ v

    def fused():
        if bias is causal:
            return sdpa(turn(q), turn(k), v, is_causal=True)
        return sdpa(q, k, v, attn_mask=bias, scale=softmax_scale)
    return [("PyTorch eager", eager, inputs), ("PyTorch SDPA", fused, inputs)]


def torch_attention(torch, threads):
    n = 64 if args.quick else 2048
    operations = 4 * n * n * A_DIM * A_HEADS / 2
    for kind in ("none", "rope", "alibi", "t5", "shaw"):
        for who, call, inputs in attention_calls(torch, kind, n):
            say(f"PyTorch attention, {kind}, {who}, {threads} threads")
            with torch.no_grad():
                seconds, turns = best(call)
            emit("forward", kind, who, "GFLOP/s", operations / seconds * 1e-9, turns, n, threads)
            out = call()
            given = torch.rand_like(out)
            seconds, turns = best(lambda: torch.autograd.grad(out, inputs, given, retain_graph=True))
            emit("backward", kind, who, "GFLOP/s", 2.5 * operations / seconds * 1e-9, turns, n, threads)


def torch_bf16(torch, threads):
    """SDPA in bfloat16, plain and with a bias, beside the lines of the table by type."""
    n = 64 if args.quick else 2048
    operations = 4 * n * n * A_DIM * A_HEADS / 2
    sdpa = torch.nn.functional.scaled_dot_product_attention
    causal = torch.full((n, n), -math.inf).triu(1)
    biases = {"none": None, "alibi": alibi_bias(torch, n), "t5": t5_bias(torch, n)}
    for kind, bias in biases.items():
        say(f"PyTorch attention in bfloat16, {kind}, {threads} threads")
        q, k, v = ((torch.rand(1, A_HEADS, n, A_DIM) * 2 - 1).bfloat16().requires_grad_() for _ in range(3))
        mask = None if bias is None else (bias[None] + causal).bfloat16()

        def call():
            return sdpa(q, k, v, is_causal=True) if mask is None else sdpa(q, k, v, attn_mask=mask)
        with torch.no_grad():
            seconds, turns = best(call)
        emit("rungs", f"{kind}, bf16", "PyTorch SDPA", "GFLOP/s", operations / seconds * 1e-9, turns, n, threads)
        out = call()
        given = torch.rand_like(out)
        seconds, turns = best(lambda: torch.autograd.grad(out, (q, k, v), given, retain_graph=True))
        emit("rungs", f"{kind}, bf16, backward", "PyTorch SDPA", "GFLOP/s", 2.5 * operations / seconds * 1e-9, turns, n, threads)


def torch_decode(torch, threads):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    keys = 1024
    while keys <= (1024 if args.quick else 65536):
        q, k, v = ((torch.rand(1, A_HEADS, t, A_DIM) * 2 - 1).half() for t in (1, keys, keys))
        bias = alibi_bias(torch, keys)[:, -1:, :].half()[None] if keys <= 4096 else None
        seconds, turns = best(lambda: sdpa(q, k, v))
        emit("decode", "none", "PyTorch SDPA", "ns/key", seconds / keys * 1e9, turns, keys, threads)
        if bias is not None:
            seconds, turns = best(lambda: sdpa(q, k, v, attn_mask=bias))
            emit("decode", "alibi", "PyTorch SDPA", "ns/key", seconds / keys * 1e9, turns, keys, threads)
        keys *= 4


# ---------------------------------------------------------------- PyTorch: training the lab's model

def torch_layers(torch, kind, n, width=256, heads=4, layers=4, hidden=688, vocab=256):
    nn, F = torch.nn, torch.nn.functional
    causal = torch.full((n, n), -math.inf).triu(1)
    place = torch.arange(n)
    distance = (place[:, None] - place[None, :]).clamp(min=0)
    angles = torch_angles(torch, place, width // heads)
    both = torch.cat((angles, angles), -1)[None, None]
    cosine, sine = both.cos(), both.sin()

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
            self.up, self.down = nn.Linear(width, 2 * hidden, bias=False), nn.Linear(hidden, width, bias=False)
            if kind == "t5":
                self.table = nn.Parameter(torch.zeros(32, heads))

        def bias(self):
            if kind == "alibi":
                slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)])
                return -slopes[:, None, None] * distance.float() + causal
            return self.table[torch_buckets(torch, distance)].permute(2, 0, 1) + causal

        def forward(self, x):
            q, k, v = (p.view(x.shape[0], n, heads, -1).transpose(1, 2) for p in self.qkv(self.norm1(x)).chunk(3, -1))
            if kind == "rope":
                q, k = (t * cosine + torch_half(torch, t) * sine for t in (q, k))
            if kind in ("none", "rope"):
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias())
            x = x + self.out(y.transpose(1, 2).reshape(x.shape))
            gate, up = self.up(self.norm2(x)).chunk(2, -1)
            return x + self.down(F.silu(gate) * up)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.final = nn.Embedding(vocab, width), nn.RMSNorm(width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, token, target):
            x = self.embed(token)
            for layer in self.layers:
                x = layer(x)
            return F.cross_entropy((self.final(x) @ self.embed.weight.T).view(-1, vocab), target.reshape(-1))
    return Model()


def torch_train(torch, threads):
    n, batch = (16, 1) if args.quick else (256, 8)
    for kind in ("none", "rope", "alibi", "t5"):
        say(f"PyTorch training, {kind}, {threads} threads")
        model = torch_layers(torch, kind, n)
        adam = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        token = torch.randint(256, (batch, n + 1))

        def step():
            adam.zero_grad(set_to_none=True)
            model(token[:, :-1], token[:, 1:]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        seconds, turns = best(step, 3)
        emit("train", kind, "PyTorch", "tokens/s", batch * n / seconds, turns, n, threads)


def run_torch():
    import torch
    torch.manual_seed(0)
    present("PyTorch " + torch.__version__)
    for threads in sorted({1, args.threads}):
        say(f"PyTorch, {threads} threads")
        torch.set_num_threads(threads)
        with torch.no_grad():
            if wanted("rotate"):
                torch_rotate(torch, threads)
            if wanted("tables"):
                torch_tables(torch, threads)
            if wanted("decode"):
                torch_decode(torch, threads)
        if wanted("attention"):
            torch_attention(torch, threads)
        if wanted("rungs"):
            torch_bf16(torch, threads)
        if wanted("train"):
            torch_train(torch, threads)
    if wanted("accuracy"):
        torch_accuracy(torch)


# ---------------------------------------------------------------- ONNX Runtime

def onnx_model(onnx, kind, adjacent):
    make = onnx.helper
    tensor = make.make_tensor_value_info
    width = HEADS * DIM
    node = make.make_node("RotaryEmbedding", ["x", "at", "cosine", "sine"], ["y"], domain="com.microsoft",
                          interleaved=int(adjacent), num_heads=HEADS, rotary_embedding_dim=0)
    graph = make.make_graph([node], "rotation", [
        tensor("x", kind, [1, "n", width]), tensor("at", onnx.TensorProto.INT64, [1, "n"]),
        tensor("cosine", kind, ["m", DIM // 2]), tensor("sine", kind, ["m", DIM // 2]),
    ], [tensor("y", kind, [1, "n", width])])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17), make.make_opsetid("com.microsoft", 1)],
                            ir_version=8)
    return model.SerializeToString()


def onnx_rotate(ort, onnx, np, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    for name, kind, dtype in (("f32", onnx.TensorProto.FLOAT, np.float32), ("f16", onnx.TensorProto.FLOAT16, np.float16)):
        for layout in ("half", "adjacent"):
            session = ort.InferenceSession(onnx_model(onnx, kind, layout == "adjacent"), options,
                                           providers=["CPUExecutionProvider"])
            for n in sizes():
                angles = numpy_angles(np, n)
                inputs = {"x": np.random.rand(1, n, HEADS * DIM).astype(dtype),
                          "at": np.arange(n, dtype=np.int64)[None],
                          "cosine": np.cos(angles).astype(dtype), "sine": np.sin(angles).astype(dtype)}
                binding = session.io_binding()
                for key, value in inputs.items():
                    binding.bind_ortvalue_input(key, ort.OrtValue.ortvalue_from_numpy(value))
                binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(np.zeros_like(inputs["x"])))
                rotated("ONNX Runtime", f"{name} {layout}", n, threads, lambda: session.run_with_iobinding(binding))


def run_onnxruntime():
    import numpy as np
    import onnx
    import onnxruntime as ort
    present("ONNX Runtime " + ort.__version__)
    for threads in sorted({1, args.threads}):
        say(f"ONNX Runtime, {threads} threads")
        if wanted("rotate"):
            onnx_rotate(ort, onnx, np, threads)


PEERS = (("NumPy", run_numpy, ("numpy",)), ("PyTorch", run_torch, ("torch", "numpy")),
         ("ONNX Runtime", run_onnxruntime, ("onnxruntime", "onnx", "numpy")))


def main():
    global args
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="1 and N are measured")
    parser.add_argument("--only", help="topics: rotate,tables,accuracy,attention,decode,train")
    parser.add_argument("--quick", action="store_true", help="small sizes, one turn")
    args = parser.parse_args()
    for name, run, packages in PEERS:
        try:
            run()
        except ImportError as missing:
            gone = [p for p in packages if importlib.util.find_spec(p) is None]
            why = f"needs pip install {' '.join(gone)}" if gone else str(missing)
            print(json.dumps({"absent": f"{name} {why}"}), flush=True)


if __name__ == "__main__":
    main()

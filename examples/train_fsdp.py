# SPDX-License-Identifier: MIT
"""Trains a small model on several processes, with learned position encodings, and goes on where it stopped.

    torchrun --nproc-per-node 2 examples/train_fsdp.py --steps 20 --checkpoint run     # FSDP; --ddp: DDP
    torchrun --nproc-per-node 2 examples/train_fsdp.py --steps 40 --checkpoint run     # steps 21 to 40
    torchrun --nproc-per-node 2 examples/train_fsdp.py --ring                          # one sequence over all processes

The checkpoint is torch's own (torch.distributed.checkpoint): any number of processes reads it. The parameters of
posenc.torch.Encoding are parameters like others.
"""

import argparse
from pathlib import Path

import posenc.torch
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

WIDTH, HEADS, LENGTH, BATCH = 64, 4, 64, 4
TEXT = Path(__file__).read_bytes()


class Block(nn.Module):
    """Attention with its own encoding, and a network of two layers."""

    def __init__(self, spec: str, ring: bool) -> None:
        super().__init__()
        self.encoding = posenc.torch.Encoding(spec, heads=HEADS, head_dim=WIDTH // HEADS)
        self.ring = ring
        self.norm, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.network = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """x (batch, tokens, width)."""
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, HEADS, -1)).unbind(2)
        if self.ring:
            y = posenc.torch.ring_attention(q, k, v, self.encoding, causal=True)
        else:
            y = self.encoding(q, k, v, causal=True)
        x = x + self.out(y.flatten(2))
        return x + self.network(self.norm2(x))


class Model(nn.Module):
    """Predicts the next byte."""

    def __init__(self, spec: str, ring: bool) -> None:
        super().__init__()
        self.bytes = nn.Embedding(256, WIDTH)
        self.blocks = nn.ModuleList(Block(spec, ring) for _ in range(2))
        self.head = nn.Linear(WIDTH, 256)

    def forward(self, text: Tensor) -> Tensor:
        """Logits."""
        x = self.bytes(text)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batch_of(step: int, ring: bool) -> tuple[Tensor, Tensor]:
    """This process's bytes of a step, and those that follow them: sequences of its own, or its share of each."""
    chosen = torch.Generator().manual_seed(step)
    starts = torch.randint(len(TEXT) - LENGTH - 1, (BATCH * (1 if ring else dist.get_world_size()),), generator=chosen)
    text = torch.stack([torch.tensor(list(TEXT[start : start + LENGTH + 1])) for start in starts.tolist()])
    if ring:
        here = posenc.torch.ring_tokens(LENGTH)
        return text[:, here], text[:, here + 1]
    text = text[dist.get_rank() :: dist.get_world_size()]
    return text[:, :-1], text[:, 1:]


def main() -> None:
    """The command line."""
    known = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known.add_argument("--steps", type=int, default=20)
    known.add_argument("--encoding", default="t5")
    known.add_argument("--ddp", action="store_true", help="DDP; else FSDP")
    known.add_argument("--ring", action="store_true", help="processes share each sequence")
    known.add_argument("--checkpoint", help="folder with one per number of steps: goes on from the last, writes one at the end")
    given = known.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model: nn.Module = Model(given.encoding, given.ring)
    if given.ddp:
        model = nn.parallel.DistributedDataParallel(model)
    else:
        for block in model.blocks:  # an encoding is gathered with the block that uses it
            fully_shard(block, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
        fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    first = 0
    folder = Path(given.checkpoint or ".")
    done = [int(path.parent.name) for path in folder.glob("*/.metadata") if given.checkpoint]  # written last: whole ones
    if done:
        weights, moments = get_state_dict(model, optimizer)
        state = {"model": weights, "optimizer": moments, "step": 0}
        dcp.load(state, checkpoint_id=folder / str(max(done)))
        set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        first = state["step"]
    for step in range(first, given.steps):
        text, target = batch_of(step, given.ring)
        loss = nn.functional.cross_entropy(model(text).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()  # DDP and FSDP take the mean over processes
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print(f"step {step + 1}: loss {mean.item() / dist.get_world_size():.6f}", flush=True)
    if given.checkpoint and given.steps > first:
        weights, moments = get_state_dict(model, optimizer)
        dcp.save({"model": weights, "optimizer": moments, "step": given.steps}, checkpoint_id=folder / str(given.steps))
    dist.barrier()  # nobody takes the group down while another still writes
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times training steps of PyTorch's own ways to train on this machine's GPU, for rows like those of peers-h200.json.

usage: torch_systems.py SYSTEM MODEL LAYERS BATCH SEQ RECOMPUTE [STEPS]
SYSTEM: resident (everything in device memory, bf16) or fsdp-offload (FSDP2 with CPUOffloadPolicy, fp32 parameters on the host)
MODEL: qwen2.5-0.5b, qwen2.5-1.5b, qwen2.5-3b or qwen2.5-7b with untied embeddings; LAYERS: 0 for all; RECOMPUTE: full or none
Prints one JSON row: medians of the steps after the first.
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

# hidden, feed-forward, heads, key and value heads, layers; all have heads of hidden / heads and this vocabulary.
MODELS = {
    "qwen2.5-0.5b": (896, 4864, 14, 2, 24),
    "qwen2.5-1.5b": (1536, 8960, 12, 2, 28),
    "qwen2.5-3b": (2048, 11008, 16, 2, 36),
    "qwen2.5-7b": (3584, 18944, 28, 4, 28),
}
VOCABULARY = {"qwen2.5-7b": 152064}
SMALL_VOCABULARY = 151936


class Layer(nn.Module):
    def __init__(self, hidden, feed_forward, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        self.norm1, self.norm2 = nn.RMSNorm(hidden, eps=1e-6), nn.RMSNorm(hidden, eps=1e-6)
        self.q = nn.Linear(hidden, heads * self.size)
        self.k = nn.Linear(hidden, kv_heads * self.size)
        self.v = nn.Linear(hidden, kv_heads * self.size)
        self.o = nn.Linear(heads * self.size, hidden, bias=False)
        self.gate = nn.Linear(hidden, feed_forward, bias=False)
        self.up = nn.Linear(hidden, feed_forward, bias=False)
        self.down = nn.Linear(feed_forward, hidden, bias=False)

    def attention(self, x, cos, sin):
        batch, seq, _ = x.shape
        split = lambda y, heads: y.view(batch, seq, heads, self.size).transpose(1, 2)
        q, k, v = split(self.q(x), self.heads), split(self.k(x), self.kv_heads), split(self.v(x), self.kv_heads)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=1) for y in (k, v))
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, seq, -1))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Model(nn.Module):
    def __init__(self, vocabulary, hidden, feed_forward, heads, kv_heads, layers, recompute):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.layers = nn.ModuleList(Layer(hidden, feed_forward, heads, kv_heads) for _ in range(layers))
        self.norm = nn.RMSNorm(hidden, eps=1e-6)
        self.head = nn.Linear(hidden, vocabulary, bias=False)
        self.size, self.recompute = hidden // heads, recompute

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        at = torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float32)
        frequency = 1e6 ** (-torch.arange(0, self.size, 2, device=tokens.device, dtype=torch.float32) / self.size)
        angles = torch.cat([torch.outer(at, frequency)] * 2, dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.recompute else layer(x, cos, sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def sharded(model):
    import torch.distributed as dist
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=0, world_size=1)
    policy = {
        "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16),
        "offload_policy": CPUOffloadPolicy(pin_memory=True),
    }
    for layer in model.layers:
        fully_shard(layer, **policy)
    return fully_shard(model, **policy)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    if len(sys.argv) not in (7, 8) or sys.argv[1] not in ("resident", "fsdp-offload") or sys.argv[2] not in MODELS:
        sys.exit(__doc__)
    system, name, recompute = sys.argv[1], sys.argv[2], sys.argv[6] == "full"
    layers, batch, seq = (int(x) for x in sys.argv[3:6])
    steps = int(sys.argv[7]) if len(sys.argv) == 8 else 6
    hidden, feed_forward, heads, kv_heads, all_layers = MODELS[name]
    torch.manual_seed(0)
    offload = system == "fsdp-offload"
    torch.set_default_dtype(torch.float32 if offload else torch.bfloat16)
    with torch.device("cuda"):
        vocabulary = VOCABULARY.get(name, SMALL_VOCABULARY)
        model = Model(vocabulary, hidden, feed_forward, heads, kv_heads, layers or all_layers, recompute)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
    parameters = sum(p.numel() for p in model.parameters())
    if offload:
        model = sharded(model.cpu())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    phases = {"forward": [], "backward": [], "optimizer_step": []}
    step_times, losses = [], []
    for step in range(steps):
        tokens = torch.randint(0, vocabulary, (batch, seq + 1), device="cuda")
        torch.cuda.synchronize()
        if step == 1:
            torch.cuda.reset_peak_memory_stats()
        marks = [time.perf_counter()]

        def mark():
            torch.cuda.synchronize()
            marks.append(time.perf_counter())

        loss = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
        mark()
        loss.backward()
        mark()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        mark()
        losses.append(loss.item())
        if step > 0:
            step_times.append(marks[3] - marks[0])
            for i, phase in enumerate(phases):
                phases[phase].append(marks[i + 1] - marks[i])
    assert all(loss == loss and abs(loss) < 100 for loss in losses), losses
    row = {
        "system": "PyTorch FSDP2 CPU offload" if offload else "resident",
        "model": name, "layers": layers or all_layers, "recompute": sys.argv[6], "params": parameters,
        "batch": batch, "seq": seq, "step_s": round(statistics.median(step_times), 4),
        "step_s_all": [round(x, 4) for x in step_times], "tokens_per_s": round(batch * seq / statistics.median(step_times), 1),
        "device_peak_gb": round(torch.cuda.max_memory_allocated() / 1e9, 3),
        "device_reserved_gb": round(torch.cuda.max_memory_reserved() / 1e9, 3),
        "host_rss_gb": round(resident_bytes() / 1e9, 2),
        "phases_s": {phase: round(statistics.median(times), 4) for phase, times in phases.items()},
        "losses": [round(x, 3) for x in losses],
    }
    print(json.dumps(row), flush=True)
    if offload:
        torch.distributed.destroy_process_group()


main()

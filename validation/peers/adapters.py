"""Times training steps of adapters (LoRA) in plain PyTorch: frozen bf16 weights, adapters of all linear layers of all layers.

usage: adapters.py [--rank R] [--compile] and the options of the other scripts, with `lora` as the system. Prints tokens/s and the device's
peak memory. Adapters are in bf16, as peft has them where the model is loaded in bf16; their AdamW is fused, and gradients are clipped.
"""
import statistics
import sys
import time

import torch
from torch import nn

from peer_model import made
from peer_timing import DEVICE, arguments, synchronize


class Adapted(nn.Module):
    def __init__(self, base, rank, scale):
        super().__init__()
        self.base, self.scale = base, scale
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x)) * self.scale


def main():
    parser = arguments(__doc__, ["lora"])
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--compile", action="store_true", help="each layer with torch.compile")
    asked = parser.parse_args()
    model = made(asked.model, asked.layers, asked.recompute == "full", DEVICE, torch.bfloat16)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with torch.device(DEVICE):
        for layer in model.layers:
            for name in ("q", "k", "v", "o", "gate", "up", "down"):
                setattr(layer, name, Adapted(getattr(layer, name), asked.rank, 2.0))
    trained = [p for p in model.parameters() if p.requires_grad]
    if asked.compile:
        for layer in model.layers:
            layer.compile()
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=DEVICE == "cuda")
    torch.manual_seed(1)
    times = []
    loss = None
    for _ in range(asked.steps):
        tokens = torch.randint(model.vocabulary, (asked.batch, asked.seq), device=DEVICE)
        synchronize()
        start = time.perf_counter()
        loss = model(tokens, tokens.roll(-1, 1))
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 0.01)
        optimizer.step()
        optimizer.zero_grad()
        synchronize()
        times.append(time.perf_counter() - start)
    step = statistics.median(times[2:])
    peak = torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else 0
    print(f"{asked.model} rank {asked.rank} batch {asked.batch} seq {asked.seq} recompute {asked.recompute}"
          f"{' compiled' if asked.compile else ''}: {asked.batch * asked.seq / step:.0f} tokens/s, step {step:.4f} s, "
          f"peak {peak:.1f} GB, loss {loss.item():.4f}, {sum(p.numel() for p in trained)} trained, torch {torch.__version__}")


if __name__ == "__main__":
    sys.exit(main())

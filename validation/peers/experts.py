"""How long do experts take that PyTorch computes one after another? Times forward and backward of one feed-forward.

usage: experts.py [SECONDS]. Two forms: `stacked`, all experts' weights in one parameter, with biases and the clamped
activation of gpt_oss; `modules`, three linear layers an expert as of Qwen3-MoE, with or without adapters of rank 32
(peft's LoRA, of which only the adapters are trained). Tokens are spread evenly over all experts or the first few. Prints one line a case:
forward and backward in ms with the host's time to issue them, kernels of each, and a device copy's rate; where few experts are busy,
the longest kernels too. Last: the same from several threads.
"""
import sys
import threading
import time

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, inputs, outputs, rank, **where):
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False, **where)
        self.rank = rank
        if rank:
            self.base.weight.requires_grad_(False)
            self.a = nn.Linear(inputs, rank, bias=False, **where)
            self.b = nn.Linear(rank, outputs, bias=False, **where)

    def forward(self, x):
        y = self.base(x)
        return y + self.b(self.a(x)) * 0.5 if self.rank else y


class Expert(nn.Module):
    def __init__(self, hidden, width, rank, **where):
        super().__init__()
        self.gate = Adapted(hidden, width, rank, **where)
        self.up = Adapted(hidden, width, rank, **where)
        self.down = Adapted(width, hidden, rank, **where)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Stacked(nn.Module):
    def __init__(self, hidden, width, experts, **where):
        super().__init__()
        self.gate_up = nn.Parameter(0.02 * torch.randn(experts, hidden, 2 * width, **where))
        self.gate_up_bias = nn.Parameter(torch.zeros(experts, 2 * width, **where))
        self.down = nn.Parameter(0.02 * torch.randn(experts, width, hidden, **where))
        self.down_bias = nn.Parameter(torch.zeros(experts, hidden, **where))

    def expert(self, i, x):
        both = x @ self.gate_up[i] + self.gate_up_bias[i]
        gate, up = both[..., ::2].clamp(max=7.0), both[..., 1::2].clamp(-7.0, 7.0)
        return ((up + 1) * (gate * torch.sigmoid(gate * 1.702))) @ self.down[i] + self.down_bias[i]


def forward(x, weights, order, counts, expert):
    out = torch.zeros_like(x)
    begin = 0
    for i, count in enumerate(counts):
        rows = order[begin:begin + count]
        y = expert(i, x[rows])
        y *= weights[begin:begin + count].unsqueeze(-1)
        out.index_add_(0, rows, y)
        begin += count
    return out


def timed(run):
    """Milliseconds on the device's clock, and until the host had issued it; median of 5 after 2."""
    device, host = [], []
    for _ in range(7):
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start = time.perf_counter()
        begin.record()
        run()
        end.record()
        host.append(1e3 * (time.perf_counter() - start))
        torch.cuda.synchronize()
        device.append(begin.elapsed_time(end))
    return sorted(device[2:])[2], sorted(host[2:])[2]


def profiled(run):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    return profile


def kernels(run):
    return sum(e.device_type == torch.autograd.DeviceType.CUDA for e in profiled(run).events())


def print_longest(direction, run):
    for e in sorted(profiled(run).key_averages(), key=lambda e: -e.device_time_total)[:14]:
        print(f"   {direction} {e.device_time_total / 1e3:8.3f} ms {e.count:4d} x {e.key[:110]}", flush=True)


def measure(name, hidden, width, experts, chosen, tokens, rank=0, busy=0, dtype=torch.bfloat16):
    where = {"device": "cuda", "dtype": dtype}
    if name == "stacked":
        module = Stacked(hidden, width, experts, **where)
        expert = module.expert
    else:
        module = nn.ModuleList(Expert(hidden, width, rank, **where) for _ in range(experts))
        expert = lambda i, x: module[i](x)  # noqa: E731
    x = torch.randn(tokens, hidden, requires_grad=True, **where)
    weights = torch.rand(tokens * chosen, requires_grad=True, **where)
    order = torch.arange(tokens * chosen, device="cuda") % tokens
    spread = busy or experts
    each = tokens * chosen // spread
    counts = [each] * (spread - 1) + [tokens * chosen - each * (spread - 1)]
    out = []

    def run_forward():
        out[:] = [forward(x, weights, order, counts, expert)]

    gradient = torch.randn_like(x)

    def run_backward():
        for p in module.parameters():
            p.grad = None
        x.grad = weights.grad = None
        out[0].backward(gradient, retain_graph=True)

    f, fh = timed(run_forward)
    b, bh = timed(run_backward)
    print(f"{name} rank {rank} hidden {hidden} width {width} experts {experts} busy {spread} of a token {chosen} tokens {tokens}: "
          f"forward {f:.2f} ms (host {fh:.2f}), backward {b:.2f} ms (host {bh:.2f}), "
          f"kernels {kernels(run_forward)} and {kernels(run_backward)}, finite {bool(torch.isfinite(out[0]).all())}",
          flush=True)
    if busy:
        print_longest("forward", run_forward)
        print_longest("backward", run_backward)


def measure_threads(hidden, width, experts, chosen, tokens, rank):
    """Threads of one process issue forward, each on its own stream, as a process with a thread a GPU does."""
    where = {"device": "cuda", "dtype": torch.bfloat16}
    module = nn.ModuleList(Expert(hidden, width, rank, **where) for _ in range(experts))
    x = torch.randn(tokens, hidden, requires_grad=True, **where)
    weights = torch.rand(tokens * chosen, requires_grad=True, **where)
    order = torch.arange(tokens * chosen, device="cuda") % tokens
    counts = [tokens * chosen // experts] * experts

    def issue(repeats):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(repeats):
                forward(x, weights, order, counts, lambda i, rows: module[i](rows))

    issue(3)
    for count in (1, 2, 4, 8):
        torch.cuda.synchronize()
        threads = [threading.Thread(target=issue, args=(6,)) for _ in range(count)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ms = 1e3 * (time.perf_counter() - start) / 6
        torch.cuda.synchronize()
        print(f"{count} threads: each issues a forward in {ms:.2f} ms", flush=True)


def copy_rate():
    a = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    ms, _ = timed(lambda: b.copy_(a))
    print(f"copy {2 * a.numel() / ms / 1e9:.3f} TB/s read plus written, torch {torch.__version__}, "
          f"{torch.cuda.get_device_name()}", flush=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 60)
    copy_rate()
    for case in [("stacked", 2880, 2880, 32, 4, 16384), ("stacked", 2880, 2880, 32, 4, 1024),
                 ("stacked", 2880, 2880, 32, 4, 8192, 0, 4, torch.float16), ("stacked", 2880, 2880, 32, 4, 16384, 0, 4, torch.float16),
                 ("modules", 4096, 1536, 128, 8, 13312), ("modules", 4096, 1536, 128, 8, 1024),
                 ("modules", 4096, 1536, 128, 8, 13312, 32), ("modules", 4096, 1536, 128, 8, 1024, 32)]:
        if time.time() < end:
            measure(*case)
            torch.cuda.empty_cache()
    if time.time() < end:
        measure_threads(256, 64, 128, 8, 256, 32)

"""Times steps by phase and makes their JSON row, for the scripts in this folder."""
import argparse
import json
import math
import os
import statistics
import time

import torch

from peer_model import MODELS

WARM_UP_STEPS = 2
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def arguments(about, systems):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", choices=systems)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--layers", type=int, default=0, help="only the first N layers; 0: all")
    parser.add_argument("--batch", type=int, default=8, help="sequences of a step")
    parser.add_argument("--micro-batches", type=int, default=1, help="forward and backward passes of a step, whose gradients add up")
    parser.add_argument("--seq", type=int, default=1024, help="tokens of a sequence")
    parser.add_argument("--steps", type=int, default=6, help="the first 2 are not counted; at least 3")
    parser.add_argument("--recompute", choices=["full", "none"], default="full")
    parser.add_argument("--empty-modules", type=int, default=0, help="modules per layer that compute nothing, to time hooks")
    parser.add_argument("--append", help="a file that the row is added to as a line")
    return parser


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def eager_launch_us(calls=500):
    """Microseconds of the host for one eager PyTorch operation on 1,024 elements, when nothing else runs."""
    x = torch.ones(1024, device=DEVICE)
    for _ in range(10):
        x.add_(x, alpha=1e-3)
    synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        x.add_(x, alpha=1e-3)
    seconds = time.perf_counter() - start
    synchronize()
    return 1e6 * seconds / calls


class Phases:
    """Wall time between calls of done(), each after all work of the device is done."""

    def __init__(self):
        self.steps, self.eager_launch_us = [], []

    def start(self):
        self.eager_launch_us.append(eager_launch_us())
        self.steps.append({})
        self.last = time.perf_counter()

    def done(self, phase):
        synchronize()
        now = time.perf_counter()
        self.steps[-1][phase] = self.steps[-1].get(phase, 0) + now - self.last
        self.last = now

    def medians(self):
        return {name: statistics.median(step[name] for step in self.steps[WARM_UP_STEPS:]) for name in self.steps[-1]}

    def step_times(self):
        return [sum(step.values()) for step in self.steps]


def run_steps(args, vocabulary, step):
    """step([(tokens, targets) of each micro-batch], phases), targets being the next tokens, returns a loss; the Phases and the losses."""
    if args.batch % args.micro_batches:
        raise SystemExit(f"--batch {args.batch}: expected a multiple of --micro-batches {args.micro_batches}")
    phases, losses = Phases(), []
    for i in range(args.steps):
        tokens = torch.randint(0, vocabulary, (args.batch, args.seq + 1), device=DEVICE)
        if i == WARM_UP_STEPS and DEVICE == "cuda":
            torch.cuda.reset_peak_memory_stats()
        phases.start()
        micro_batches = [(part[:, :-1].contiguous(), part[:, 1:].contiguous()) for part in tokens.chunk(args.micro_batches)]
        losses.append(float(step(micro_batches, phases)))
    return phases, losses


def host_memory():
    """Memory of this process, from the kernel, GB: resident now, of that shared (what CUDA pins is), and the most ever resident."""
    keys = {"VmRSS": "host_rss_gb", "RssShmem": "host_shared_gb", "VmHWM": "host_peak_gb"}
    with open("/proc/self/status") as file:
        lines = (line.split() for line in file)
        return {keys[line[0][:-1]]: round(int(line[1]) * 1024 / 1e9, 2) for line in lines if line[0][:-1] in keys}


def report(args, system, how, layers, parameters, phases, losses, **more):
    """Prints the row, and adds it to the file that --append names."""
    if not all(math.isfinite(loss) for loss in losses):
        raise SystemExit(f"{system}: a loss is not finite: {losses}")
    times = phases.step_times()
    step = statistics.median(times[WARM_UP_STEPS:])
    row = {
        "system": system, "how": how, "model": args.model, "layers": layers, "untied_embeddings": True, "params": parameters,
        "batch": args.batch, "micro_batches": args.micro_batches, "seq": args.seq, "step_s": round(step, 4), "step_s_all": [round(x, 4) for x in times],
        "tokens_per_s": round(args.batch * args.seq / step, 1),
    }
    if DEVICE == "cuda":
        row["device_peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 3)
        row["device_reserved_gb"] = round(torch.cuda.max_memory_reserved() / 1e9, 3)
        pinned = torch.cuda.host_memory_stats() if hasattr(torch.cuda, "host_memory_stats") else {}
        row["host_pinned_by_torch_gb"] = round(pinned.get("allocated_bytes.current", 0) / 1e9, 3)
    row |= host_memory()
    row["phases_s"] = {phase: round(x, 4) for phase, x in phases.medians().items()}
    row["eager_launch_us"] = round(statistics.median(phases.eager_launch_us[WARM_UP_STEPS:]), 3)  # right before each step
    row["losses"] = [round(x, 3) for x in losses]
    row |= more
    line = json.dumps(row)
    print(line, flush=True)
    if args.append:
        with open(args.append, "a") as file:
            file.write(line + "\n")


def adam_alone_ns(optimizer_class, dtype=torch.float32, tensors=16, elements=2**23, steps=6, **settings):
    """Nanoseconds a parameter of an optimizer on the processor by itself, which tells fast from slow hosts: the median after 2 steps."""
    parameters = [torch.nn.Parameter(torch.ones(elements, dtype=dtype, device="cpu")) for _ in range(tensors)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer = optimizer_class(parameters, lr=1e-5, **settings)
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.step()
        times.append(time.perf_counter() - start)
    return round(1e9 * statistics.median(times[WARM_UP_STEPS:]) / (tensors * elements), 4)


def one_rank():
    """Environment of a process group of this process alone."""
    for key, value in {"MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}.items():
        os.environ.setdefault(key, value)

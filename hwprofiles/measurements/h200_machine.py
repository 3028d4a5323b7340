"""Measure one machine with one NVIDIA GPU for a hardware profile.

    python3 h200_machine.py --out results.json

Nine parts run one after another, each in a process of its own: touch (first
touch of fresh host memory), A (memory of a PyTorch process), B (host operations
of PyTorch), C (AdamW and memory traffic of the cores), D (AdamW while copies
run), E (matrix products), F (attention), G (memory-bound operations), H (one
decoder layer). The results file is rewritten after every single measurement, so
an interrupted run keeps what it has. Each part and the whole have a time limit.

Rates are decimal (GB = 1e9 bytes); keys carry their units. Inputs are random
and normal, never zeros. The settings of the GPU are only read.
"""

import argparse
import contextlib
import functools
import gc
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEVICE = "cuda"

# Seconds that each part may take, in the order in which they run.
BUDGET = {"touch": 60, "A": 60, "B": 110, "C": 75, "D": 110, "E": 130, "F": 75, "G": 45, "H": 45}

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, HEAD_DIM, VOCAB = 3584, 18944, 28, 4, 128, 152064
LAYER_SHAPES = {  # Qwen2.5-7B, one layer, without biases
    "q": (HEADS * HEAD_DIM, HIDDEN), "k": (KV_HEADS * HEAD_DIM, HIDDEN),
    "v": (KV_HEADS * HEAD_DIM, HIDDEN), "o": (HIDDEN, HEADS * HEAD_DIM),
    "gate": (INTERMEDIATE, HIDDEN), "up": (INTERMEDIATE, HIDDEN), "down": (HIDDEN, INTERMEDIATE),
    "input_norm": (HIDDEN,), "post_norm": (HIDDEN,),
}
MODELS = {  # hidden, intermediate, heads, KV heads
    "7B": (3584, 18944, 28, 4), "14B": (5120, 13824, 40, 8),
    "3B": (2048, 11008, 16, 2), "72B": (8192, 29568, 64, 8), "1.5B": (1536, 8960, 12, 2),
}
COPY_BYTES = 466_000_000  # about one Qwen2.5-7B layer in bf16
HOST_LAYERS = 12
MIXED_PARAMS = 500_000_000


# ------------------------------------------------------------------ plumbing

def json_text(value, indent=0, width=150):
    """JSON with whatever fits on one line kept on one line."""
    line = json.dumps(value)
    if len(line) + indent <= width or not isinstance(value, (dict, list)) or not value:
        return line
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{pad}{json.dumps(key)}: {json_text(item, indent + 1, width)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    if all(isinstance(item, dict) and not any(isinstance(x, (dict, list)) for x in item.values()) for item in value):
        parts = [pad + json.dumps(item) for item in value]  # a table: one row a line
    else:
        parts = [pad + json_text(item, indent + 1, width) for item in value]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


class Results:
    """The results file; `put` writes it at once."""

    def __init__(self, path):
        self.path = Path(path)
        self.data = json.loads(self.path.read_text()) if self.path.exists() else {}

    def put(self, *keys_and_value):
        *keys, last, value = keys_and_value
        node = self.data
        for key in keys:
            node = node.setdefault(key, {})
        node[last] = value
        self.save()

    def add(self, *keys_and_row):
        *keys, last, row = keys_and_row
        node = self.data
        for key in keys:
            node = node.setdefault(key, {})
        node.setdefault(last, []).append(row)
        self.save()

    def save(self):
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json_text(self.data) + "\n")
        temporary.replace(self.path)


def stats(values, digits=4):
    """Median, extremes and count of a list of numbers."""
    def short(x):
        return float(f"{x:.{digits}g}")
    return {"median": short(statistics.median(values)), "min": short(min(values)),
            "max": short(max(values)), "count": len(values)}


def say(*words):
    print(f"[{time.monotonic() - START:6.1f}]", *words, flush=True)


@contextlib.contextmanager
def guarded(results, part, name):
    """Records an exception under the part's errors and goes on."""
    try:
        yield
    except Exception as error:  # a failed measurement must not cost the others
        say(part, name, "FAILED:", repr(error)[:300])
        results.put(part, "errors", name, repr(error)[:300])
        gc.collect()
        if DEVICE == "cuda":
            import torch
            torch.cuda.empty_cache()


def status_kib(path, names):
    found = {}
    for line in Path(path).read_text().splitlines():
        key, _, rest = line.partition(":")
        if key in names and rest.split()[0].isdigit():
            found[key] = int(rest.split()[0])
    return found


def process_memory():
    """Resident and pinned bytes of this process, and what the system has in use."""
    rss = status_kib("/proc/self/status", ("VmRSS", "RssAnon", "RssFile", "RssShmem", "VmPin", "VmLck"))
    system = status_kib("/proc/meminfo", ("MemTotal", "MemAvailable", "MemFree"))
    row = {f"{key}_mib": round(kib / 1024, 1) for key, kib in rss.items()}
    row["system_used_mib"] = round((system["MemTotal"] - system["MemAvailable"]) / 1024, 1)
    row["system_not_free_mib"] = round((system["MemTotal"] - system["MemFree"]) / 1024, 1)
    row["mem_total_mib"] = round(system["MemTotal"] / 1024, 1)
    return row


class Nvml:
    """Reads of power, clock and memory through NVML."""

    def __init__(self):
        import pynvml
        self.nvml = pynvml
        pynvml.nvmlInit()
        self.gpu = pynvml.nvmlDeviceGetHandleByIndex(0)

    def used_mib(self):
        return round(self.nvml.nvmlDeviceGetMemoryInfo(self.gpu).used / 2**20, 1)

    def energy_j(self):
        return self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.gpu) / 1e3

    def power_w(self):
        return self.nvml.nvmlDeviceGetPowerUsage(self.gpu) / 1e3

    def sm_mhz(self):
        return self.nvml.nvmlDeviceGetClockInfo(self.gpu, self.nvml.NVML_CLOCK_SM)


class Watch(threading.Thread):
    """Samples (time, joules since boot, watts, SM clock) every 20 ms."""

    def __init__(self):
        super().__init__(daemon=True)
        self.nvml = Nvml()
        self.rows = []
        self.start()

    def run(self):
        while True:
            self.rows.append((time.monotonic(), self.nvml.energy_j(), self.nvml.power_w(), self.nvml.sm_mhz()))
            time.sleep(0.02)

    def between(self, begin, end):
        rows = [row for row in list(self.rows) if begin <= row[0] <= end]
        if len(rows) < 2:
            return {}
        row = {"sm_mhz": round(statistics.mean(r[3] for r in rows)), "sm_mhz_min": min(r[3] for r in rows),
               "power_reading_w": round(statistics.mean(r[2] for r in rows), 1), "samples": len(rows)}
        steps = [b for a, b in zip(rows, rows[1:]) if b[1] != a[1]]  # where the energy counter moved
        if len(steps) >= 2:
            row["power_w"] = round((steps[-1][1] - steps[0][1]) / (steps[-1][0] - steps[0][0]), 1)
        return row


def time_gpu(call, seconds=0.2, warm_s=0.05, groups=5):
    """Milliseconds of one call: CUDA events around `groups` runs of back-to-back
    calls after a warm-up, with no wait in between. Returns (list, begin, end)."""
    import torch
    call()
    torch.cuda.synchronize()
    for count in (1, 4):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        once = max((time.perf_counter() - begin) / count, 1e-6)
        if once > 0.02:
            break
    if once > seconds / 3:
        groups = 3
    per_group = max(1, round(seconds / groups / once))
    for _ in range(max(1, round(warm_s / once))):
        call()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(groups + 1)]
    events[0].record()
    window_begin = None
    for event in events[1:]:
        for _ in range(per_group):
            call()
        event.record()
        if window_begin is None:
            events[0].synchronize()
            window_begin = time.monotonic()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) / per_group for a, b in zip(events, events[1:])]
    return times, window_begin, time.monotonic()


def randn(*shape, scale=1.0, dtype=None, device=None):
    import torch
    device = DEVICE if device is None else device
    out = torch.empty(shape, dtype=dtype or torch.bfloat16, device=device)
    return out.normal_(0.0, scale)


@functools.cache
def normal_values():
    import torch
    return torch.empty(1 << 22).normal_(generator=torch.Generator().manual_seed(1))


def fill_host(tensor, scale):
    """Random normal values, repeating after 4 Mi elements (normal_ on the CPU is slow)."""
    flat, values = tensor.view(-1), (normal_values() * scale).to(tensor.dtype)
    for begin in range(0, flat.numel(), values.numel()):
        part = flat[begin:begin + values.numel()]
        part.copy_(values[:part.numel()])
    return tensor


def clock(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def sdpa(backend):
    """A call of scaled_dot_product_attention restricted to one backend."""
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    choice = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}[backend]

    def call(q, k, v):
        with sdpa_kernel(choice):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=q.shape[1] != k.shape[1])
    return call


# ------------------------------------------------------------------ facts

def machine_facts():
    query = ("name,memory.total,driver_version,power.limit,clocks.max.sm,clocks.max.mem,"
             "pcie.link.gen.max,pcie.link.width.max,temperature.gpu,power.draw")
    facts = {}
    with contextlib.suppress(Exception):
        values = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=30).stdout.strip().split(", ")
        facts["nvidia_smi"] = dict(zip(query.split(","), values))
    with contextlib.suppress(Exception):
        wanted = ("Model name", "CPU(s)", "Thread(s) per core", "Core(s) per socket", "Socket(s)",
                  "NUMA node(s)", "L1d cache", "L2 cache", "L3 cache")
        lines = subprocess.run(["lscpu"], capture_output=True, text=True, timeout=10).stdout.splitlines()
        found = {line.split(":")[0].strip(): line.split(":", 1)[1].strip() for line in lines if ":" in line}
        facts["lscpu"] = {key: found[key] for key in wanted if key in found}
        facts["cpu_family_model"] = [found.get("CPU family"), found.get("Model")]
        facts["avx512_bf16"] = "avx512_bf16" in found.get("Flags", "")
        facts["amx"] = "amx_bf16" in found.get("Flags", "")
    with contextlib.suppress(Exception):
        base = Path("/sys/kernel/mm/transparent_hugepage")
        facts["transparent_hugepage"] = {n: (base / n).read_text().strip()
                                         for n in ("enabled", "defrag", "shmem_enabled")}
    with contextlib.suppress(Exception):
        facts["mem_total_mib_at_start"] = process_memory()["mem_total_mib"]
        facts["python"] = sys.version.split()[0]
        facts["device_used_mib_without_a_context"] = Nvml().used_mib()
    return facts


def adam_binary():
    return os.environ["ADAM_RATES"]


def adam_rates(*arguments, timeout=60):
    done = subprocess.run([adam_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise RuntimeError(done.stdout[-200:] + done.stderr[-200:])
    return [json.loads(line) for line in done.stdout.splitlines()]


class AdamServer:
    """adam_rates in serve mode."""

    def __init__(self, params, chunk=125_000_000):
        self.process = subprocess.Popen(
            [adam_binary(), "--mode", "serve", "--params", str(params), "--chunk", str(chunk)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ready(self):
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("adam_rates ended")
        return json.loads(line)

    def ask(self, command):
        self.send(command)
        return self.answer()

    def close(self):
        self.send("quit")
        self.process.wait(20)


# ------------------------------------------------------------------ touch

def part_touch(results, left):
    results.put("touch", "method",
                "adam_rates --mode touch: one store to each 4 KiB page of a fresh private anonymous mapping, "
                "then munmap. The first two rows are mostly memory that the virtual machine had not used before; "
                "the later ones reuse memory it already has. pages=huge: madvise(MADV_HUGEPAGE); 4KiB: MADV_NOHUGEPAGE.")
    plan = [(16, 16, "huge"), (64, 4, "huge"), (32, 16, "huge"), (32, 8, "huge"), (8, 1, "huge"),
            (16, 16, "4KiB"), (16, 8, "4KiB"), (4, 1, "4KiB"), (32, 16, "huge"), (64, 16, "huge")]
    for gb, threads, pages in plan:
        if left() < 15:
            break
        with guarded(results, "touch", f"{gb} {threads} {pages}"):
            row = adam_rates("--mode", "touch", "--gb", gb, "--threads", threads, "--pages", pages)[0]
            row["mem_total_mib_after"] = process_memory()["mem_total_mib"]
            results.add("touch", "rows", row)
            say("touch", row)


# ------------------------------------------------------------------ A

def part_a(results, left):
    results.put("A", "method",
                "One fresh Python process. memory: /proc/self/status and /proc/meminfo after each step; "
                "system_used is MemTotal - MemAvailable. device: total - free of cudaMemGetInfo, and what "
                "PyTorch's caching allocator has reserved of it; context_mib is the difference.")
    steps = []

    def note(step, **more):
        row = {"step": step, **process_memory(), **more}
        steps.append(row)
        results.put("A", "steps", steps)
        say("A", step, {k: v for k, v in row.items() if k != "step"})

    note("python")
    import_s = clock(lambda: __import__("torch"))
    import torch
    note("import torch", seconds=round(import_s, 2))
    results.put("machine", "torch", torch.__version__)
    results.put("machine", "torch_num_threads", torch.get_num_threads())

    def device(step, call):
        seconds = clock(lambda: (call(), torch.cuda.synchronize()))
        free, total = torch.cuda.mem_get_info()
        used, reserved = total - free, torch.cuda.memory_reserved()
        note(step, seconds=round(seconds, 3), device_used_mib=round(used / 2**20, 1),
             torch_reserved_mib=round(reserved / 2**20, 1),
             torch_allocated_mib=round(torch.cuda.memory_allocated() / 2**20, 3),
             context_mib=round((used - reserved) / 2**20, 1))

    results.put("A", "device_total_mib", None)
    device("cuda context (first small tensor)", lambda: torch.empty(1, device=DEVICE))
    results.put("A", "device_total_mib", round(torch.cuda.mem_get_info()[1] / 2**20, 1))
    device("normal_ of a bf16 tensor", lambda: randn(2048, 2048))
    a, b = randn(4096, 4096), randn(4096, 4096)
    device("first bf16 matmul (cuBLAS)", lambda: a @ b)
    weight = randn(4096, 4096, scale=0.02).requires_grad_()
    x = randn(4096, 4096).requires_grad_()
    device("linear forward and backward", lambda: torch.nn.functional.linear(x, weight).sum().backward())
    shapes = [(4, heads, 1024, 128) for heads in (HEADS, KV_HEADS, KV_HEADS)]
    q, k, v = (randn(*shape).requires_grad_() for shape in shapes)
    grad = randn(*shapes[0])
    for backend in ("flash", "cudnn"):
        with guarded(results, "A", f"{backend} attention"):
            call = sdpa(backend)
            with torch.no_grad():
                device(f"{backend} attention forward", lambda: call(q, k, v))
            device(f"{backend} attention backward", lambda: torch.autograd.grad(call(q, k, v), (q, k, v), grad))
    with guarded(results, "A", "elementwise"):
        def eager_operations():
            layer = decoder_layer("flash")
            y = layer(randn(1, 1024, HIDDEN).requires_grad_())
            y.sum().backward()
            logits = randn(64, VOCAB).requires_grad_()
            torch.nn.functional.cross_entropy(logits.float(), torch.arange(64, device=DEVICE)).backward()
        device("eager decoder layer and cross entropy, forward and backward", eager_operations)
    with guarded(results, "A", "streams"):
        def on_streams():
            for _ in range(3):
                with torch.cuda.stream(torch.cuda.Stream()):
                    a @ b
        device("matmul on three more streams", on_streams)
    del a, b, weight, x, q, k, v, grad
    gc.collect()
    torch.cuda.empty_cache()
    device("all tensors freed, cache emptied", lambda: None)

    # Pinned memory.
    def host_stats():
        with contextlib.suppress(Exception):
            found = torch.cuda.host_memory_stats()
            return {key: found[key] for key in found
                    if key in ("allocated_bytes.current", "active_bytes.current", "allocation.current",
                               "segment.current", "allocations.current", "active_requests.current")}
        return {}

    def pinned(step, call):
        before = process_memory()
        out, seconds = None, time.perf_counter()
        out = call()
        seconds = time.perf_counter() - seconds
        after = process_memory()
        note(step, seconds=round(seconds, 3), is_pinned=bool(out.is_pinned()) if out is not None else None,
             rss_grew_mib=round(after["VmRSS_mib"] - before["VmRSS_mib"], 1),
             system_used_grew_mib=round(after["system_used_mib"] - before["system_used_mib"], 1),
             system_not_free_grew_mib=round(after["system_not_free_mib"] - before["system_not_free_mib"], 1),
             host_allocator=host_stats())
        return out

    def drop(step):
        gc.collect()
        note(step + ", tensors deleted", host_allocator=host_stats())
        with guarded(results, "A", "host_emptyCache"):
            torch._C._host_emptyCache()
            note(step + ", host cache emptied", host_allocator=host_stats())

    n = COPY_BYTES // 2
    mib = round(COPY_BYTES / 2**20, 1)
    with guarded(results, "A", "pin_memory()"):
        kept = [pinned(f"torch.empty({n}, bf16).pin_memory(), {mib} MiB, no. {i}",
                       lambda: torch.empty(n, dtype=torch.bfloat16).pin_memory()) for i in range(1, 5)]
        def fill():
            for tensor in kept:
                fill_host(tensor, 0.02)
        pinned("values written into the four", fill)
        kept.clear()
        drop("pin_memory()")
    with guarded(results, "A", "pin_memory=True"):
        kept = [pinned(f"torch.empty({n}, bf16, pin_memory=True), {mib} MiB, no. {i}",
                       lambda: torch.empty(n, dtype=torch.bfloat16, pin_memory=True)) for i in range(1, 5)]
        kept.clear()
        drop("pin_memory=True")
    with guarded(results, "A", "other sizes"):
        kept = []
        for size in (300_000_000, 600_000_000, VOCAB * HIDDEN * 2):
            kept.append(pinned(f"torch.empty(pin_memory=True), {size / 2**20:.1f} MiB",
                               lambda size=size: torch.empty(size // 2, dtype=torch.bfloat16, pin_memory=True)))
        kept.clear()
        drop("other sizes")
    with guarded(results, "A", "register"):
        runtime = torch.cuda.cudart()
        host = pinned(f"pageable torch.empty, {mib} MiB, values written",
                      lambda: fill_host(torch.empty(n, dtype=torch.bfloat16), 0.02))
        def register():
            code = runtime.cudaHostRegister(host.data_ptr(), host.numel() * 2, 0)
            assert int(code) == 0, code
            return host
        pinned("cudaHostRegister of it", register)
        runtime.cudaHostUnregister(host.data_ptr())


# ------------------------------------------------------------------ B

def part_b(results, left):
    import torch
    put = lambda *where: (results.put("B", *where), say("B", where[0], where[1] if len(where) == 2 else where[1:]))
    results.put("B", "method",
                f"torch CPU operations, {HOST_LAYERS} layers of Qwen2.5-7B in bf16, one parameter for each tensor, "
                "random normal values (parameters 0.02, gradients 1e-3). GB/s is of the payload: the bytes of the "
                "bf16 tensors once, whatever is read and written. Wall time of the whole loop over the tensors.")
    put("torch_num_threads", torch.get_num_threads())
    put("memory_at_start", process_memory())

    shapes = [(name, shape) for _ in range(HOST_LAYERS) for name, shape in LAYER_SHAPES.items()]

    def filled(shape, scale):
        return fill_host(torch.empty(shape, dtype=torch.bfloat16), scale)

    params = [torch.nn.Parameter(filled(shape, 0.02)) for _, shape in shapes]
    for p in params:
        p.grad = filled(p.shape, 1e-3)
    total = sum(p.numel() for p in params)
    gb = total * 2 / 1e9
    per_layer = total // HOST_LAYERS
    put("parameters", total)
    put("memory_with_gradients", process_memory())

    def rate(name, call, repeats, before=None, unit="gb_per_s", amount=None):
        seconds = []
        for i in range(repeats + 1):
            if before:
                before()
            s = clock(call)
            if i:
                seconds.append(s)
        amount = gb if amount is None else amount
        put(name, {"seconds": stats(seconds), unit: stats([amount / s for s in seconds]),
                   "in_order_seconds": [round(s, 4) for s in seconds]})

    gparams = total / 1e9
    grads = [p.grad for p in params]
    with guarded(results, "B", "clip"):
        rate("clip_grad_norm", lambda: torch.nn.utils.clip_grad_norm_(params, 1.0), 5,
             unit="gparams_per_s", amount=gparams)
        rate("clip_grad_norm_foreach_false",
             lambda: torch.nn.utils.clip_grad_norm_(params, 1.0, foreach=False), 4,
             unit="gparams_per_s", amount=gparams)
        rate("vector_norm_each_tensor", lambda: [torch.linalg.vector_norm(g) for g in grads], 5,
             unit="gparams_per_s", amount=gparams)
        factor = torch.tensor(0.999)
        rate("mul_each_gradient", lambda: [g.mul_(factor) for g in grads], 5, unit="gparams_per_s", amount=gparams)
        largest = max(grads, key=lambda g: g.numel())
        rate("vector_norm_largest_tensor", lambda: torch.linalg.vector_norm(largest), 5,
             unit="gparams_per_s", amount=largest.numel() / 1e9)
        rate("vector_norm_largest_tensor_dtype_float32",
             lambda: torch.linalg.vector_norm(largest, dtype=torch.float32), 5,
             unit="gparams_per_s", amount=largest.numel() / 1e9)
    with guarded(results, "B", "flatten"):
        flats = [fill_host(torch.empty(per_layer, dtype=torch.bfloat16, pin_memory=True), 0.02)
                 for _ in range(HOST_LAYERS)]
        def pack(buffers):
            for layer in range(HOST_LAYERS):
                flat, at = flats[layer % buffers], 0
                for p in params[layer * len(LAYER_SHAPES):(layer + 1) * len(LAYER_SHAPES)]:
                    flat[at:at + p.numel()].copy_(p.data.flatten())
                    at += p.numel()
        rate("copy_parameters_into_one_pinned_flat", lambda: pack(1), 5)
        rate("copy_parameters_into_a_pinned_flat_each", lambda: pack(HOST_LAYERS), 5)
        flats.clear()
    with guarded(results, "B", "zero"):
        rate("zero_gradients", lambda: [g.zero_() for g in grads], 5)

    # Gradients released and made anew: fresh pages each time.
    del grads, largest
    slab = fill_host(torch.empty(per_layer, dtype=torch.bfloat16, pin_memory=True), 1e-3)

    def release():
        for p in params:
            p.grad = None

    def accumulate(fresh):
        for layer in range(HOST_LAYERS):
            at = 0
            for p in params[layer * len(LAYER_SHAPES):(layer + 1) * len(LAYER_SHAPES)]:
                view = slab[at:at + p.numel()].view(p.shape)
                at += p.numel()
                if fresh:
                    p.grad = torch.empty_like(view)
                p.grad.copy_(view)

    def in_thread(call):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    with guarded(results, "B", "release"):
        releases, first, before, after = [], [], [], []
        for _ in range(8):
            before.append(process_memory()["RssAnon_mib"])
            releases.append(clock(release))
            after.append(process_memory()["RssAnon_mib"])
            first.append(clock(lambda: in_thread(lambda: accumulate(True))))
        put("release_gradients", {"seconds_per_gb": stats([s / gb for s in releases]),
                                  "in_order_seconds": [round(s, 4) for s in releases],
                                  "rss_anon_mib_before": before, "rss_anon_mib_after": after})
        put("accumulate_fresh_pages_background_thread",
            {"gb_per_s": stats([gb / s for s in first[1:]]), "in_order_seconds": [round(s, 4) for s in first]})
    with guarded(results, "B", "accumulate touched"):
        rate("accumulate_touched_background_thread", lambda: in_thread(lambda: accumulate(False)), 6)
        rate("accumulate_fresh_pages_main_thread", lambda: accumulate(True), 4, before=release)
        rate("accumulate_touched_main_thread", lambda: accumulate(False), 4)
        def add_views():
            for layer in range(HOST_LAYERS):
                at = 0
                for p in params[layer * len(LAYER_SHAPES):(layer + 1) * len(LAYER_SHAPES)]:
                    p.grad.add_(slab[at:at + p.numel()].view(p.shape))
                    at += p.numel()
        rate("add_into_touched_main_thread", add_views, 4)
    with guarded(results, "B", "accumulate while copies run"):
        copier = Copier(("h2d", "d2h"))
        loads = []
        for fresh in (True, True, True, False, False):
            if fresh:
                release()
            span = []
            def timed():
                time.sleep(0.1)
                span.append(time.monotonic())
                accumulate(fresh)
                span.append(time.monotonic())
                time.sleep(0.1)
            thread = threading.Thread(target=timed)
            thread.start()
            times = copier.run(("h2d", "d2h"), lambda: not thread.is_alive())
            thread.join()
            loads.append({"fresh_pages": fresh, "gb_per_s": round(gb / (span[1] - span[0]), 2),
                          **{f"{d}_gb_per_s": round(copier.rate(d, times[d], *span), 2) for d in ("h2d", "d2h")}})
        put("accumulate_background_thread_while_copies_run_both_ways", loads)
        del copier
    with guarded(results, "B", "one thread"):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        rate("accumulate_fresh_pages_one_thread", lambda: accumulate(True), 2, before=release)
        rate("accumulate_touched_one_thread", lambda: accumulate(False), 2)
        torch.set_num_threads(threads)
    release()
    with guarded(results, "B", "pageable"):
        embedding = filled((VOCAB, HIDDEN), 0.02)
        target = torch.empty_like(embedding, device=DEVICE)
        def upload():
            target.copy_(embedding, non_blocking=True)
            torch.cuda.synchronize()
        rate("pageable_host_to_device", upload, 6, amount=embedding.numel() * 2 / 1e9)
        def download():
            embedding.copy_(target)
        rate("pageable_device_to_host", download, 4, amount=embedding.numel() * 2 / 1e9)
        fresh = []
        for _ in range(4):
            held = []
            fresh.append(clock(lambda: held.append(target.cpu())))
            del held
        put("to_cpu_fresh_pageable", {"gb_per_s": stats([embedding.numel() * 2 / 1e9 / s for s in fresh])})
    put("memory_at_end", process_memory())


# ------------------------------------------------------------------ C

def part_c(results, left):
    results.put("C", "method",
                "adam_rates.cpp (AVX-512, static partition over pinned threads with a barrier after every chunk "
                "of 125e6 parameters, memory in huge pages first touched in parallel), 1e9 parameters; rate over a "
                "window of 1 s (0.3 s warm-up), chunk_* are the median and extremes of single chunks. dram: arrays "
                "of 2 GiB; bytes counted: read 4 per element, copy and copy_nt 8, triad 12 (no read for ownership "
                "counted); copy_nt uses non-temporal stores.")
    for row in adam_rates("--mode", "check"):
        results.add("C", "check", row)
        say("C", row)
    server = AdamServer(1_000_000_000)
    begin = time.perf_counter()
    server.ask("prepare split")
    results.put("C", "prepare_split_s", round(time.perf_counter() - begin, 2))
    plan = [("split", t, 1.0) for t in (1, 2, 4, 6, 8, 10, 12, 14, 15, 16)]
    plan += [(variant, t, 1.0) for variant in ("bf16", "split16") for t in (8, 12, 14, 16)]
    for variant, threads, seconds in plan:
        row = server.ask(f"adam {variant} {threads} {seconds} 0.3")
        row["gb_per_s"] = round(row["gparams_per_s"] * row["bytes_per_param"], 1)
        results.add("C", "adam", row)
        say("C", variant, threads, row["gparams_per_s"], "Gparam/s")
    server.close()
    server = AdamServer(1_000_000)
    for kind in ("read", "copy", "copy_nt", "triad"):
        for threads in (1, 4, 8, 12, 16):
            if left() < 5:
                break
            row = server.ask(f"dram {kind} {threads} 0.6")
            results.add("C", "dram", row)
            say("C", kind, threads, row["gb_per_s"], "GB/s")
    server.close()


# ------------------------------------------------------------------ D

class Copier:
    """Keeps pinned copies (and matrix products) in flight and says at what rate
    each went within a window."""

    PRODUCTS, SIZE = 8, 8192

    def __init__(self, lanes, buffers=4, streams=2, bytes_each=COPY_BYTES):
        import torch
        self.torch = torch
        self.amounts, self.issue, self.streams = {}, {}, {}
        n = bytes_each // 2
        for lane in lanes:
            if lane == "gemm":
                a, b = randn(self.SIZE, self.SIZE), randn(self.SIZE, self.SIZE)
                out = torch.empty_like(a)
                self.amounts[lane] = self.PRODUCTS * 2 * self.SIZE**3 / 1e12
                self.issue[lane] = functools.partial(self.multiply, a, b, out)
                self.streams[lane] = [torch.cuda.Stream()]
                continue
            host = [fill_host(torch.empty(n, dtype=torch.bfloat16, pin_memory=True), 0.02) for _ in range(buffers)]
            device = [randn(n, scale=0.02) for _ in range(buffers)]
            self.amounts[lane] = bytes_each / 1e9
            self.issue[lane] = functools.partial(self.copy, *((host, device) if lane == "h2d" else (device, host)))
            self.streams[lane] = [torch.cuda.Stream() for _ in range(streams)]

    def copy(self, sources, targets, count):
        targets[count % len(targets)].copy_(sources[count % len(sources)], non_blocking=True)

    def multiply(self, a, b, out, count):
        for _ in range(self.PRODUCTS):
            self.torch.mm(a, b, out=out)

    def run(self, lanes, until):
        """Works until until() is true; returns, for each lane, the start and then
        the completion times."""
        torch = self.torch
        torch.cuda.synchronize()
        base = torch.cuda.Event(enable_timing=True)
        base.record()
        base.synchronize()
        zero = time.monotonic()
        done = {lane: [] for lane in lanes}
        flying = {(lane, stream): deque() for lane in lanes for stream in self.streams[lane]}
        count = 0
        while True:
            stop = until()
            for (lane, stream), queue in flying.items():
                while queue and queue[0].query():
                    done[lane].append(queue.popleft())
                while not stop and len(queue) < 4:
                    count += 1
                    with torch.cuda.stream(stream):
                        self.issue[lane](count)
                    event = torch.cuda.Event(enable_timing=True)
                    event.record(stream)
                    queue.append(event)
            if stop:
                break
            time.sleep(0.008)
        torch.cuda.synchronize()
        for (lane, _), queue in flying.items():
            done[lane].extend(queue)
        return {lane: [zero] + sorted(zero + base.elapsed_time(e) / 1e3 for e in events)
                for lane, events in done.items()}

    def rate(self, lane, times, begin, end):
        """GB/s or TFLOP/s within [begin, end], each piece spread evenly over its time."""
        def pieces(t):
            for i, (a, b) in enumerate(zip(times, times[1:])):
                if a <= t < b:
                    return i + (t - a) / (b - a)
            raise ValueError("the window is not inside the work")
        return (pieces(end) - pieces(begin)) * self.amounts[lane] / (end - begin)


def part_d(results, left):
    results.put("D", "method",
                f"Pinned copies of {COPY_BYTES / 1e6:.0f} MB (4 buffers, 2 streams and up to 8 copies in flight in "
                "each direction, kept going by one mostly sleeping Python thread) while another process runs AdamW "
                "(adam_rates.cpp, variant split, 26 bytes a parameter, 5e8 parameters, threads pinned to cores "
                "0..T-1). gemm: bf16 products of 8192 x 8192 matrices run too. All rates over the same window of "
                "about 1.5 s, those of the GPU from CUDA event times. threads 0: no AdamW.")
    server = AdamServer(MIXED_PARAMS, min(125_000_000, MIXED_PARAMS // 2))
    server.send("prepare split")
    copier = Copier(("h2d", "d2h", "gemm"))
    server.answer()
    sets = {"both": ("h2d", "d2h"), "h2d": ("h2d",), "d2h": ("d2h",),
            "both + gemm": ("h2d", "d2h", "gemm"), "gemm": ("gemm",), "none": ()}

    def measure(name, threads):
        lanes = sets[name]
        row = {"copies": name, "threads": threads}
        adam, begin, end = None, None, None
        command = f"adam split {threads} 1.5 0.4"
        if not lanes:
            adam = server.ask(command)
        elif threads:
            server.send(command)
            stop_at = []
            def until():
                if not stop_at and server.ready():
                    stop_at.append(time.monotonic() + 0.1)
                return bool(stop_at) and time.monotonic() > stop_at[0]
            times = copier.run(lanes, until)
            adam = server.answer()
        else:
            stop_at = time.monotonic() + 2.0
            times = copier.run(lanes, lambda: time.monotonic() > stop_at)
            begin, end = stop_at - 1.6, stop_at - 0.1
        if adam:
            begin, end = adam["t_begin"], adam["t_end"]
            row.update({"adam_gparams_per_s": adam["gparams_per_s"], "adam_chunk_min": adam["chunk_min"],
                        "adam_chunk_max": adam["chunk_max"]})
        for lane in lanes:
            unit = "tflops" if lane == "gemm" else "gb_per_s"
            row[f"{lane}_{unit}"] = round(copier.rate(lane, times[lane], begin, end), 2)
        row["window_s"] = round(end - begin, 3)
        results.add("D", "rows", row)
        say("D", row)

    plan = [("both", 0), ("h2d", 0), ("d2h", 0)]
    plan += [("none", t) for t in (4, 8, 12, 14, 16)]
    plan += [("both", t) for t in (4, 8, 12, 14, 15, 16)]
    plan += [(name, t) for name in ("h2d", "d2h") for t in (4, 8, 12, 14, 16)]
    plan += [("gemm", 0), ("both + gemm", 0), ("gemm", 14)]
    plan += [("both + gemm", t) for t in (8, 12, 14, 16)]
    plan += [("both", t) for t in (12, 14)]  # once more, for the spread
    for name, threads in plan:
        if left() < 6:
            break
        with guarded(results, "D", f"{name} {threads}"):
            measure(name, threads)
    server.close()


# ------------------------------------------------------------------ E

def gemm_shapes():
    """(name, kind, tokens, out features, in features) in order of importance."""
    rows = []
    for model, (hidden, intermediate, heads, kv) in MODELS.items():
        dim = 128
        layers = [("qkv", (heads + 2 * kv) * dim, hidden), ("o", hidden, heads * dim),
                  ("gate_up", 2 * intermediate, hidden), ("down", hidden, intermediate)]
        if model == "7B":
            layers += [("kv_single", kv * dim, hidden), ("gate_single", intermediate, hidden)]
        for name, n, k in layers:
            tokens = {"7B": (512, 2048, 8192, 32768), "72B": (2048, 8192),
                      "1.5B": (8192, 32768)}.get(model, (2048, 8192, 32768))
            if name.endswith("single"):
                tokens = (8192, 32768)
            for m in reversed(tokens):
                for kind in ("forward",) if m == 512 else ("forward", "input_grad", "weight_grad"):
                    rows.append((f"{model} {name}", kind, m, n, k))
        if model == "7B":
            rows += [("7B head", kind, m, VOCAB, hidden) for m in (8192, 4096)
                     for kind in ("forward", "input_grad", "weight_grad")]
    return rows


def heat(seconds, size=8192):
    """Matrix products for some seconds; returns [(time, TFLOP/s)] ten a second."""
    import torch
    a, b = randn(size, size), randn(size, size)
    out = torch.empty_like(a)
    series, begin = [], time.monotonic()
    while time.monotonic() < begin + seconds:
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        for _ in range(60):
            torch.mm(a, b, out=out)
        events[1].record()
        events[1].synchronize()
        tflops = 60 * 2 * size**3 / events[0].elapsed_time(events[1]) / 1e9
        series.append((round(time.monotonic() - begin, 2), round(tflops, 1)))
    return series


def part_e(results, left):
    import torch
    results.put("E", "method",
                "torch.mm in bf16 with the layouts of a Linear layer: forward x(m,k) @ W(n,k)^T, input_grad "
                "dy(m,n) @ W, weight_grad dy^T @ x; n out features, k in features, m tokens. x normal(0,1), "
                "W normal(0,0.02), dy normal(0,0.02). After 3 s of heating, each shape 0.12 s warm-up and then "
                "0.25 s in five groups of back-to-back calls, over several operand sets where one would fit the "
                "L2 cache; CUDA events. tflops is of the median group. Over the same window: the SM clock's mean, "
                "NVML's power reading (an average over about 1 s), and power_w from the energy counter, which "
                "moves only every 0.1 s or so and is uncertain by some 10 %.")
    watch = Watch()
    begin = time.monotonic()
    series = heat(3.5)
    results.put("E", "heating_8192_cubed_time_s_and_tflops", series)
    results.put("E", "heating_watch", {f"{a}-{b} s": watch.between(begin + a, begin + b)
                                       for a, b in ((0, 0.5), (0.5, 1), (1, 2), (2, 3.5))})
    say("E heating", series[:2], series[-2:], watch.between(begin + 2, begin + 3.5))
    for name, kind, m, n, k in gemm_shapes():
        if left() < 3:
            say("E out of time at", name, kind, m)
            break
        with guarded(results, "E", f"{name} {kind} {m}"):
            element_bytes = 2 * (m * k + n * k + m * n)
            sets = min(8, max(1, -(-200_000_000 // element_bytes)))
            operands = []
            for _ in range(sets):
                x, w, dy = None, None, None
                if kind == "forward":
                    x, w = randn(m, k), randn(n, k, scale=0.02)
                    operands.append((x, w.t(), torch.empty(m, n, dtype=torch.bfloat16, device=DEVICE)))
                elif kind == "input_grad":
                    dy, w = randn(m, n, scale=0.02), randn(n, k, scale=0.02)
                    operands.append((dy, w, torch.empty(m, k, dtype=torch.bfloat16, device=DEVICE)))
                else:
                    dy, x = randn(m, n, scale=0.02), randn(m, k)
                    operands.append((dy.t(), x, torch.empty(n, k, dtype=torch.bfloat16, device=DEVICE)))
            turn = [0]
            def call():
                a, b, out = operands[turn[0] % sets]
                turn[0] += 1
                torch.mm(a, b, out=out)
            times, begin, end = time_gpu(call, seconds=0.25, warm_s=0.12)
            flops = 2.0 * m * n * k
            ms = statistics.median(times)
            row = {"name": name, "kind": kind, "m": m, "n": n, "k": k, "tflops": round(flops / ms / 1e9, 1),
                   "tflops_min": round(flops / max(times) / 1e9, 1),
                   "tflops_max": round(flops / min(times) / 1e9, 1), "ms": float(f"{ms:.5g}"),
                   "operand_sets": sets, **watch.between(begin, end)}
            results.add("E", "rows", row)
            say("E", name, kind, m, row["tflops"], row.get("power_w"), row.get("sm_mhz"))
            del operands, x, w, dy, call


# ------------------------------------------------------------------ F

def part_f(results, left):
    import torch
    results.put("F", "method",
                "F.scaled_dot_product_attention(is_causal=True) in bf16 with one backend allowed, q, k, v as "
                "transposed views of (batch, seq, heads, dim) tensors, batch x seq = 32768 tokens (131072: one "
                "sequence). gqa: enable_gqa=True; expanded: K and V repeated to all heads before the timing. "
                "Backward: torch.autograd.grad of a kept graph. Flops counted: forward 2*B*H*S*S*D (half of the "
                "full square), backward 2.5 times that. 0.2 s in five groups after a warm-up; CUDA events.")
    heat(1.0)
    plan = [(s, HEADS, KV_HEADS, 128, "gqa") for s in (1024, 4096, 32768, 512, 2048, 8192, 131072)]
    plan += [(s, 32, 8, 64, "gqa") for s in (1024, 4096)]
    plan += [(1024, 16, 2, 128, "gqa"), (1024, 40, 8, 128, "gqa"), (2048, 12, 2, 128, "gqa")]
    plan += [(s, HEADS, KV_HEADS, 128, "expanded") for s in (1024, 4096)]
    for seq, heads, kv, dim, grouping in plan:
        for backend in ("flash", "cudnn"):
            if left() < 5:
                return
            with guarded(results, "F", f"{backend} {seq} {heads} {dim} {grouping}"):
                batch = max(1, 32768 // seq)
                def tensor(h):
                    return randn(batch, seq, h, dim).transpose(1, 2)
                q, k, v, grad = tensor(heads), tensor(kv), tensor(kv), tensor(heads)
                if grouping == "expanded":
                    k, v = (t.repeat_interleave(heads // kv, dim=1) for t in (k, v))
                call = sdpa(backend)
                with torch.no_grad():
                    forward = time_gpu(lambda: call(q, k, v))[0]
                for t in (q, k, v):
                    t.requires_grad_()
                out = call(q, k, v)
                backward = time_gpu(lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True))[0]
                flops = 2.0 * batch * heads * seq * seq * dim
                row = {"backend": backend, "seq": seq, "batch": batch, "heads": heads, "kv_heads": kv,
                       "head_dim": dim, "kv": grouping,
                       "forward_ms": stats(forward), "backward_ms": stats(backward),
                       "forward_tflops": round(flops / statistics.median(forward) / 1e9, 1),
                       "backward_tflops": round(2.5 * flops / statistics.median(backward) / 1e9, 1)}
                results.add("F", "rows", row)
                say("F", backend, seq, dim, grouping, row["forward_tflops"], row["backward_tflops"])
                del q, k, v, grad, out


# ------------------------------------------------------------------ G, H

def rms_norm(x, weight, eps=1e-6):
    """As transformers' Qwen2RMSNorm."""
    import torch
    dtype = x.dtype
    x = x.to(torch.float32)
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return weight * x.to(dtype)


def rotate_half(x):
    import torch
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def rotary(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def angles(seq, dim):
    import torch
    frequency = 1e6 ** (-torch.arange(0, dim, 2, device=DEVICE).float() / dim)
    turn = torch.arange(seq, device=DEVICE).float()[:, None] * frequency
    turn = torch.cat((turn, turn), dim=-1)
    return turn.cos().to(torch.bfloat16), turn.sin().to(torch.bfloat16)


def decoder_layer(backend):
    """One Qwen2 decoder layer as eager PyTorch operations; returns f(x)."""
    import torch.nn.functional as F
    weights = {name: (randn(*shape, scale=0.02) if len(shape) == 2 else 1 + randn(*shape, scale=0.02))
               .requires_grad_() for name, shape in LAYER_SHAPES.items()}
    attention = sdpa(backend)
    tables = {}

    def layer(x):
        batch, seq, _ = x.shape
        if seq not in tables:
            tables[seq] = angles(seq, HEAD_DIM)
        cos, sin = tables[seq]
        h = rms_norm(x, weights["input_norm"])
        q, k, v = (F.linear(h, weights[name]).view(batch, seq, -1, HEAD_DIM).transpose(1, 2) for name in "qkv")
        q, k = rotary(q, cos, sin), rotary(k, cos, sin)
        a = attention(q, k, v).transpose(1, 2).reshape(batch, seq, -1)
        x = x + F.linear(a, weights["o"])
        h = rms_norm(x, weights["post_norm"])
        return x + F.linear(F.silu(F.linear(h, weights["gate"])) * F.linear(h, weights["up"]), weights["down"])

    layer.weights = list(weights.values())
    return layer


def part_g(results, left):
    import torch
    import torch.nn.functional as F
    results.put("G", "method",
                "bf16, eager PyTorch operations at 32 x 1024 tokens of the 7B shapes; 0.15 s in five groups of "
                "back-to-back calls after a warm-up, CUDA events; backward: torch.autograd.grad of a kept graph. "
                "GB/s counts each operand and result once.")

    def ms(name, call, gigabytes=None, **more):
        if left() < 2:
            return
        with guarded(results, "G", name):
            times = time_gpu(call, seconds=0.15)[0]
            row = {"ms": stats(times), **more}
            if gigabytes:
                row["gb_per_s"] = round(gigabytes / statistics.median(times) * 1e3, 1)
            results.put("G", name, row)
            say("G", name, row["ms"]["median"], "ms", row.get("gb_per_s", ""))

    def both(name, function, inputs, grad, gigabytes=None):
        """Forward without and with a graph, and backward."""
        with torch.no_grad():
            ms(name + " forward", lambda: function(*inputs), gigabytes)
        with guarded(results, "G", name + " backward"):
            wanted = [t.requires_grad_() for t in inputs if t.is_floating_point()]
            out = function(*inputs)
            ms(name + " backward", lambda: torch.autograd.grad(out, wanted, grad, retain_graph=True))

    n = COPY_BYTES // 2
    a, b = randn(n), randn(n)
    ms("device copy read + write", lambda: b.copy_(a), 2 * COPY_BYTES / 1e9)
    large, other = randn(4 * n), randn(4 * n)
    ms("device copy read + write, 1864 MB", lambda: other.copy_(large), 8 * COPY_BYTES / 1e9)
    ms("zero_ 466 MB", lambda: b.zero_(), COPY_BYTES / 1e9)
    del a, b, large, other

    x, grad = randn(32, 1024, HIDDEN), randn(32, 1024, HIDDEN, scale=0.02)
    weight = 1 + randn(HIDDEN, scale=0.02)
    two = 2 * x.numel() * 2 / 1e9
    both("rms_norm eager", rms_norm, [x, weight], grad, two)
    x = x.detach()
    weight = weight.detach()
    both("rms_norm fused (F.rms_norm)", lambda x, w: F.rms_norm(x, (HIDDEN,), w, 1e-6), [x, weight], grad, two)
    x = x.detach()
    y = randn(32, 1024, HIDDEN)
    with torch.no_grad():
        ms("residual add", lambda: x + y, 3 * x.numel() * 2 / 1e9)
        ms("add in place", lambda: x.add_(y, alpha=1e-6), 3 * x.numel() * 2 / 1e9)
    del x, y, grad, weight

    gate, up = randn(32768, INTERMEDIATE), randn(32768, INTERMEDIATE)
    grad = randn(32768, INTERMEDIATE, scale=0.02)
    both("swiglu eager", lambda g, u: F.silu(g) * u, [gate, up], grad, 3 * gate.numel() * 2 / 1e9)
    del gate, up, grad

    cos, sin = angles(1024, HEAD_DIM)
    for heads in (HEADS, KV_HEADS):
        q = randn(32, 1024, heads, HEAD_DIM).transpose(1, 2)
        grad = randn(32, 1024, heads, HEAD_DIM, scale=0.02).transpose(1, 2)
        both(f"rotary eager {heads} heads", lambda q: rotary(q, cos, sin), [q], grad, 2 * q.numel() * 2 / 1e9)
    del q, grad

    logits = randn(4096, VOCAB, scale=2.0)
    targets = torch.randint(0, VOCAB, (4096,), device=DEVICE)
    one = torch.ones((), device=DEVICE, dtype=torch.bfloat16)
    both("cross_entropy bf16 logits 4096", lambda z: F.cross_entropy(z, targets, reduction="sum"), [logits], one)
    logits = logits.detach()
    both("cross_entropy logits.float() 4096",
         lambda z: F.cross_entropy(z.float(), targets, reduction="sum"), [logits], one.float())
    del logits

    embedding = randn(VOCAB, HIDDEN, scale=0.02).requires_grad_()
    tokens = torch.randint(0, VOCAB, (32, 1024), device=DEVICE)
    with torch.no_grad():
        ms("embedding forward 32768 tokens", lambda: F.embedding(tokens, embedding))
    out = F.embedding(tokens, embedding)
    grad = torch.randn_like(out)
    ms("embedding backward 32768 tokens", lambda: torch.autograd.grad(out, embedding, grad, retain_graph=True))
    del embedding, out, grad

    with guarded(results, "G", "launch"):
        tiny = randn(1024)
        other = randn(1024)
        def loop():
            for _ in range(500):
                tiny.add_(other, alpha=1e-3)
        host, wall = [], []
        for i in range(12):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            loop()
            queued = time.perf_counter()
            torch.cuda.synchronize()
            if i > 1:
                host.append((queued - begin) / 500 * 1e6)
                wall.append((time.perf_counter() - begin) / 500 * 1e6)
        results.put("G", "eager add_ of 1024 elements",
                    {"host_us_per_call": stats(host), "wall_us_per_call": stats(wall)})
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            loop()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loop()
        times = time_gpu(graph.replay, seconds=0.1)[0]
        results.put("G", "graph of 500 tiny kernels", {"us_per_kernel": stats([t / 500 * 1e3 for t in times])})
        a, w, host_linear = randn(16, 256), randn(256, 256, scale=0.02), []
        for _ in range(8):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(300):
                F.linear(a, w)
            host_linear.append((time.perf_counter() - begin) / 300 * 1e6)
        host_linear = stats(host_linear[2:])
        results.put("G", "eager linear 16x256x256", {"host_us_per_call": host_linear})
        say("G launch", results.data["G"]["eager add_ of 1024 elements"],
            results.data["G"]["graph of 500 tiny kernels"], host_linear)


def part_h(results, left):
    import torch
    results.put("H", "method",
                "One Qwen2.5-7B decoder layer of eager PyTorch operations (no biases), bf16, after 1 s of heating. "
                "forward_no_grad; forward + torch.autograd.grad for the input and all weights, and of it the "
                "forward with a graph alone and the backward alone; CUDA events around 20 or more single calls that follow "
                "as many untimed ones without a pause. "
                "peak bytes: torch.cuda.max_memory_allocated minus what was allocated before the call.")

    def measure(backend, batch, seq):
        layer = decoder_layer(backend)
        x = randn(batch, seq, HIDDEN)
        grad = randn(batch, seq, HIDDEN, scale=0.02)
        wanted = layer.weights
        watch = Watch()
        heat(1.0)

        def marks(calls, count):
            """Times between events recorded after each of the calls, for each repeat."""
            rows = []
            for _ in range(count + 2):
                events = [torch.cuda.Event(enable_timing=True) for _ in range(len(calls) + 1)]
                events[0].record()
                state = None
                for call, event in zip(calls, events[1:]):
                    state = call(state)
                    event.record()
                del state
                rows.append(events)
            torch.cuda.synchronize()
            return [[a.elapsed_time(b) for a, b in zip(e, e[1:])] for e in rows[2:]]

        def peak(call):
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            call()
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated() - before

        def without(_):
            with torch.no_grad():
                layer(x)

        steps = [lambda _: layer(x), lambda y: torch.autograd.grad(y, [x, *wanted], grad)]
        count = max(20, round(20 * 32768 / (batch * seq)))
        x.requires_grad_()
        marks(steps, count)
        marks([without], count)
        forward = [row[0] for row in marks([without], count)]
        begin = time.monotonic()
        training = marks(steps, count)
        end = time.monotonic()
        held = torch.cuda.memory_allocated()
        y = layer(x)
        kept = torch.cuda.memory_allocated() - held
        del y
        row = {"attention": backend, "batch": batch, "seq": seq, "forward_no_grad_ms": stats(forward),
               "forward_with_graph_ms": stats([r[0] for r in training]),
               "backward_ms": stats([r[1] for r in training]),
               "forward_backward_ms": stats([sum(r) for r in training]),
               "peak_bytes_forward_no_grad": peak(lambda: without(None)),
               "peak_bytes_forward_backward": peak(lambda: torch.autograd.grad(layer(x), [x, *wanted], grad)),
               "kept_for_backward_bytes": kept, **watch.between(begin, end)}
        results.add("H", "rows", row)
        say("H", row)

    def launch_bound():
        """The layer on 16 tokens: the time is that of the host's launches."""
        layer = decoder_layer("flash")
        x, grad = randn(1, 16, HIDDEN).requires_grad_(), randn(1, 16, HIDDEN)
        rows = []
        for _ in range(30):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            with torch.no_grad():
                layer(x)
            torch.cuda.synchronize()
            forward = time.perf_counter()
            y = layer(x)
            torch.cuda.synchronize()
            graph = time.perf_counter()
            torch.autograd.grad(y, [x, *layer.weights], grad)
            torch.cuda.synchronize()
            rows.append((forward - begin, graph - forward, time.perf_counter() - graph))
        forward, graph, backward = ([1e3 * t for t in column] for column in zip(*rows[10:]))
        results.put("H", "16_tokens_wall_ms", {"forward_no_grad": stats(forward), "forward_with_graph": stats(graph),
                                               "backward": stats(backward)})
        say("H", results.data["H"]["16_tokens_wall_ms"])

    for backend, batch, seq in (("flash", 32, 1024), ("cudnn", 32, 1024), ("flash", 8, 4096), ("flash", 8, 1024)):
        if left() > 5:
            with guarded(results, "H", f"{backend} {batch} {seq}"):
                measure(backend, batch, seq)
            gc.collect()
            torch.cuda.empty_cache()
    with guarded(results, "H", "launch_bound"):
        launch_bound()


# ------------------------------------------------------------------ main

PARTS = {"touch": part_touch, "A": part_a, "B": part_b, "C": part_c, "D": part_d, "E": part_e, "F": part_f,
         "G": part_g, "H": part_h}
START = time.monotonic()


def run_part(name, path, budget):
    begin = time.monotonic()
    results = Results(path)
    results.data.pop(name, None)
    PARTS[name](results, lambda: budget - (time.monotonic() - begin))
    results.put("part_seconds", name, round(time.monotonic() - begin, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, help="the results file")
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated parts to run")
    parser.add_argument("--limit", type=float, default=500, help="seconds for everything")
    parser.add_argument("--child", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_part(options.parts, options.out, options.child)
        return

    results = Results(options.out)
    results.put("about", "Measurements of one machine by h200_machine.py and adam_rates.cpp. GB = 1e9 bytes; "
                "median, min, max and count where a value is a set.")
    results.put("date", time.strftime("%Y-%m-%d"))
    results.put("machine", {**results.data.get("machine", {}), **machine_facts()})
    say(results.data["machine"])
    with tempfile.TemporaryDirectory() as folder:
        binary = str(Path(folder) / "adam_rates")
        subprocess.run(["g++", "-O3", "-march=native", "-pthread", "-std=c++17", str(HERE / "adam_rates.cpp"),
                        "-o", binary], check=True)
        say("compiled")
        environment = {**os.environ, "ADAM_RATES": binary, "PYTHONUNBUFFERED": "1"}
        for name in options.parts.split(","):
            remaining = options.limit - (time.monotonic() - START)
            if remaining < 8:
                say("no time left for", name)
                continue
            budget = min(BUDGET[name], remaining - 4)
            say("part", name, f"({budget:.0f} s)")
            try:
                done = subprocess.run([sys.executable, __file__, "--out", options.out, "--parts", name,
                                       "--child", str(budget)], env=environment, timeout=budget + 3)
                if done.returncode:
                    say("part", name, "ended with", done.returncode)
            except subprocess.TimeoutExpired:
                say("part", name, "ran out of time")
    results = Results(options.out)
    results.put("machine", "mem_total_mib_at_end", process_memory()["mem_total_mib"])
    results.put("total_seconds", round(time.monotonic() - START, 1))
    say("done")


if __name__ == "__main__":
    main()

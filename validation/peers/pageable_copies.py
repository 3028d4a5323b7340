#!/usr/bin/env python3
"""Times copies between the device and pageable host memory as Tensor.to() makes them, one tensor after another: GB/s by size.

to_fresh   Tensor.to("cpu") into memory that the process has not had before, as a gradient's first copy
to_kept    Tensor.copy_() into a tensor of before
from_host  Tensor.copy_() to the device
release    the fresh tensors are dropped
"""
import argparse
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import torch

from peer_timing import DEVICE, synchronize


def clocked(call):
    synchronize()
    start = time.perf_counter()
    result = call()
    synchronize()
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[0.5, 4.7, 27.5, 135, 467], help="1e6 bytes of a tensor")
    parser.add_argument("--total-gb", type=float, default=2, help="bytes per repeat and size, in as many tensors as necessary")
    parser.add_argument("--repeats", type=int, default=4, help="the first is not counted")
    parser.add_argument("--thread", action="store_true", help="copy in a separate thread, as autograd's hooks do")
    args = parser.parse_args()
    if args.thread:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(measure, args).result()
    else:
        measure(args)


def measure(args):
    for megabytes in args.megabytes:
        count, elements = max(2, round(1e3 * args.total_gb / megabytes)), int(megabytes * 5e5)
        device = torch.ones(elements, dtype=torch.bfloat16, device=DEVICE)
        rates = {"to_fresh": [], "to_kept": [], "from_host": [], "release": []}
        for _ in range(args.repeats):
            seconds = {}
            seconds["to_fresh"], host = clocked(lambda: [device.to("cpu", copy=True) for _ in range(count)])
            seconds["to_kept"], _ = clocked(lambda: [tensor.copy_(device) for tensor in host])
            seconds["from_host"], _ = clocked(lambda: [device.copy_(tensor) for tensor in host])
            seconds["release"], _ = clocked(host.clear)
            for name, value in seconds.items():
                rates[name].append(count * elements * 2 / value / 1e9)
        row = {"megabytes": megabytes, "tensors": count, "thread": args.thread}
        row |= {f"{name}_gb_per_s": round(statistics.median(values[1:]), 2) for name, values in rates.items()}
        print(json.dumps(row), flush=True)


main()

#!/usr/bin/env python3
"""Times host work of PyTorch that systems do in different precisions or ways, on the same elements, in 10^9 elements per second.

scale_bf16, scale_fp32   Tensor.mul_() of gradients by a factor
norm_bf16, norm_fp32     torch.linalg.vector_norm
adamw_one_pass           torch.optim.AdamW(fused=True) on fp32: 28 bytes a parameter
adamw_loop               torch.optim.AdamW on bf16, its default for parameters on the host: 40 bytes a parameter

loop_share is how fast the loop moves host memory, in that of the one pass right after it.
"""
import argparse
import json
import statistics
import time

import torch

from peer_timing import adam_alone_ns


def seconds(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def gradients_row(args):
    elements = args.tensors * args.elements
    factor = torch.tensor(0.999)
    row = {}
    for name, dtype in ("bf16", torch.bfloat16), ("fp32", torch.float32):
        gradients = [torch.empty(args.elements).normal_(0, 1e-3).to(dtype) for _ in range(args.tensors)]
        row[f"scale_{name}"] = elements / seconds(lambda: [g.mul_(factor) for g in gradients], args.repeats) / 1e9
        row[f"norm_{name}"] = elements / seconds(lambda: [torch.linalg.vector_norm(g) for g in gradients], args.repeats) / 1e9
    return row


def adam_row(args):
    sizes = {"tensors": args.tensors, "elements": args.elements}
    loop = 1 / adam_alone_ns(torch.optim.AdamW, torch.bfloat16, **sizes)
    one_pass = 1 / adam_alone_ns(torch.optim.AdamW, torch.float32, fused=True, **sizes)
    return {"adamw_one_pass": one_pass, "adamw_loop": loop, "loop_share": 40 * loop / (28 * one_pass)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensors", type=int, default=16)
    parser.add_argument("--elements", type=int, default=2**25, help="of a tensor")
    parser.add_argument("--repeats", type=int, default=8, help="the first is not counted")
    args = parser.parse_args()
    row = gradients_row(args) | adam_row(args)
    print(json.dumps({"threads": torch.get_num_threads()} | {name: round(value, 3) for name, value in row.items()}), flush=True)


main()

#!/usr/bin/env python3
"""Times training steps of DeepSpeed's ZeRO-3 with CPU offload on this machine's GPU, for rows like those of ../peers-h200.json.

zero3-offload  parameters and optimizer in pinned host memory, DeepSpeedCPUAdam
zero-infinity  parameters and optimizer states in files under --nvme-path (needs libaio and DeepSpeed's async_io)
superoffload   parameters on the GPU, CPU Adam in a process of its own, the last tenth of the update on the GPU
"""
import torch

import deepspeed
from deepspeed.ops.adam import DeepSpeedCPUAdam
from peer_model import MODELS, made
from peer_timing import DEVICE, adam_alone_ns, arguments, one_rank, report, run_steps


NAMES = {
    "zero3-offload": "DeepSpeed ZeRO-3 CPU offload", "zero-infinity": "DeepSpeed ZeRO-Infinity", "superoffload": "DeepSpeed SuperOffload",
}


def settings(args):
    """The settings that sluice's schedules of the same names are written for."""
    zero = {
        "stage": 3, "overlap_comm": True, "contiguous_gradients": True, "reduce_bucket_size": int(2e8),
        "stage3_prefetch_bucket_size": int(5e7), "stage3_param_persistence_threshold": int(1e5),
        "sub_group_size": int(args.sub_group_elements),
        "offload_param": {"device": "cpu", "pin_memory": True}, "offload_optimizer": {"device": "cpu", "pin_memory": True},
    }
    if args.system == "zero-infinity":
        hidden, feed_forward, *_, vocabulary = MODELS[args.model]
        zero["offload_param"] = {
            "device": "nvme", "nvme_path": args.nvme_path, "pin_memory": True, "max_in_cpu": int(1e9),
            "buffer_size": hidden * max(feed_forward, vocabulary), "buffer_count": args.parameter_buffers,
        }
        zero["offload_optimizer"] = {
            "device": "nvme", "nvme_path": args.nvme_path, "pin_memory": True, "buffer_count": 12,
            "pipeline_read": True, "pipeline_write": True,
        }
    if args.system == "superoffload":
        del zero["offload_param"]
        zero |= {"overlap_comm": False, "reduce_bucket_size": int(4e8), "sub_group_size": int(args.sub_group_elements)}
        zero["offload_optimizer"] |= {"ratio": 0.90, "super_offload": True, "cpuadam_cores_perc": 0.90}
    return {
        "train_micro_batch_size_per_gpu": args.batch // args.micro_batches,
        "gradient_accumulation_steps": args.micro_batches, "bf16": {"enabled": True}, "zero_optimization": zero,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-5}}, "steps_per_print": 10**9,
    }


def main():
    parser = arguments(__doc__, list(NAMES))
    parser.add_argument("--sub-group-elements", type=float, help="sub_group_size; superoffload: 4e8, else 1e9")
    parser.add_argument("--nvme-path", help="a folder on the disk")
    parser.add_argument("--parameter-buffers", type=int, default=5, help="buffer_count of offload_param")
    args = parser.parse_args()
    args.sub_group_elements = args.sub_group_elements or (4e8 if args.system == "superoffload" else 1e9)
    if args.system == "zero-infinity" and not args.nvme_path:
        parser.error("--nvme-path: zero-infinity needs a folder for its files")
    alone = adam_alone_ns(DeepSpeedCPUAdam)
    one_rank()
    deepspeed.init_distributed("nccl" if DEVICE == "cuda" else "gloo")
    model = made(args.model, args.layers, args.recompute == "full", DEVICE, torch.bfloat16, empty_modules=args.empty_modules)
    vocabulary, layers, count = model.vocabulary, len(model.layers), sum(p.numel() for p in model.parameters())
    torch.set_default_dtype(torch.float32)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings(args))
    if DEVICE == "cuda":
        torch.cuda.empty_cache()

    def step(micro_batches, phases):
        for tokens, targets in micro_batches:
            loss = engine(tokens, targets)
            phases.done("forward")
            engine.backward(loss)
            phases.done("backward")
            engine.step()  # counts, but for the last micro-batch
            phases.done("optimizer_step")
        return loss.detach()

    phases, losses = run_steps(args, vocabulary, step)
    how = f"DeepSpeed {deepspeed.__version__}, torch.utils.checkpoint on each layer, whole fp32 logits"
    report(args, NAMES[args.system], how, layers, count, phases, losses, recompute=args.recompute, empty_modules=args.empty_modules, adam_alone_ns=alone,
           zero=settings(args)["zero_optimization"])
    torch.distributed.destroy_process_group()


# SuperOffload starts a process that imports this file again.
if __name__ == "__main__":
    main()

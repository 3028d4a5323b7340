#!/usr/bin/env python3
"""Times training steps of plain PyTorch, FSDP2 and Accelerate on this machine's GPU, for rows like those of ../peers-h200.json.

resident            everything in device memory, bf16, AdamW(fused) on the GPU
fsdp-offload        FSDP2 with CPUOffloadPolicy (pinned), fp32 parameters on the host, AdamW(fused) on the processor
accelerate-offload  accelerate.cpu_offload. Its gradients never reach the optimizer, so that a hook of this script copies each to the
                    host when it is made; bf16 parameters and moments, torch's default AdamW on the processor
"""
import torch

from peer_model import made
from peer_timing import DEVICE, adam_alone_ns, arguments, one_rank, report, run_steps

CLIP_NORM = 1.0


def sharded(model):
    import torch.distributed as dist
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

    one_rank()
    dist.init_process_group("cpu:gloo,cuda:nccl" if DEVICE == "cuda" else "gloo", rank=0, world_size=1)
    policy = {
        "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16),
        "offload_policy": CPUOffloadPolicy(pin_memory=DEVICE == "cuda"),
    }
    if DEVICE == "cpu":
        policy = {"mp_policy": policy["mp_policy"]}
    for layer in model.layers:
        fully_shard(layer, **policy)
    return fully_shard(model, **policy)


class GradientsToHost:
    """Gives each module's parameters on the device a hook that moves their gradients to the host's parameters."""

    def __init__(self, model):
        from accelerate import cpu_offload
        from accelerate.hooks import ModelHook, add_hook_to_module

        self.host = {name: torch.nn.Parameter(p.detach().cpu().clone()) for name, p in model.named_parameters()}
        cpu_offload(model, execution_device=torch.device(DEVICE), state_dict={name: p.data for name, p in self.host.items()})
        owner = self

        class Hook(ModelHook):
            def __init__(self, prefix):
                self.prefix = prefix

            def pre_forward(self, module, *args, **kwargs):
                if torch.is_grad_enabled():
                    for name, parameter in module.named_parameters(recurse=False):
                        parameter.register_post_accumulate_grad_hook(owner.mover(self.prefix + name))
                return args, kwargs

        for path, module in model.named_modules():
            if any(True for _ in module.parameters(recurse=False)):
                add_hook_to_module(module, Hook(path + "." if path else ""), append=True)

    def mover(self, name):
        def move(parameter):
            gradient, before = parameter.grad.to("cpu"), self.host[name].grad
            self.host[name].grad = gradient if before is None else before.add_(gradient)
            parameter.grad = None

        return move


def main():
    args = arguments(__doc__, ["resident", "fsdp-offload", "accelerate-offload"]).parse_args()
    system = args.system
    fsdp, accelerate = system == "fsdp-offload", system == "accelerate-offload"
    settings = {} if accelerate else {"fused": True}
    dtype = torch.float32 if fsdp else torch.bfloat16
    more = {} if system == "resident" else {"adam_alone_ns": adam_alone_ns(torch.optim.AdamW, dtype, **settings)}
    recompute = args.recompute == "full"
    model = made(args.model, args.layers, recompute, DEVICE, dtype, reentrant=accelerate, empty_modules=args.empty_modules)
    vocabulary, layers, count = model.vocabulary, len(model.layers), sum(p.numel() for p in model.parameters())
    parameters = None
    if fsdp:
        how = "fully_shard per layer with CPUOffloadPolicy (pinned), fp32 parameters, bf16 compute and reduce"
        how += ", torch AdamW(fused) on the CPU"
        model = sharded(model.cpu())
    elif accelerate:
        how = "accelerate.cpu_offload, gradients copied to the host by a hook, bf16, torch AdamW on the CPU"
        how += ", reentrant checkpoint of each layer"
        parameters = list(GradientsToHost(model).host.values())
    else:
        how = "bf16 parameters, gradients and moments in device memory, torch AdamW(fused) on the GPU"
    parameters = parameters or list(model.parameters())
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
    optimizer = torch.optim.AdamW(parameters, lr=1e-5, **settings)

    def step(micro_batches, phases):
        for tokens, targets in micro_batches:
            loss = model(tokens, targets)
            phases.done("forward")
            (loss / len(micro_batches)).backward()
            phases.done("backward")
        torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        phases.done("clip_grad_norm")
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        phases.done("adam")
        return loss.detach()

    phases, losses = run_steps(args, vocabulary, step)
    name = {"resident": "resident", "fsdp-offload": "PyTorch FSDP2 CPU offload", "accelerate-offload": "Accelerate CPU offload"}[system]
    report(args, name, how, layers, count, phases, losses, recompute=args.recompute, empty_modules=args.empty_modules, **more)
    if fsdp:
        torch.distributed.destroy_process_group()


main()

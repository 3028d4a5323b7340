#!/usr/bin/env python3
"""Times training steps of MegaTrain on this machine's GPU, for rows like those of ../peers-h200.json.

Its package `infinity` (github.com/DLYuanGod/MegaTrain), transformers and DeepSpeed (for its CPU Adam) must be importable. The step is
that of its examples/sft/train.py: forward_and_backward, clip_grad_norm_, Adam, copy of the weights to pinned memory, zero_grad.
"""
import os

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # as its train.py does

import torch
from deepspeed.ops.adam import DeepSpeedCPUAdam
from infinity import CPUMasterConfig, CPUMasterModel
from transformers import AutoModelForCausalLM, Qwen2Config

from peer_model import MODELS
from peer_timing import DEVICE, adam_alone_ns, arguments, report, run_steps


class NoMask:
    """In place of a mask of ones, which MegaTrain hands on to the layers as it is and sdpa does not take: causal attention."""

    def to(self, _):
        return None


def qwen(name, layers):
    hidden, feed_forward, heads, kv_heads, all_layers, vocabulary = MODELS[name]
    config = Qwen2Config(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=feed_forward, num_hidden_layers=layers or all_layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, tie_word_embeddings=False, use_cache=False,
    )
    with torch.device(DEVICE):  # random numbers are slow to make on the processor
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    return model.cpu().train()


def keep_gradients_until_they_left(context):
    """MegaTrain drops the head's and the embedding's gradient while it is still being copied, and PyTorch gives their memory to the next
    tensors; where these are in fp32, half of their bits read as bf16 are NaN now and then. Its layers' gradients are recorded on
    the copying stream, as these are here."""
    for module in (context.lm_head_gpu, context.norm_gpu, context.emb_gpu):
        for parameter in module.parameters():
            parameter.register_post_accumulate_grad_hook(lambda p: p.grad.record_stream(context.grad_stream))


def main():
    parser = arguments(__doc__, ["megatrain"])
    parser.add_argument("--checkpoint-interval", type=int, default=4)
    parser.add_argument("--gradient-slabs", type=int, default=12)
    args = parser.parse_args()
    alone = adam_alone_ns(DeepSpeedCPUAdam, torch.bfloat16)
    torch.manual_seed(0)
    hf_model = qwen(args.model, args.layers)
    vocabulary, layers = hf_model.config.vocab_size, hf_model.config.num_hidden_layers
    config = CPUMasterConfig(
        model_name=args.model, dataset_name="random tokens", attn_implementation="sdpa", device=0,
        max_seq_len=args.seq, batch_size=args.batch,
        checkpoint_interval=args.checkpoint_interval, num_grad_slabs=args.gradient_slabs,
    )
    model = CPUMasterModel(hf_model, config)
    del hf_model
    keep_gradients_until_they_left(model.gpu_contexts[0])
    parameters = model.get_parameters()
    optimizer = DeepSpeedCPUAdam(parameters, lr=1e-5, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, adamw_mode=True)
    torch.cuda.empty_cache()

    def step(micro_batches, phases):
        for tokens, _ in micro_batches:
            tokens = tokens.cpu()
            loss, *_ = model.forward_and_backward(tokens, NoMask(), tokens)
            phases.done("forward_backward")
        torch.nn.utils.clip_grad_norm_(model.get_parameters(), config.max_grad_norm)
        phases.done("clip_grad_norm")
        optimizer.step()
        phases.done("adam")
        model._sync_params_to_gpu()
        phases.done("copy_to_pinned")
        model.zero_grad()
        optimizer.zero_grad()
        phases.done("zero_grad")
        return loss

    phases, losses = run_steps(args, vocabulary, step)
    how = f"its public code, sdpa attention without a mask, checkpoint_interval {args.checkpoint_interval}"
    how += f", {args.gradient_slabs} gradient slabs"
    report(args, "MegaTrain", how, layers, sum(p.numel() for p in parameters), phases, losses,
           checkpoint_interval=args.checkpoint_interval, gradient_slabs=args.gradient_slabs, adam_alone_ns=alone)
    model.cleanup()


main()

"""Times training steps of a mixture of experts in transformers, everything in the GPU's memory: bf16 weights, gradients and moments.

usage: transformers_experts.py CONFIG.json [--layers N] [--batch B] [--seq S] [--steps N] [--recompute none|full]. Experts are
computed by transformers' grouped products, its quickest form; AdamW is fused, and gradients are clipped in every step. Prints
tokens/s and the device's peak memory.
"""
import argparse
import json
import statistics
import sys
import time

import torch
import transformers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seq", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--recompute", choices=["none", "full"], default="none")
    asked = parser.parse_args()
    with open(asked.config) as file:
        fields = json.load(file)
    fields.pop("_sluice", None)
    fields["num_hidden_layers"] = asked.layers
    config = transformers.AutoConfig.for_model(fields.pop("model_type"), **fields)
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    model.set_experts_implementation("grouped_mm")
    if asked.recompute == "full":
        model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    torch.manual_seed(1)
    times = []
    loss = None
    for _ in range(asked.steps):
        tokens = torch.randint(config.vocab_size, (asked.batch, asked.seq), device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    step = statistics.median(times[3:])
    print(f"transformers {transformers.__version__}, {asked.layers} layers, batch {asked.batch} seq {asked.seq} recompute {asked.recompute}: "
          f"{asked.batch * asked.seq / step:.0f} tokens/s, step {step:.4f} s, "
          f"peak {torch.cuda.max_memory_allocated() / 1e9:.1f} GB, loss {loss.item():.4f}, torch {torch.__version__}")


if __name__ == "__main__":
    sys.exit(main())

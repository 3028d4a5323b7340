#!/usr/bin/env bash
# Trains one model in bf16 and in FP8 with three seeds, then takes the loss on held-out text.
# usage: train.sh SLUICE_TRAIN TRAIN_BIN HELD_BIN OUT_FOLDER
set -euo pipefail
program=$1 text=$2 held=$3 out=$4
model=dense:layers=24,hidden=1280,heads=20,kv_heads=4,head_dim=64,intermediate=4352,vocabulary=8192,tied=1
flags=(--model $model --seq 1024 --clipping exact --recompute none --resident-layers 24 --resident-tables both)
mkdir -p "$out"

for seed in 1 2 3; do
    for precision in bf16 fp8; do
        name=$out/$precision-seed-$seed
        checkpoints=$(mktemp -d)
        "$program" --plan given --data "$text" "${flags[@]}" --batch 8 --steps 2000 --learning-rate 6e-4 --warmup-steps 200 \
            --max-norm 1 --seed $seed --compute $precision --out "$checkpoints" --log "$name.jsonl" >"$name.txt"
        # A learning rate of 1e-30 leaves the weights as they are.
        "$program" --plan given --data "$held" "${flags[@]}" --batch 32 --steps 28 --learning-rate 1e-30 --max-norm 1e9 \
            --compute $precision --load "$checkpoints"/step-* --log "$name.held.jsonl" >"$name.held.txt"
        rm -r "$checkpoints"
    done
done

#!/usr/bin/env bash
# Trains one model in bf16 or FP8 with three seeds and writes loss-NAME-seed-SEED.csv into a folder.
# usage: train.sh SLUICE_TRAIN bf16|fp8 NAME TRAIN_BIN HELD_BIN OUT_FOLDER
set -euo pipefail
program=$1 precision=$2 name=$3 text=$4 held=$5 out=$6
here=$(dirname "${BASH_SOURCE[0]}")
model=dense:layers=24,hidden=1280,heads=20,kv_heads=4,head_dim=64,intermediate=4352,vocabulary=8192,tied=1
logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
mkdir -p "$out"

for seed in 1 2 3; do
    "$program" --plan given --model $model --seq 1024 --clipping exact --recompute none --resident-layers 24 --resident-tables both \
        --data "$text" --validation "$held" --validate-every 2000 --batch 8 --steps 2000 --learning-rate 6e-4 \
        --warmup-steps 200 --max-norm 1 --seed $seed --compute "$precision" --log "$logs/$seed.jsonl"
    python3 "$here/../loss_curves.py" "$logs/$seed.jsonl" >"$out/loss-$name-seed-$seed.csv"
done

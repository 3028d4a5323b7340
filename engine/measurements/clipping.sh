#!/usr/bin/env bash
# Trains with the default clipping beside exact and speculative clipping, with gradients that clip in every step
# (--max-norm 1) and in none (1000). Plans are those of clipping-predicted/, or with MACHINE are predicted now.
# usage: clipping.sh [--predict] PROGRAM_FOLDER TEXT OUT_FOLDER [MACHINE]
#   --predict  write the predictions to OUT_FOLDER alone
set -euo pipefail
predict_only=
if [ "${1:-}" = --predict ]; then predict_only=1; shift; fi
[ $# = 3 ] || [ $# = 4 ] || { sed -n 4,5p "$0" >&2; exit 2; }
programs=$1 text=$2 out=$3 machine=${4:-h200-pcie5-16vcpu-128gib} plans=$3
[ -n "$predict_only" ] || [ $# = 4 ] || plans=$(dirname "${BASH_SOURCE[0]}")/clipping-predicted
mkdir -p "$out"
planner=$programs/sluice
[ -x "$planner" ] || planner=$programs/predict/sluice

# run NAME STEPS MAX_NORM MODEL_FLAGS TRAINING_FLAGS
run() {
    local name=$1 steps=$2 norm=$3 plan
    local -a model training
    read -ra model <<<"$4"
    read -ra training <<<"$5"
    plan=$plans/${name%-norm-*}-plan.json
    [ -s "$plan" ] || "$planner" predict "${model[@]}" --machine "$machine" "${training[@]}" --json >"$plan"
    [ -z "$predict_only" ] || return 0
    "$programs/sluice-train" --plan "$plan" "${model[@]}" --data "$text" --learning-rate 2e-5 --warmup-steps 5 --steps "$steps" \
        --max-norm "$norm" --log "$out/$name.jsonl" --report "$out/$name.json" >"$out/$name.txt" 2>&1 || true
    grep -E '^(step  |tokens/s)' "$out/$name.txt" | sed "s/^/$name: /" || true
    echo "$name: $(grep -c '"redone":true' "$out/$name.jsonl") redone, $(grep -c '"ahead":true' "$out/$name.jsonl") ahead," \
        "$(grep -c '"corrected":true' "$out/$name.jsonl") corrected of $steps"
}

small="--batch 32 --device-budget-bytes 24e9"
seven="--model qwen2.5-7b --untied"
tiny="--model dense:layers=6,hidden=1024,heads=8,kv_heads=8,head_dim=128,intermediate=3072,vocabulary=256,tied=0"
hosted="--batch 4 --seq 128 --resident-layers 0 --resident-tables none --visiting-layers 0"
run 7b-24-gb-auto-norm-1 7 1 "$seven" "$small"
run 7b-24-gb-auto-norm-1000 11 1000 "$seven" "$small"
run 7b-24-gb-speculative-norm-1000 7 1000 "$seven" "$small --clipping speculative"
run 7b-24-gb-exact-norm-1 7 1 "$seven" "$small --clipping exact"
run tiny-auto-norm-1 60 1 "$tiny" "$hosted"
run tiny-auto-norm-1000 60 1000 "$tiny" "$hosted"
run tiny-exact-norm-1 60 1 "$tiny" "$hosted --clipping exact"
run tiny-speculative-norm-1 60 1 "$tiny" "--batch 4 --seq 128 --resident-layers 0 --resident-tables none --clipping speculative"
run 8b-4-by-4096-auto-norm-1 8 1 "--model qwen3-8b" "--batch 4 --seq 4096"
run 7b-fp8-auto-norm-1 10 1 "$seven" "--batch 32 --compute fp8 --kept-bits 8 --head-gradients fp8"
run 7b-auto-norm-1 8 1 "$seven" "--batch 32"

#!/usr/bin/env bash
# Trains several times with the same options, with gradients that clip in every step, and says whether losses and norms of all runs
# are equal to the last digit.
# usage: same-bits.sh PROGRAM_FOLDER TEXT OUT_FOLDER RUNS STEPS FLAG...
#   FLAG...  those of model and plan, such as --model qwen2.5-7b --untied --plan PLAN.json
set -euo pipefail
[ $# -ge 6 ] || { sed -n 4,5p "$0" >&2; exit 2; }
programs=$1 text=$2 out=$3 runs=$4 steps=$5
shift 5
mkdir -p "$out"
numbers() { grep -o '"loss":[^,]*,\|"gradient_norm":[^,]*,' "$out/run-$1.jsonl" | cut -d : -f 2 | tr -d , | paste - -; }
equal=1
for run in $(seq "$runs"); do
    rm -f "$out/run-$run.jsonl"
    "$programs/sluice-train" "$@" --data "$text" --learning-rate 2e-5 --warmup-steps 5 --steps "$steps" --max-norm 1 \
        --log "$out/run-$run.jsonl" >"$out/run-$run.txt" 2>&1 || { tail -n 2 "$out/run-$run.txt" >&2; exit 1; }
    numbers "$run" | sed "s/^/run $run: /"
    [ "$run" = 1 ] || cmp -s <(numbers 1) <(numbers "$run") || {
        equal=0
        echo "run $run: parts from run 1 in step $(paste <(numbers 1) <(numbers "$run") | awk '$1 != $3 || $2 != $4 { print NR; exit }')"
    }
done
[ "$equal" = 0 ] || echo "losses and norms of $runs runs of $steps steps are equal"
[ "$equal" = 1 ]

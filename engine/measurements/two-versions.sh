#!/usr/bin/env bash
# Trains the same plans with two versions of the trainer in turn, with gradients that clip in every step, and says whether their losses
# are equal and how long their steps take.
# usage: two-versions.sh OLD_PROGRAMS NEW_PROGRAMS TEXT OUT_FOLDER PLAN.json...
set -euo pipefail
[ $# -ge 5 ] || { sed -n 4p "$0" >&2; exit 2; }
old=$1 new=$2 text=$3 out=$4
shift 4
mkdir -p "$out"
for plan in "$@"; do
    name=$(basename "$plan" -plan.json)
    for version in old new; do
        "${!version}/sluice-train" --plan "$plan" --model qwen2.5-7b --untied --data "$text" --learning-rate 2e-5 --warmup-steps 5 \
            --steps 8 --max-norm 1 --log "$out/$name-$version.jsonl" --report "$out/$name-$version.json" \
            >"$out/$name-$version.txt" 2>&1 || true
        grep -E '^tokens/s|^step  ' "$out/$name-$version.txt" | sed "s/^/$name $version: /" || tail -n 2 "$out/$name-$version.txt"
    done
    losses() { grep -o '"loss":[^,]*,\|"gradient_norm":[^,]*,' "$out/$name-$1.jsonl"; }
    cmp <(losses old) <(losses new) && echo "$name: losses and norms of $(losses new | grep -c loss) steps are equal"
done

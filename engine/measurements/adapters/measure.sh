#!/usr/bin/env bash
# Trains adapters of rank 16 on all linear layers with the plan that the trainer chooses, on random weights; one line a run.
# usage: measure.sh PROGRAM_FOLDER TEXT OUT_FOLDER STEPS [NAME...]
set -uo pipefail
[ $# -ge 4 ] || { sed -n 3p "$0" >&2; exit 2; }
programs=$1 text=$2 out=$3 steps=$4
shift 4
mkdir -p "$out"
while read -r name model flags; do
    [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    # shellcheck disable=SC2086
    "$programs/sluice-train" --model "$model" --adapter-rank 16 $flags --data "$text" --learning-rate 1e-4 --warmup-steps 2 \
        --steps "$steps" --max-norm 0.01 --log "$out/$name.jsonl" --report "$out/$name.json" </dev/null >"$out/$name.txt" 2>&1
    echo "$name: exit $?: $(grep -E '^step' "$out/$name.txt" | tail -n 1) $(grep -E '^speed' "$out/$name.txt")"
done <"$(dirname "$0")/runs.txt"

#!/usr/bin/env bash
# Trains the runs of a list with the plan that the trainer chooses, on random weights; every step is clipped. One line a run.
# usage: measure_list.sh PROGRAM_FOLDER LIST TEXT OUT_FOLDER STEPS [NAME...]
#   LIST  a line a run: its name, the model and flags
set -uo pipefail
[ $# -ge 5 ] || { sed -n 3,4p "$0" >&2; exit 2; }
programs=$1 list=$2 text=$3 out=$4 steps=$5
shift 5
mkdir -p "$out"
while read -r name model flags; do
    [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    # shellcheck disable=SC2086
    "$programs/sluice-train" --model "$model" $flags --data "$text" --learning-rate 1e-4 --warmup-steps 2 \
        --steps "$steps" --max-norm 0.01 --log "$out/$name.jsonl" --report "$out/$name.json" </dev/null >"$out/$name.txt" 2>&1
    echo "$name: exit $?: $(grep -E '^step' "$out/$name.txt" | tail -n 1) $(grep -E '^speed' "$out/$name.txt")"
done <"$list"

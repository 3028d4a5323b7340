#!/usr/bin/env bash
# Trains every configuration of configurations.txt on this machine's GPU and leaves a report of each in OUT_FOLDER.
# Configurations with a report there already are left out, so that an interrupted campaign goes on.
# usage: run_campaign.sh SLUICE_TRAIN TEXT OUT_FOLDER [look | held-out]
set -euo pipefail
program=$1 text=$2 out=$3 wanted=${4:-}
list=$(dirname "${BASH_SOURCE[0]}")/configurations.txt
mkdir -p "$out"

while read -r group name flags; do
    case $group in '#'* | '') continue ;; esac
    [ -z "$wanted" ] || [ "$group" = "$wanted" ] || continue
    [ ! -s "$out/$name.json" ] || continue
    start=$SECONDS
    # Random weights and real text, a byte a token. A norm of 1000 is never reached: no step is done twice.
    # shellcheck disable=SC2086
    if "$program" --data "$text" --learning-rate 1e-4 --warmup-steps 5 --max-norm 1000 $flags \
        --report "$out/$name.json" >"$out/$name.log" 2>&1; then
        echo "$name: $(grep '^speed' "$out/$name.log"), $((SECONDS - start)) s in all"
        rm "$out/$name.log"
    else
        echo "$name: failed; see $out/$name.log" >&2
    fi
done <"$list"

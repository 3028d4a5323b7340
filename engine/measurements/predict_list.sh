#!/usr/bin/env bash
# Predicts the runs of a list, before measure_list.sh measures them.
# usage: predict_list.sh PROGRAM_FOLDER LIST MACHINE
set -euo pipefail
[ $# = 3 ] || { sed -n 3p "$0" >&2; exit 2; }
while read -r name model flags; do
    # shellcheck disable=SC2086
    "$1/sluice" predict --model "$model" --machine "$3" $flags |
        awk -v name="$name" '/^fits/ { device = $3 } /^speed/ { print name ": " $2, $3, "a step,", $6, "tokens/s, device", device, "GB" }'
done <"$2"

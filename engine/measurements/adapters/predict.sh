#!/usr/bin/env bash
# Predicts the runs of measure.sh, before they are measured.
# usage: predict.sh PROGRAM_FOLDER MACHINE
set -euo pipefail
[ $# = 2 ] || { sed -n 3p "$0" >&2; exit 2; }
while read -r name model flags; do
    # shellcheck disable=SC2086
    "$1/sluice" predict --model "$model" --machine "$2" --adapter-rank 16 $flags |
        awk -v name="$name" '/^fits/ { device = $3 } /^speed/ { print name ": " $2, $3, "a step,", $6, "tokens/s, device", device, "GB" }'
done <"$(dirname "$0")/runs.txt"

#!/usr/bin/env bash
# Predicts the configurations beside this file, or trains them on this machine's GPU by the plans of these predictions.
# Skips those that have their file already, so that an interrupted campaign continues.
# usage: campaign.sh predict SLUICE
#        campaign.sh train SLUICE_TRAIN TEXT
set -euo pipefail
case ${1-},$# in predict,2 | train,3) ;; *) sed -n 4,5p "$0" >&2; exit 2 ;; esac
here=$(dirname "${BASH_SOURCE[0]}") wanted=$1 program=$2 text=${3-}
mkdir -p "$here/predicted" "$here/steps"

predict() {
    "$program" predict --machine h200-pcie5-16vcpu-128gib-2 --plan auto --compute fp8 --kept-bits 8 \
        --head-gradients fp8 --distinct-tokens 60 --model "$@" --json
}

# Random weights and real text, one token a byte. A norm of 1000 is never reached: no step is redone.
train() {
    local name=$1 steps=$2 model=$3 untied=()
    [ "$4" != --untied ] || untied=(--untied)
    "$program" --plan "$here/predicted/$name.json" --model "$model" "${untied[@]}" --data "$text" --steps "$steps" \
        --max-norm 1000 --learning-rate 2e-5 --warmup-steps 5 --report "$here/steps/$name.json.partial"
}

while read -r name steps model flags; do
    case $name in '#'* | '') continue ;; esac
    # shellcheck disable=SC2086
    case $wanted in
        predict)
            file=$here/predicted/$name.json
            [ -s "$file" ] || predict "$model" $flags >"$file" ;;
        train)
            file=$here/steps/$name.json start=$SECONDS
            [ ! -s "$file" ] || continue
            if train "$name" "$steps" "$model" $flags >"${file%json}log" 2>&1 </dev/null; then
                mv "$file.partial" "$file"
                echo "$name: $(grep '^speed' "${file%json}log"), $((SECONDS - start)) s in all"
            else
                echo "$name: failed; see ${file%json}log" >&2
            fi ;;
    esac
done <"$here/configurations.txt"

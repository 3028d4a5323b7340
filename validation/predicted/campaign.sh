#!/usr/bin/env bash
# Predicts the configurations of a folder, or trains them on this machine's GPU by the plans of these predictions. Skips
# those that have their file already, so that an interrupted campaign continues. A line of configurations.txt has name,
# steps, model and flags of `sluice predict`; the line "all" has those of all, with - for steps and model.
# usage: campaign.sh FOLDER predict SLUICE
#        campaign.sh FOLDER train SLUICE_TRAIN TEXT
set -euo pipefail
case ${2-},$# in predict,3 | train,4) ;; *) sed -n 5,6p "$0" >&2; exit 2 ;; esac
folder=$1 wanted=$2 program=$3 text=${4-}
mkdir -p "$folder/predicted" "$folder/steps"

# Random weights and real text, one token a byte. A norm of 1000 is never reached: no step is redone.
train() {
    local name=$1 steps=$2 model=$3 shape=()
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in --untied) shape+=("$1") ;; --layers) shape+=("$1" "$2") ;; esac
        shift
    done
    "$program" --plan "$folder/predicted/$name.json" --model "$model" "${shape[@]}" --data "$text" --steps "$steps" \
        --max-norm 1000 --learning-rate 2e-5 --warmup-steps 5 --report "$folder/steps/$name.json.partial"
}

of_all=
while read -r name steps model flags; do
    case $name in '#'* | '') continue ;; all) of_all=$flags; continue ;; esac
    case $wanted in
        predict)
            file=$folder/predicted/$name.json
            # shellcheck disable=SC2086
            [ -s "$file" ] || "$program" predict --model "$model" $flags $of_all --json >"$file" ;;
        train)
            file=$folder/steps/$name.json start=$SECONDS
            [ ! -s "$file" ] || continue
            # shellcheck disable=SC2086
            if train "$name" "$steps" "$model" $flags >"${file%json}log" 2>&1 </dev/null; then
                mv "$file.partial" "$file"
                echo "$name: $(grep '^speed' "${file%json}log"), $((SECONDS - start)) s in all"
            else
                echo "$name: failed; see ${file%json}log" >&2
            fi ;;
    esac
done <"$folder/configurations.txt"

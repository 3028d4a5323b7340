#!/usr/bin/env bash
# Is a prediction right on this machine? Calibrates it, predicts a few training runs of a small model, trains them,
# and compares. Uses the GPU if there is one, else the processor. ./dev loop builds and calls it.
# In OUT_FOLDER: profile.json, reports/ of the measured steps, validation.json; on standard output the comparison.
# usage: loop.sh [--quick] [--cpu] PROGRAM_FOLDER OUT_FOLDER
#   --quick  a rough calibration and two short runs: shows whether it works, not how good predictions are
#   --cpu    on the processor, even if there is a GPU
set -euo pipefail

quick='' device=cuda
nvidia-smi >/dev/null 2>&1 || device=cpu
while [ $# -gt 2 ]; do
    case $1 in
        --quick) quick=--quick ;;
        --cpu) device=cpu ;;
        *) break ;;
    esac
    shift
done
[ $# = 2 ] || { sed -n 5,7p "$0" >&2; exit 2; }
programs=$1 out=$2
text=$(dirname "${BASH_SOURCE[0]}")/../examples/train-a-tiny-model/coriolanus.txt
profile=$out/profile.json

say() { echo "loop: $*" >&2; }
for program in sluice sluice-train sluice-calibrate; do
    [ -x "$programs/$program" ] || { say "no $program in $programs; ./dev loop builds it"; exit 2; }
done

# Steps of a third of a second to two. As the trainer chooses, four CPUs are left to the lanes.
cpus=$(nproc)
threads=$((cpus > 5 ? cpus - 4 : 1))
if [ $device = cuda ]; then
    model=(--model qwen2.5-7b --layers 4 --seq 1024)  # 9 GB of the GPU, 30 GB of the host
    runs=("batch-32 --batch 32" "batch-8 --batch 8" "micro-batch-8 --batch 32 --micro-batch 8"
        "depth-1 --batch 32 --buffer-depth 1" "no-recompute --batch 8 --recompute none")
    steps=31
else
    shape=layers=4,hidden=512,heads=8,kv_heads=4,head_dim=64,intermediate=1536,vocabulary=4096
    model=(--model "dense:$shape" --seq 128)
    runs=("batch-8 --batch 8" "batch-2 --batch 2" "micro-batch-2 --batch 8 --micro-batch 2"
        "depth-1 --batch 8 --buffer-depth 1" "no-recompute --batch 8 --recompute none")
    steps=12
fi
if [ -n "$quick" ]; then
    runs=("batch-2 --batch 2" "depth-1 --batch 2 --buffer-depth 1")
    steps=8
fi

# logged NAME COMMAND...: all output goes to OUT_FOLDER/NAME.log, whose end is shown if COMMAND fails.
logged() {
    local name=$1
    shift
    "$@" >"$out/$name.log" 2>&1 </dev/null && return
    tail -n 3 "$out/$name.log" >&2
    say "$name failed; all of it is in $out/$name.log"
    return 1
}

# ticks FILE: prints from /proc/stat, in 1/100 s, the processor time of other programs and of other guests of a virtual
# machine, then the processor time of the whole machine, idle included. print of mawk would write 2.1e+09 above 2^31.
ticks() {
    awk -v own="$(cut -d ' ' -f 14-17 "/proc/$$/stat")" '/^cpu / {
        for (i = 2; i <= 9; ++i) all += $i
        split(own, ours, " ")
        printf "%.0f %.0f\n", all - $5 - $6 - ours[1] - ours[2] - ours[3] - ours[4], all
    }' "$1"
}

# undisturbed COMMAND...: runs it, and reports if others used more than a twentieth of the processors during it.
undisturbed() {
    local others all others_after all_after rc=0
    read -r others all < <(ticks /proc/stat)
    "$@" || rc=$?
    read -r others_after all_after < <(ticks /proc/stat)
    local percent=$((100 * (others_after - others) / (all_after - all + 1)))
    [ $percent -le 5 ] || say "other programs took $percent% of the processors during that time, so the measurement is not fair"
    return $rc
}

# calibrate: measures all cases that a prediction of a step uses. If another program disturbed a time so much that there
# is no profile, the case that the message names is measured again.
calibrate() {
    local cases
    cases=$("$programs/sluice-calibrate" --list |
        awk '$1 !~ /^(case|all|power|storage|gpu_interconnect|numa)$/ {print $1}' | paste -sd ,)
    for _ in 1 2 3; do
        say "calibrating ($device): $cases"
        if undisturbed logged calibrate "$programs/sluice-calibrate" --device "$device" $quick \
            --only "$cases" --out "$profile"; then
            say "calibrated; $(grep '^all held out' "$out/calibrate.log" || true)"
            return
        fi
        cases=$(sed -n 's/.*measure it again with: sluice-calibrate --only \([a-z_,]*\) .*/\1/p' "$out/calibrate.log")
        [ -n "$cases" ] || break
    done
    return 1
}

# predict_and_train NAME FLAG...: real text, one token per byte. A norm of 1000 is never reached, so no step is redone.
# With --plan given, all updates of the default clipping wait for the norm, as in the speed that is predicted.
predict_and_train() {
    local name=$1
    shift
    local flags=("${model[@]}" --optimizer-threads "$threads" "$@")
    logged "$name-predicted" "$programs/sluice" predict --machine "$profile" --plan given "${flags[@]}"
    say "$name: predicted $(speed "$name-predicted")"
    undisturbed logged "$name" "$programs/sluice-train" --device "$device" --data "$text" --plan given \
        --learning-rate 1e-4 --warmup-steps 5 --max-norm 1000 --steps "$steps" "${flags[@]}" --report "$out/reports/$name.json"
    say "$name: measured  $(speed "$name")"
}

# speed LOG: "1.14 s a step, 898 tokens/s".
speed() { sed -n 's|^speed *\(.* tokens/s\).*|\1|p' "$out/$1.log"; }

rm -rf "$out/reports"
mkdir -p "$out/reports"
calibrate
for run in "${runs[@]}"; do
    read -ra words <<<"$run"
    predict_and_train "${words[@]}"
done
"$programs/sluice" validate "$out/reports" --machine "$profile" --json >"$out/validation.json"
"$programs/sluice" validate "$out/reports" --machine "$profile"
say "in $SECONDS s; how each kind of operation does: sluice validate $out/reports --machine $profile --operations"

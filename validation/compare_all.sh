#!/usr/bin/env bash
# How near are predictions to every measured step that is kept here? ./dev validate builds and calls it.
#   peers-h200.json                  other systems' steps, on a machine of the same kind as the one named below
#   peers-h200-other-settings.json   the same with other models and batches
#   peers-h200-3.json                more of them, on machines with a slower host, of the kind of ...-3
#   probe-h200/steps                 steps of sluice-train on a machine that sluice-probe had measured for a minute
#   fp8-h200/steps                   steps of sluice-train in FP8, predicted before they were trained
#   h100-datasheet/steps             steps on an H100 machine, predicted by its GPU's datasheet before they were trained
#   published/*.json                 published steps, each with its machine
#   MACHINE/look, MACHINE/held-out   reports of sluice-train on the machine of that profile; in MACHINE/elsewhere of
#                                    another machine of the kind
#   MACHINE/limit.txt                limits of errors, one per line; without the file there is no limit
#       tokens_per_s_worst 5%        tokens/s of each run
#       tokens_per_s_mean 2%         tokens/s, the mean over all runs
#       memory_worst 1%              device and host memory of each run
# Exit status 1 if an error exceeds its limit, or exceeds 15% in published/ without an explanation.
# usage: compare_all.sh SLUICE [FOLDER]
#   FOLDER  holds these files; default: the folder of this script
set -euo pipefail

[ $# = 1 ] || [ $# = 2 ] || { sed -n 17,18p "$0" >&2; exit 2; }
sluice=$1 folder=${2:-$(dirname "${BASH_SOURCE[0]}")}
status=0

# compare MACHINE WORD...: files and flags. A mistake in a file (2) outweighs a large error (1).
compare() {
    local rc=0
    "$sluice" validate --machine "$@" || rc=$?
    [ $rc -le $status ] || status=$rc
    echo
}

# read_limits FILE: its lines as flags, in limits.
read_limits() {
    local line name percent
    limits=()
    while read -r line || [ -n "$line" ]; do
        read -r name percent <<<"$line"
        case $name in
            '') continue ;;
            tokens_per_s_worst) limits+=(--limit "$percent") ;;
            tokens_per_s_mean) limits+=(--limit-mean "$percent") ;;
            memory_worst) limits+=(--limit-memory "$percent") ;;
            *) percent= ;;
        esac
        [[ $percent =~ ^[0-9.]+%$ ]] && continue
        echo "compare_all.sh: $1: line \"$line\", expected tokens_per_s_worst, tokens_per_s_mean or memory_worst and" \
            "a percentage, as in tokens_per_s_worst 5%" >&2
        return 2
    done <"$1"
}

if [ -d "$folder/published" ]; then
    "$sluice" validate "$folder/published" || status=$?
    echo
fi
peers=$folder/peers-h200.json
[ ! -e "$peers" ] || compare h200-pcie5-16vcpu-128gib --limit 5% "$peers"
llmq=$folder/llmq-h200.json
[ ! -e "$llmq" ] || compare h200-pcie5-16vcpu-128gib --limit 5% "$llmq"
others=$folder/peers-h200-other-settings.json
[ ! -e "$others" ] || compare h200-pcie5-16vcpu-128gib "$others"
slower=$folder/peers-h200-3.json
[ ! -e "$slower" ] || compare h200-pcie5-16vcpu-128gib-3 "$slower"
probe=$folder/probe-h200
[ ! -d "$probe" ] || compare "$probe/profile.json" --limit 10% "$probe/steps"
fp8=$folder/fp8-h200/steps
[ ! -d "$fp8" ] || compare h200-pcie5-16vcpu-128gib-2 --limit 6% --limit-mean 3% "$fp8"
h100=$folder/h100-datasheet/steps
if [ -d "$h100" ]; then
    compare h100-sxm-pcie5 --host-memory 128GiB --set host.cores=16 host.sockets=1 --limit 19% --limit-mean 6% "$h100"
    compare h100-pcie5-16vcpu-128gib --limit 11% --limit-mean 5% "$h100"
fi
for machine in "$folder"/*/; do
    machine=${machine%/}
    groups=()
    for group in look held-out; do
        [ ! -d "$machine/$group" ] || groups+=("$machine/$group")
    done
    [ ${#groups[@]} -gt 0 ] || continue
    limits=()
    [ ! -e "$machine/limit.txt" ] || read_limits "$machine/limit.txt" || { status=2; continue; }
    compare "$(basename "$machine")" "${limits[@]}" "${groups[@]}"
    [ ! -d "$machine/elsewhere" ] || compare "$(basename "$machine")" "$machine/elsewhere"
done
exit $status

#!/usr/bin/env bash
# Trains every configuration of configurations.txt on this machine's GPU. Writes a report of each to
# OUT_FOLDER/GROUP/NAME.json, and a description of the machine to OUT_FOLDER/machine.txt.
# Skips configurations that already have a report, so that an interrupted campaign continues.
# usage: run_campaign.sh SLUICE_TRAIN TEXT OUT_FOLDER [look | held-out]
set -euo pipefail
[ $# = 3 ] || [ $# = 4 ] || { sed -n 5p "$0" >&2; exit 2; }
program=$1 text=$2 out=$3 wanted=${4:-}
list=$(dirname "${BASH_SOURCE[0]}")/configurations.txt

fail() { echo "run_campaign.sh: $*" >&2; exit 2; }
command -v "$program" >/dev/null || fail "$program is no program; give the path of sluice-train"
[ -r "$text" ] || fail "$text cannot be read; give a text file to train on"
case $wanted in '' | look | held-out) ;; *) fail "group \"$wanted\", expected look or held-out" ;; esac
# An interrupted sluice-train ends normally, with a report of fewer steps.
trap 'exit 130' INT TERM HUP

# gpu_id: distinguishes two machines of one kind. Hashed, since reports are shown to others.
gpu_id() {
    local uuids
    uuids=$(nvidia-smi --query-gpu=uuid --format=csv,noheader 2>/dev/null | sort) || return 0
    [ -z "$uuids" ] || echo "GPU id: $(sha256sum <<<"$uuids" | cut -c 1-12)"
}

machine_facts() {
    nvidia-smi --query-gpu=name,memory.total,driver_version,power.limit --format=csv,noheader \
        2>/dev/null || echo "no GPU"
    LC_ALL=C lscpu | grep -E '^(Model name|CPU\(s\)|Thread\(s\) per core|NUMA node\(s\)):' || true
    awk '/^MemTotal:/ {printf "host memory: %.0f GiB\n", $2 / 2^20}' /proc/meminfo
    gpu_id
}

# record_machine: writes the date of the first start and the machine's facts. Fails if the reports are another machine's.
# Older files have no GPU id.
record_machine() {
    local file=$out/machine.txt unknown='^$'
    if [ -e "$file" ]; then
        grep -q '^GPU id: ' "$file" || unknown='^GPU id: '
        diff <(tail -n +2 "$file") <(machine_facts | grep -v "$unknown") >&2 ||
            fail "$out holds reports of another machine (above: < there, > this one); give another folder"
        return
    fi
    mkdir -p "$out"
    { date -u +%F; machine_facts; } >"$file.partial"
    mv "$file.partial" "$file"
}

# train GROUP NAME FLAG...: random weights and real text, one token per byte. A norm of 1000 is never reached, so no
# step is redone. A report gets its name when it is complete.
train() {
    local report=$out/$1/$2.json log=$out/$1/$2.log name=$2 start=$SECONDS
    shift 2
    [[ " $* " == *" --clipping "* ]] || set -- --clipping speculative "$@"
    [ ! -s "$report" ] || return 0
    mkdir -p "$(dirname "$report")"
    if ! "$program" --plan given --data "$text" --learning-rate 1e-4 --warmup-steps 5 --max-norm 1000 "$@" \
        --report "$report.partial" >"$log" 2>&1 </dev/null; then
        echo "$name: failed; see $log" >&2
        return 1
    fi
    mv "$report.partial" "$report"
    echo "$name: $(grep '^speed' "$log" || true), $((SECONDS - start)) s in all"
    rm "$log"
}

record_machine
failed=0
while read -r group name flags; do
    case $group in '#'* | '') continue ;; esac
    [ -z "$wanted" ] || [ "$group" = "$wanted" ] || continue
    # shellcheck disable=SC2086
    train "$group" "$name" $flags || failed=$((failed + 1))
done <"$list"
[ $failed = 0 ] || { echo "$failed configurations failed" >&2; exit 1; }

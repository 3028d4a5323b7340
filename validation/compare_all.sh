#!/usr/bin/env bash
# How near are predictions to every measured step that is kept here? ./dev validate builds and calls it.
#   peers-h200.json                  other systems' steps, on a machine of the kind of the one named below
#   MACHINE/look, MACHINE/held-out   reports of sluice-train on the machine of that profile
#   MACHINE/limit.txt                how far tokens/s may be off, as 5%; none: as far as they are
# Exit status 1 if any is further off.
# usage: compare_all.sh SLUICE [FOLDER]
#   FOLDER  holds these files; that of this script if not said
set -euo pipefail

[ $# = 1 ] || [ $# = 2 ] || { sed -n 7,8p "$0" >&2; exit 2; }
sluice=$1 folder=${2:-$(dirname "${BASH_SOURCE[0]}")}
status=0

# compare MACHINE LIMIT FILE...: LIMIT may be empty. A mistake in a file (2) outweighs a large error (1).
compare() {
    local machine=$1 limit=$2 rc=0
    shift 2
    "$sluice" validate --machine "$machine" ${limit:+--limit "$limit"} "$@" || rc=$?
    [ $rc -le $status ] || status=$rc
    echo
}

peers=$folder/peers-h200.json
[ ! -e "$peers" ] || compare h200-pcie5-16vcpu-128gib 5% "$peers"
for machine in "$folder"/*/; do
    machine=${machine%/}
    groups=()
    for group in look held-out; do
        [ ! -d "$machine/$group" ] || groups+=("$machine/$group")
    done
    [ ${#groups[@]} -gt 0 ] || continue
    limit=
    [ ! -e "$machine/limit.txt" ] || limit=$(tr -d '[:space:]' <"$machine/limit.txt")
    compare "$(basename "$machine")" "$limit" "${groups[@]}"
done
exit $status

#!/usr/bin/env bash
# Runs the command of an example and compares what it prints with expected.txt.
# usage: run_example.sh [--update] PROGRAM_FOLDER EXAMPLE_FOLDER...
#   --update  write what the command prints to expected.txt instead
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then update=1; shift; fi
[ $# -ge 2 ] || { sed -n 3,4p "$0" >&2; exit 2; }
programs=$(cd "$1" && pwd)
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A copy of the folder, so that commands may write files. Standard error is shown, not compared.
run_one() {
    local example=$1 name
    name=$(basename "$example")
    cp -R "$example" "$work/$name"
    if ! (cd "$work/$name" && PATH="$programs:$PATH" LC_ALL=C.UTF-8 bash -eu -o pipefail command) \
        >"$work/actual.txt" </dev/null; then
        cat "$work/actual.txt"
        echo "$name: its command failed" >&2
        return 1
    fi
    if [ -n "$update" ]; then
        cp "$work/actual.txt" "$example/expected.txt"
    elif ! diff -u --label "$name/expected.txt" --label "printed now" \
        "$example/expected.txt" "$work/actual.txt"; then
        echo "$name: prints something else than expected.txt. If that is right: ./dev examples --update" >&2
        return 1
    fi
}

failed=0
for example in "$@"; do
    run_one "$(cd "$example" && pwd)" || failed=1
done
exit $failed

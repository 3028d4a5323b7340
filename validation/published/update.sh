#!/usr/bin/env bash
# Writes what sluice prints about the published rows to table.txt.
# usage: update.sh SLUICE
set -euo pipefail

[ $# = 1 ] || { sed -n 3p "$0" >&2; exit 2; }
folder=$(dirname "${BASH_SOURCE[0]}")
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$1" validate "$folder" >"$table"
cp "$table" "$folder/table.txt"

#!/usr/bin/env bash
# Writes the table that sluice prints now into README.md, in its block of text.
# usage: update.sh SLUICE
set -euo pipefail

[ $# = 1 ] || { sed -n 3p "$0" >&2; exit 2; }
sluice=$1 folder=$(dirname "${BASH_SOURCE[0]}")
table=$(mktemp)
trap 'rm -f "$table"' EXIT

"$sluice" validate "$folder" >"$table"
awk -v table="$table" '
    /^```text$/ { print; while ((getline line <table) > 0) print line; inside = 1; next }
    /^```$/ { inside = 0 }
    !inside { print }' "$folder/README.md" >"$folder/README.md.new"
mv "$folder/README.md.new" "$folder/README.md"

#!/usr/bin/env bash
# Makes one archive from which the trainer builds on a GPU machine where nothing can be installed:
# the sources (what git tracks or would add), and the headers and libraries that it needs from elsewhere.
# ./dev bundle calls it.
# usage: make.sh FILE.tar.gz PYTHON_ENVIRONMENT
#   PYTHON_ENVIRONMENT  has nvidia-cudnn-frontend, whose headers are taken
set -euo pipefail

[ $# = 2 ] || { sed -n 5,6p "$0" >&2; exit 2; }
fail() { echo "bundle: $*" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(dirname "$(dirname "$here")")
archive=$(realpath -m "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/sluice
include=$bundle/third_party/include

git -C "$top" rev-parse --git-dir >/dev/null 2>&1 ||
    fail "$top is no git checkout, so what belongs to sluice is unknown; run it in a clone."
mkdir -p "$bundle"
# A file deleted and not yet committed is listed as well.
(cd "$top" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar -c --null -T -) | tar -x -C "$bundle"

# copy_headers PACKAGE FROM TO NAME...: those headers and the licence they came with.
copy_headers() {
    local package=$1 from=$2 to=$3 licence
    shift 3
    mkdir -p "$to" "$bundle/third_party/licences"
    (cd "$from" 2>/dev/null && cp -RL --parents "$@" "$to") ||
        fail "no $* in $from; install it with ./dev setup engine"
    licence=/usr/share/doc/$package/copyright
    [ ! -e "$licence" ] || cp "$licence" "$bundle/third_party/licences/$package"
}
copy_headers libfmt-dev /usr/include "$include" fmt
copy_headers libcli11-dev /usr/include "$include" CLI
copy_headers nlohmann-json3-dev /usr/include "$include" nlohmann
copy_headers libxxhash-dev /usr/include "$include" xxhash.h
copy_headers libeigen3-dev /usr/include/eigen3 "$include" Eigen unsupported
# Catch2 3 is a library; without the single header of 2 the bundle is built without tests.
if [ -e /usr/include/catch2/catch.hpp ]; then
    copy_headers catch2 /usr/include "$include" catch2/catch.hpp
else
    echo "bundle: no /usr/include/catch2/catch.hpp (Catch2 2), so it will build without tests" >&2
fi

packages=$(echo "$2"/lib/python3*/site-packages)
(cd "$packages/include" 2>/dev/null && ls cudnn_frontend.h >/dev/null 2>&1) ||
    fail "no cudnn_frontend.h in $packages/include; install it with ./dev setup engine"
(cd "$packages/include" && cp -R cudnn_* "$include")
# Its nlohmann json is not used: CUDNN_FRONTEND_SKIP_JSON_LIB.
rm -rf "$include/cudnn_frontend/thirdparty"
cp "$(find "$packages"/nvidia_cudnn_frontend-*.dist-info -iname 'LICENSE*' -type f | head -n 1)" \
    "$bundle/third_party/licences/cudnn-frontend"

# SimGrid and GLPK: the headers that the simulator's sources reach, and the libraries with all that these need.
mapfile -t sources < <(grep -lrE '#include [<"](simgrid/|sim/simulate/simgrid\.h|glpk\.h)' --include='*.cpp' "$top/sim")
mapfile -t reached < <("${CXX:-g++}" -std=c++20 -I "$top" -M "${sources[@]}" | tr -s ' \\' '\n' | sort -u |
    sed -nE 's#^/usr/include/((boost|simgrid|smpi|xbt)/.*|glpk\.h)$#\1#p')
[ ${#reached[@]} -gt 0 ] || fail "no headers of SimGrid and GLPK in /usr/include; install them with ./dev setup engine"
copy_headers libsimgrid-dev /usr/include "$include" "${reached[@]}" boost/config  # which asks for the compiler
libraries=$bundle/third_party/lib
mkdir -p "$libraries"
for name in libsimgrid.so libglpk.so; do
    library=$("${CXX:-g++}" -print-file-name=$name)
    needed=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
    ln -s "$needed" "$libraries/$name"
    echo "$(realpath "$(dirname "$library")")/$needed"
    ldd "$library" | awk '$2 == "=>" && $1 !~ /^lib(c|m|stdc\+\+|gcc_s)\.so/ { print $3 }'
done | sort -u | while IFS= read -r library; do
    cp -L "$library" "$libraries/"
    # The path in the package may be that before /lib became a link to /usr/lib.
    package=$({ dpkg -S "$library" "/usr$library" 2>/dev/null || true; } | head -n 1 | cut -d : -f 1)
    [ ! -e "/usr/share/doc/$package/copyright" ] ||
        cp "/usr/share/doc/$package/copyright" "$bundle/third_party/licences/$package"
done

cp "$here/BUNDLE.md" "$bundle/BUNDLE.md"
mkdir -p "$(dirname "$archive")"
# Whole or not at all, as everything that may be copied away while it is made.
tar -C "$work" --sort=name --owner=0 --group=0 -czf "$archive.incomplete" sluice
mv "$archive.incomplete" "$archive"
echo "$archive: $(du -k "$archive" | cut -f 1) KB, $(tar -tzf "$archive" | grep -vc '/$') files;" \
    "how to build it is in its sluice/BUNDLE.md"

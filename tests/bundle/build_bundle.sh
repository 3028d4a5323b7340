#!/usr/bin/env bash
# Makes the bundle, builds one of its test programs and the planner as BUNDLE.md says and runs them, on
# a system that seems to have Catch2 3 and another SimGrid: stand-ins come before the system's headers
# and packages and stop who takes them.
# usage: build_bundle.sh SOURCES PYTHON_ENVIRONMENT [CMAKE_OPTION...]
set -euo pipefail

sources=$1 environment=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$sources/cmake/bundle/make.sh" "$work/bundle.tar.gz" "$environment"
tar -xzf "$work/bundle.tar.gz" -C "$work"

system=$work/system
mkdir -p "$system/include/catch2" "$system/include/simgrid" "$system/include/boost" "$system/lib/cmake/Catch2"
echo '#error "This is Catch2 3 of the system, not Catch2 2 of the bundle."' \
    >"$system/include/catch2/catch_all.hpp"
for header in simgrid/s4u.hpp boost/intrusive_ptr.hpp glpk.h; do
    echo '#error "This is of the system, not of the bundle."' >"$system/include/$header"
done
echo 'message(FATAL_ERROR "This is Catch2 3 of the system, not Catch2 2 of the bundle.")' \
    >"$system/lib/cmake/Catch2/Catch2Config.cmake"
export CPLUS_INCLUDE_PATH=$system/include CMAKE_PREFIX_PATH=$system

cd "$work/sluice"
# Tests run where there is no GPU, too; the page has this option for that.
# -O0: what is built matters, not how fast it is.
cmake --preset gpu -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CUDA_ARCHITECTURES=90 "$@"
cmake --build --preset gpu --target sluice_kernels_tests sluice_predict
ctest --preset gpu --tests-regex '^engine\.kernels$'
# The planner, which is also in the trainer.
planner=build/gpu/bin/predict/sluice
"$planner" predict --model qwen2.5-7b --machine h200-sxm-pcie5 --batch 8 | grep -E '^(chosen|speed)'
for library in simgrid ns3-core glpk gmp; do
    ldd "$planner" | grep "lib$library.*$work/sluice/third_party/lib"
done

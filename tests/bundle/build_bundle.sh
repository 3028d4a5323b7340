#!/usr/bin/env bash
# Makes the bundle, builds one of its test programs as BUNDLE.md says and runs it, on a system that
# seems to have Catch2 3 and no SimGrid: stand-ins come before the system's headers and packages and
# stop who takes them.
# usage: build_bundle.sh SOURCES PYTHON_ENVIRONMENT PLANNER [CMAKE_OPTION...]
set -euo pipefail

sources=$1 environment=$2 planner=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$sources/cmake/bundle/make.sh" "$work/bundle.tar.gz" "$environment" "$planner"
tar -xzf "$work/bundle.tar.gz" -C "$work"

system=$work/system
mkdir -p "$system/include/catch2" "$system/include/simgrid" "$system/lib/cmake/Catch2"
echo '#error "This is Catch2 3 of the system, not Catch2 2 of the bundle."' \
    >"$system/include/catch2/catch_all.hpp"
echo '#error "SimGrid is not there."' >"$system/include/simgrid/s4u.hpp"
echo 'message(FATAL_ERROR "This is Catch2 3 of the system, not Catch2 2 of the bundle.")' \
    >"$system/lib/cmake/Catch2/Catch2Config.cmake"
export CPLUS_INCLUDE_PATH=$system/include CMAKE_PREFIX_PATH=$system

cd "$work/sluice"
# Tests run where there is no GPU, too; the page has this option for that.
# -O0: what is built matters, not how fast it is.
cmake --preset gpu -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_DISABLE_FIND_PACKAGE_SimGrid=ON "$@"
cmake --build --preset gpu --target sluice_kernels_tests
ctest --preset gpu --tests-regex '^engine\.kernels$'
# The planner that the trainer asks, beside it.
build/gpu/bin/predict/sluice predict --model qwen2.5-7b --machine h200-sxm-pcie5 --batch 8 | grep -E '^(chosen|speed)'
LD_LIBRARY_PATH=build/gpu/bin/predict/lib ldd build/gpu/bin/predict/planner | grep 'simgrid.*build/gpu/bin/predict/lib'

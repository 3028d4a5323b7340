# libtorch for the CPU, as the target sluice::torch; what needs it asks if(TARGET sluice::torch).
# torch's own CMake package is not used: that of a CUDA build wants a CUDA toolkit, and it links
# libtorch_cuda.so. Measured: a program doing one at::mm starts and ends in 0.27 s at 129 MB
# resident with the two libraries below, in 0.38 s at 365 MB with all.
include_guard()
include(SluicePython)

set(SLUICE_TORCH AUTO CACHE STRING
    "Build what needs libtorch: ON, OFF, or AUTO for where it is found")
set_property(CACHE SLUICE_TORCH PROPERTY STRINGS AUTO ON OFF)

if(NOT SLUICE_TORCH)
    return()
endif()

sluice_find_python()
if(NOT sluice_python)
    sluice_missing(SLUICE_TORCH "no Python with torch found; install it with ./dev setup engine or \
name one with -DSLUICE_PYTHON=<path>")
    return()
endif()
# Older ones were partly built for the C++ ABI from before C++11.
if(sluice_torch_version VERSION_LESS 2.11)
    sluice_missing(SLUICE_TORCH "torch of ${sluice_python} is ${sluice_torch_version}, expected \
2.11 or newer; name another Python with -DSLUICE_PYTHON=<path>")
    return()
endif()

# Its headers without the fmt among them, which is another version than all else uses.
set(sluice_torch_include "${PROJECT_BINARY_DIR}/torch-include")
file(GLOB headers RELATIVE "${sluice_torch_dir}/include" "${sluice_torch_dir}/include/*")
list(REMOVE_ITEM headers fmt)
file(MAKE_DIRECTORY "${sluice_torch_include}")
foreach(name IN LISTS headers)
    file(CREATE_LINK "${sluice_torch_dir}/include/${name}" "${sluice_torch_include}/${name}"
         SYMBOLIC)
endforeach()

add_library(sluice::c10 SHARED IMPORTED)
set_target_properties(sluice::c10 PROPERTIES
    IMPORTED_LOCATION "${sluice_torch_dir}/lib/libc10.so"
    INTERFACE_INCLUDE_DIRECTORIES
        "${sluice_torch_include};${sluice_torch_include}/torch/csrc/api/include")
add_library(sluice::torch SHARED IMPORTED)
set_target_properties(sluice::torch PROPERTIES
    IMPORTED_LOCATION "${sluice_torch_dir}/lib/libtorch_cpu.so"
    INTERFACE_LINK_LIBRARIES sluice::c10)
# The libraries of a torch for CUDA, as sluice::torch_cuda: for one of ours that is loaded on demand.
if(EXISTS "${sluice_torch_dir}/lib/libtorch_cuda.so")
    add_library(sluice::c10_cuda SHARED IMPORTED)
    set_target_properties(sluice::c10_cuda PROPERTIES
        IMPORTED_LOCATION "${sluice_torch_dir}/lib/libc10_cuda.so")
    add_library(sluice::torch_cuda SHARED IMPORTED)
    set_target_properties(sluice::torch_cuda PROPERTIES
        IMPORTED_LOCATION "${sluice_torch_dir}/lib/libtorch_cuda.so"
        INTERFACE_LINK_LIBRARIES "sluice::c10_cuda;sluice::torch")
endif()
message(STATUS "libtorch ${sluice_torch_version}: ${sluice_torch_dir}")

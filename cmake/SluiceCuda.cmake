# The CUDA compiler and NVIDIA's libraries; what needs them asks if(TARGET sluice::cudart).
#   sluice::cudart          CUDA runtime, static: programs start where there is no GPU driver
#   sluice::cublas          cuBLAS and cuBLASLt
#   sluice::cudnn_frontend  cuDNN 9 with its C++ headers; they compile slowly: few files, no .cu
# Shared libraries are found at run time by the RPATH that CMake writes for their folders.
include_guard()
include(SluicePython)

set(SLUICE_CUDA AUTO CACHE STRING
    "Build what needs CUDA: ON, OFF, or AUTO for where a compiler and the libraries are found")
set_property(CACHE SLUICE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(SLUICE_CUDNN_FRONTEND_INCLUDE "" CACHE PATH
    "Folder of cudnn_frontend.h; if empty, include/ of SLUICE_DEPENDENCIES, then beside torch")
if(NOT SLUICE_CUDA)
    return()
endif()
sluice_find_python()

# sluice_find_nvcc(): sets sluice_nvcc in the caller, empty if there is none. Only CUDA 13, as are
# the libraries beside torch 2.11.
function(sluice_find_nvcc)
    find_program(on_path nvcc NO_CACHE NO_CMAKE_PATH NO_CMAKE_SYSTEM_PATH)
    if(NOT on_path)
        set(on_path "")
    endif()
    set(packages ${sluice_site_packages})
    list(TRANSFORM packages APPEND "/nvidia/cu13/bin/nvcc")
    # The first: a build folder keeps the compiler it has.
    foreach(nvcc "${CMAKE_CUDA_COMPILER}" "$ENV{CUDACXX}" "${on_path}" /usr/local/cuda/bin/nvcc
                 ${packages})
        if(EXISTS "${nvcc}" AND NOT IS_DIRECTORY "${nvcc}")
            execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE version ERROR_QUIET)
            if(version MATCHES "release 13\\.")
                set(sluice_nvcc "${nvcc}" PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
    set(sluice_nvcc "" PARENT_SCOPE)
endfunction()

# sluice_find_nvidia(<name> <header> <library>...): sets <name>_include and <name>_libraries in the
# caller from the first of sluice_nvidia_folders that has all of it, since headers fit the libraries
# they came with. Where none has, appends <name> to sluice_lacking.
function(sluice_find_nvidia name header)
    foreach(folder IN LISTS sluice_nvidia_folders)
        unset(libraries)
        foreach(library IN LISTS ARGN)
            find_library(path NAMES "${library}" HINTS "${folder}/lib64" "${folder}/lib"
                         NO_CACHE NO_DEFAULT_PATH)
            list(APPEND libraries "${path}")
            unset(path)
        endforeach()
        if(EXISTS "${folder}/include/${header}" AND NOT "${libraries}" MATCHES "NOTFOUND")
            set(${name}_include "${folder}/include" PARENT_SCOPE)
            set(${name}_libraries "${libraries}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    set(sluice_lacking ${sluice_lacking} ${name} PARENT_SCOPE)
endfunction()

sluice_find_nvcc()
if(NOT sluice_nvcc)
    sluice_missing(SLUICE_CUDA "no nvcc of CUDA 13 found; install it with ./dev setup engine or \
name one with CUDACXX=<path>")
    return()
endif()
file(REAL_PATH "${sluice_nvcc}" sluice_cuda_folder)
cmake_path(GET sluice_cuda_folder PARENT_PATH sluice_cuda_folder)
cmake_path(GET sluice_cuda_folder PARENT_PATH sluice_cuda_folder)

set(sluice_lacking)
set(sluice_nvidia_folders "${sluice_cuda_folder}")
foreach(packages IN LISTS sluice_site_packages)
    list(APPEND sluice_nvidia_folders "${packages}/nvidia/cu13" "${packages}/nvidia/cudnn")
endforeach()
list(APPEND sluice_nvidia_folders /usr/local /usr)
sluice_find_nvidia(cublas cublasLt.h libcublas.so.13 libcublasLt.so.13)
sluice_find_nvidia(cudnn cudnn.h libcudnn.so.9)
# The compiler's own, and no other: code it compiles calls into exactly this version.
set(sluice_nvidia_folders "${sluice_cuda_folder}")
sluice_find_nvidia(cudart cuda_runtime_api.h libcudart_static.a)
find_path(cudnn_frontend_include cudnn_frontend.h NO_CACHE NO_DEFAULT_PATH
          HINTS "${SLUICE_CUDNN_FRONTEND_INCLUDE}" "${SLUICE_DEPENDENCIES}/include"
                ${sluice_site_packages}
          PATH_SUFFIXES include)
if(NOT cudnn_frontend_include)
    list(APPEND sluice_lacking "cudnn_frontend.h")
endif()
if(sluice_lacking)
    list(JOIN sluice_lacking ", " sluice_lacking)
    sluice_missing(SLUICE_CUDA "${sluice_nvcc} has no ${sluice_lacking} beside it, nor has Python \
\"${sluice_python}\"; install them with ./dev setup engine")
    return()
endif()

# sluice_add_nvidia(<name> <include folder> <library or target>...): the target sluice::<name>.
function(sluice_add_nvidia name include)
    add_library(sluice::${name} INTERFACE IMPORTED)
    target_include_directories(sluice::${name} INTERFACE "${include}")
    target_link_libraries(sluice::${name} INTERFACE ${ARGN})
    message(STATUS "${name}: ${ARGN}")
endfunction()

sluice_add_nvidia(cudart "${cudart_include}" "${cudart_libraries}" Threads::Threads dl rt)
sluice_add_nvidia(cublas "${cublas_include}" ${cublas_libraries} sluice::cudart)
sluice_add_nvidia(cudnn_frontend "${cudnn_frontend_include}" ${cudnn_libraries} sluice::cudart)
target_include_directories(sluice::cudnn_frontend INTERFACE "${cudnn_include}")
# It would bring its own copy of nlohmann json, to write graphs to files.
target_compile_definitions(sluice::cudnn_frontend INTERFACE CUDNN_FRONTEND_SKIP_JSON_LIB)

# A100, H100 and H200, B200; and compute_100 code for later GPUs.
if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;100" CACHE STRING "GPUs to build for")
endif()
set(CMAKE_CUDA_COMPILER "${sluice_nvcc}")
if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE}")
endif()
# nvcc from a Python package looks for its libraries in lib64/, where they are not.
get_filename_component(sluice_cudart_folder "${cudart_libraries}" DIRECTORY)
string(APPEND CMAKE_CUDA_FLAGS_INIT " -L${sluice_cudart_folder}")
enable_language(CUDA)

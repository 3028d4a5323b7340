# How every target of sluice is compiled, and the helpers that folders use to add theirs.
include_guard()
include(EmbedFiles)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

find_program(CCACHE ccache DOC "Makes repeated builds quick; used when found")
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without these it keeps nothing that was compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
endif()

# The files of a folder are compiled as one and read their headers once: 95 s of processor time
# instead of 478 for the program of a first prediction. Precompiled headers would only cost then.
set(CMAKE_UNITY_BUILD ${SLUICE_QUICK_BUILD})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ${SLUICE_QUICK_BUILD})

# Colour although ninja, not the terminal, receives the output.
set(CMAKE_COLOR_DIAGNOSTICS ON)

add_library(sluice_options INTERFACE)
target_compile_features(sluice_options INTERFACE cxx_std_20)
# CMake 3.25 knows C++ for nvcc up to 17.
target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
# Includes read from the root: #include "sim/specs/model/model_spec.h".
target_include_directories(sluice_options INTERFACE "${PROJECT_SOURCE_DIR}")

# sluice_host_options(<option>...): for all C++, the host half of .cu files included.
function(sluice_host_options)
    target_compile_options(sluice_options INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=$<JOIN:${ARGN},$<COMMA>>>")
endfunction()
sluice_host_options(
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
    # The same digits on every processor: expected outputs are compared exactly.
    -ffp-contract=off)
# nvcc translates a .cu file to C++ that is not pedantic.
target_compile_options(sluice_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic>)
# Newer compilers than those tried warn about more; that must keep nobody from a prediction.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19))
    sluice_host_options(-Werror)
    target_compile_options(sluice_options INTERFACE
        $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    sluice_host_options(
        # These follow the optimizer and are wrong at times: shown, but no reason to stop.
        -Wno-error=array-bounds -Wno-error=maybe-uninitialized
        -Wno-error=stringop-overflow -Wno-error=stringop-overread)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # Warns about "text" + std::string at -O2 (GCC bug 105651).
        sluice_host_options(-Wno-restrict)
    endif()
endif()

if(SLUICE_SANITIZERS)
    set(flags -fsanitize=${SLUICE_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(sluice_options INTERFACE ${flags})
    target_link_options(sluice_options INTERFACE ${flags})
endif()
if(SLUICE_FUZZ)
    # Coverage counters everywhere; only the fuzz target itself gets libFuzzer's main.
    target_compile_options(sluice_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# sluice_add_library(<name>): a static library; add sources with target_sources(<name> PRIVATE ...).
function(sluice_add_library name)
    add_library(${name} STATIC)
    target_link_libraries(${name} PUBLIC sluice_options)
endfunction()

# sluice_compile_quickly(<target> [<level>]): for what takes no time to run. -O1 takes a quarter less
# than -O2; -O0 half, for what only calls others.
function(sluice_compile_quickly target)
    set(level -O1 ${ARGN})
    list(GET level -1 level)
    if(SLUICE_QUICK_BUILD AND CMAKE_CXX_FLAGS_RELEASE MATCHES "-O2")
        target_compile_options(${target} PRIVATE ${level})
    endif()
endfunction()

# sluice_sources(<target> <file>...): with CMAKE_UNITY_BUILD, those of a folder are compiled as one.
function(sluice_sources target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    target_sources(${target} PRIVATE ${ARGN})
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                   OUTPUT_VARIABLE folder)
        cmake_path(GET folder PARENT_PATH folder)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
        string(REPLACE "/" "_" group "${folder}")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endforeach()
endfunction()

# sluice_folder_sources(<target> <folder>...): all C++ files of these folders, not of those below them.
function(sluice_folder_sources target)
    list(TRANSFORM ARGN REPLACE "(.+)" "\\1/*.cpp" OUTPUT_VARIABLE patterns)
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    sluice_sources(${target} ${sources})
endfunction()

# sluice_add_executable(<name>): a program at build/<preset>/bin/<name>, found by ./dev run <name>.
function(sluice_add_executable name)
    add_executable(${name})
    target_link_libraries(${name} PRIVATE sluice_options)
endfunction()

# Where fmt, nlohmann json, CLI11, Eigen, xxHash, Catch2, SimGrid and GLPK come from: the system, or one folder of
# headers and libraries that travels with the sources to machines on which nothing can be installed (./dev bundle
# makes it).
include_guard()

set(default_dependencies "")
if(EXISTS "${PROJECT_SOURCE_DIR}/third_party/include")
    set(default_dependencies "${PROJECT_SOURCE_DIR}/third_party")
endif()
set(SLUICE_DEPENDENCIES "${default_dependencies}" CACHE PATH
    "Folder whose include/ holds fmt, nlohmann json, CLI11, Eigen, xxHash, Catch2 2; if empty, the system's")

if(NOT SLUICE_DEPENDENCIES)
    if(SLUICE_STATIC)
        find_path(SLUICE_FMT fmt/format-inl.h REQUIRED)  # Debian has fmt as a shared library only
        add_library(fmt::fmt INTERFACE IMPORTED)
        target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
    else()
        find_package(fmt REQUIRED)        # all text: GCC 12 has no <format>
    endif()
    find_package(nlohmann_json REQUIRED)  # machines, models, training specs and reports
    find_package(CLI11 REQUIRED)          # command line of the programs
    if(SLUICE_ENGINE)
        find_package(Eigen3 REQUIRED NO_MODULE)  # fits of the calibration
        find_path(SLUICE_XXHASH xxhash.h REQUIRED)  # checksums of the trainer's files
        add_library(sluice::xxhash INTERFACE IMPORTED)
        target_include_directories(sluice::xxhash INTERFACE "${SLUICE_XXHASH}")
    endif()
    if(SLUICE_TESTS)
        find_package(Catch2 REQUIRED)     # unit tests; v2 on Debian 12, v3 on Ubuntu 24.04
    endif()
    return()
endif()

# sluice_add_headers(<target> <header>): the folder's include/, as a target of the name that
# find_package() would give it.
function(sluice_add_headers target header)
    if(NOT EXISTS "${SLUICE_DEPENDENCIES}/include/${header}")
        message(FATAL_ERROR "SLUICE_DEPENDENCIES: no ${header} in ${SLUICE_DEPENDENCIES}/include; "
                            "make that folder with ./dev bundle or leave the option empty")
    endif()
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} INTERFACE "${SLUICE_DEPENDENCIES}/include")
endfunction()

# SimGrid and GLPK are found in it, and what they need beside them: unlike RUNPATH, RPATH holds for libraries'
# libraries, too.
list(PREPEND CMAKE_PREFIX_PATH "${SLUICE_DEPENDENCIES}")
add_link_options("LINKER:-rpath-link,${SLUICE_DEPENDENCIES}/lib" "LINKER:--disable-new-dtags")

sluice_add_headers(fmt::fmt fmt/format-inl.h)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
sluice_add_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp)
sluice_add_headers(CLI11::CLI11 CLI/CLI.hpp)
if(SLUICE_ENGINE)
    sluice_add_headers(Eigen3::Eigen Eigen/Core)
    sluice_add_headers(sluice::xxhash xxhash.h)
    # A find_package(Eigen3) is answered by the target above.
    file(WRITE "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/eigen3-config.cmake" "")
endif()
if(SLUICE_TESTS AND NOT EXISTS "${SLUICE_DEPENDENCIES}/include/catch2/catch.hpp")
    message(STATUS "SLUICE_TESTS: off, no catch2/catch.hpp in ${SLUICE_DEPENDENCIES}/include; it is "
                   "there where ./dev bundle was run with Catch2 2, as on Debian 12")
    set(SLUICE_TESTS OFF)
endif()
if(SLUICE_TESTS)
    sluice_add_headers(sluice::catch2 catch2/catch.hpp)
    set(Catch2_VERSION 2)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/catch_main.cpp"
         CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    add_library(sluice_catch_main STATIC "${PROJECT_BINARY_DIR}/catch_main.cpp")
    target_link_libraries(sluice_catch_main PUBLIC sluice::catch2)
    add_library(Catch2::Catch2WithMain ALIAS sluice_catch_main)
endif()

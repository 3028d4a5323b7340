# Finds SimGrid, whose packages bring no CMake configuration; makes the target SimGrid::SimGrid.
# An own build is found with -DSimGrid_ROOT=<prefix>.
find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp)
find_library(SimGrid_LIBRARY simgrid)
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY)

if(SimGrid_INCLUDE_DIR)
    file(STRINGS "${SimGrid_INCLUDE_DIR}/simgrid/version.h" version_lines
         REGEX "^#define SIMGRID_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
    string(REGEX REPLACE "[^0-9;]" "" version_numbers "${version_lines}")
    list(JOIN version_numbers "." SimGrid_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
    REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR
    VERSION_VAR SimGrid_VERSION)

if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
    add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
    set_target_properties(SimGrid::SimGrid PROPERTIES
        IMPORTED_LOCATION "${SimGrid_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE_DIR}")  # system headers, as all imported
endif()

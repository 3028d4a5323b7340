# Can the planner be built? Without it the trainer still runs plans, so where only the trainer needs it (predict), a
# machine without its libraries turns it off; libraries that came with the sources may be for other machines.
include_guard()

set_property(CACHE SLUICE_PLANNER PROPERTY STRINGS ON predict OFF)
if(NOT SLUICE_PLANNER MATCHES "^(ON|predict|OFF)$")
    message(FATAL_ERROR "SLUICE_PLANNER: is \"${SLUICE_PLANNER}\", expected ON, predict or OFF")
endif()
if(NOT SLUICE_PLANNER)
    return()
endif()

set(required REQUIRED)
if(SLUICE_PLANNER STREQUAL "predict")
    set(required)
endif()
find_package(SimGrid ${required})  # shares links and memory between operations, in virtual time
find_package(GLPK ${required})     # linear programs: which mixture of homes is fastest
if(required)
    return()
endif()

unset(planner_links CACHE)  # asked anew each time
if(SimGrid_FOUND AND GLPK_FOUND)
    get_directory_property(link_options LINK_OPTIONS)
    try_compile(planner_links
        SOURCE_FROM_CONTENT planner.cpp "#include <glpk.h>
#include <simgrid/s4u.hpp>
int main() { return glp_version() && simgrid::s4u::Engine::is_initialized() ? 0 : 1; }
"
        LINK_LIBRARIES SimGrid::SimGrid GLPK::GLPK
        LINK_OPTIONS ${link_options}
        CXX_STANDARD 20
        CXX_STANDARD_REQUIRED ON
        OUTPUT_VARIABLE output)
    message(VERBOSE "${output}")
endif()
if(NOT planner_links)
    message(WARNING "SLUICE_PLANNER: off, since SimGrid and GLPK are not there or do not link here "
                    "(cmake --log-level=VERBOSE says why); the trainer is built without the planner")
    set(SLUICE_PLANNER OFF)
endif()

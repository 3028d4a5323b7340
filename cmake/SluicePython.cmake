# Which Python holds torch, and where the packages beside it are. NVIDIA's libraries, the CUDA
# compiler and the headers of cuDNN's frontend come as packages of the same Python.
include_guard()

set(SLUICE_PYTHON "" CACHE FILEPATH
    "Python that holds torch; if empty, that of ./dev setup engine, else python3 on the PATH")

# sluice_find_python(): sets, in the caller,
#   sluice_python         that interpreter; empty if none holds torch
#   sluice_site_packages  its packages, a list: an environment may see those of the system as well
#   sluice_torch_dir      the folder torch/ in one of them
#   sluice_torch_version  e.g. 2.11.0
# torch is looked up, not imported: 0.05 s instead of 2.
function(sluice_find_python)
    if(SLUICE_PYTHON)
        set(candidates "${SLUICE_PYTHON}")
    else()
        set(cache "$ENV{XDG_CACHE_HOME}")
        if(NOT cache)
            set(cache "$ENV{HOME}/.cache")
        endif()
        find_program(on_path python3 NO_CACHE NO_CMAKE_PATH NO_CMAKE_SYSTEM_PATH)
        set(candidates "${cache}/sluice/python-torch-2.11.0/bin/python" ${on_path})
    endif()
    set(script [[
import importlib.metadata, importlib.util, os, sys
torch = importlib.util.find_spec("torch")
folders = [p for p in sys.path if os.path.isdir(os.path.join(p, "nvidia")) or
           torch and os.path.dirname(torch.submodule_search_locations[0]) == p]
if torch: print(torch.submodule_search_locations[0], importlib.metadata.version("torch"), *folders,
                sep=";", end="")
]])
    foreach(candidate IN LISTS candidates)
        if(NOT EXISTS "${candidate}")
            continue()
        endif()
        # In / since Python also looks where it is started.
        execute_process(COMMAND "${candidate}" -c "${script}" WORKING_DIRECTORY /
                        OUTPUT_VARIABLE found RESULT_VARIABLE status ERROR_QUIET)
        if(status EQUAL 0 AND found)
            list(POP_FRONT found torch_dir torch_version)
            set(sluice_python "${candidate}" PARENT_SCOPE)
            set(sluice_site_packages "${found}" PARENT_SCOPE)
            set(sluice_torch_dir "${torch_dir}" PARENT_SCOPE)
            set(sluice_torch_version "${torch_version}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    set(sluice_python "" PARENT_SCOPE)
    set(sluice_site_packages "" PARENT_SCOPE)
    set(sluice_torch_dir "" PARENT_SCOPE)
    set(sluice_torch_version "" PARENT_SCOPE)
endfunction()

# sluice_missing(<option> <text>): what to do where something that <option> (AUTO, ON) asks for is
# not there: AUTO goes on without it, ON stops.
function(sluice_missing option text)
    if(${option} STREQUAL "AUTO")
        message(STATUS "${option}: off, ${text}")
    else()
        message(FATAL_ERROR "${option}: ${text}")
    endif()
endfunction()

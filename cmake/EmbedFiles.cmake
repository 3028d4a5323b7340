# How data files become part of the program, so that it runs from anywhere without an install step.
include_guard()
set(SLUICE_WRITE_EMBEDDED_FILES "${CMAKE_CURRENT_LIST_DIR}/write_embedded_files.cmake")

# sluice_embed_files(<target> NAME <function> FILES <file>...)
# Adds to <target> the definition of std::span<const EmbeddedFile> sluice::<function>(), which
# sim/base/embedded_files.h declares. Written again whenever a file changes, appears or goes; for the
# last two, glob the files with CONFIGURE_DEPENDS.
function(sluice_embed_files target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "FILES")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.cpp")
    set(files)
    foreach(file IN LISTS arg_FILES)
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
        list(APPEND files "${file}")
    endforeach()
    add_custom_command(
        OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFUNCTION=${arg_NAME}" "-DFILES=${files}"
                -P "${SLUICE_WRITE_EMBEDDED_FILES}"
        DEPENDS ${files} "${SLUICE_WRITE_EMBEDDED_FILES}"
        COMMENT "Embedding the files of ${arg_NAME}()"
        VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()

# The build step of sluice_embed_files(): writes OUTPUT, which defines FUNCTION() over FILES.
set(entries "")
foreach(file IN LISTS FILES)
    cmake_path(GET file STEM LAST_ONLY name)
    file(READ "${file}" text)
    string(FIND "${text}" ")embedded\"" end_mark)
    if(NOT end_mark EQUAL -1)
        message(FATAL_ERROR "${file}: contains )embedded\", which ends a raw string. Remove it.")
    endif()
    # sv: the compiler knows the length and need not count it.
    string(APPEND entries "    {\"${name}\"sv, R\"embedded(${text})embedded\"sv},\n")
endforeach()

if(entries STREQUAL "")
    set(body "std::span<const EmbeddedFile> ${FUNCTION}() { return {}; }")
else()
    set(body "constexpr EmbeddedFile k_files[] = {\n${entries}};

std::span<const EmbeddedFile> ${FUNCTION}() { return k_files; }")
endif()

file(WRITE "${OUTPUT}" "// Written by cmake/write_embedded_files.cmake; edit the embedded files instead.
#include \"sim/base/embedded_files.h\"

// GCC and clang take strings of any length; clang mentions those above 64 KiB.
#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace sluice {
using namespace std::literals;

${body}

}  // namespace sluice
")

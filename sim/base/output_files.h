// May a program write the files that its command line names?
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A flag that names a file to write, and what it was given.
struct OutputFlag {
    std::string flag;
    std::optional<std::string> file;
    bool appends = false;  ///< to a file that exists, which is never replaced
};

/// To be called before any work. Throws InputError if a name is empty, is given twice, is a folder,
/// cannot be written, ends as a picture that is no SVG, or is one of `inputs`, whose bytes would be
/// lost: a path, a path with
/// `:SOMETHING` after it, or a folder whose files are read. Names that are no path are passed over.
void check_output_files(const std::vector<OutputFlag>& outputs,
                        const std::vector<std::string>& inputs);

}  // namespace sluice

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/answers/validate/measured_run.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExpected =
    "expected a report of sluice-train --report (it has step_s and training) or a table of other "
    "systems' rows";

/// Whether the file was of a kind that is known. `done` are the files read before.
bool read_file(const std::string& path, const std::optional<std::string>& model,
               std::set<fs::path>& done, MeasuredRuns& out) {
    std::error_code error;
    const fs::path file = fs::weakly_canonical(path, error);
    if (!error && !done.insert(file).second) {
        out.left_out.push_back(fmt::format("{}: given twice: counted once", path));
        return true;
    }
    const std::string text = read_text_file(path);
    const JsonObject root = JsonObject::parse(text, path);
    if (root.has("rows")) {
        read_system_rows(root, out);
    } else if (root.has("training") || root.has("measured")) {
        out.runs.push_back(read_run_report(root, text, model));
    } else {
        return false;
    }
    return true;
}

/// All *.json below the folder, sorted.
std::vector<std::string> json_files(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() == ".json" && at->is_regular_file(ignored))
            files.push_back(at->path().string());
    }
    if (error)
        throw InputError(
            fmt::format("{}: the folder cannot be read; check its permissions", folder));
    std::sort(files.begin(), files.end());
    return files;
}

/// Traces often lie beside reports: in a folder, other files are no mistake.
void read_folder(const std::string& folder, const std::optional<std::string>& model,
                 std::set<fs::path>& done, MeasuredRuns& out) {
    bool any = false;
    for (const std::string& file : json_files(folder)) {
        if (read_file(file, model, done, out))
            any = true;
        else
            out.left_out.push_back(fmt::format("{}: no report: left out", file));
    }
    if (!any)
        throw InputError(
            fmt::format("{}: the folder holds no measured run; {}", folder, kExpected));
}

}  // namespace

MeasuredRuns read_measured_runs(const std::vector<std::string>& paths,
                                const std::optional<std::string>& model) {
    MeasuredRuns out;
    std::set<fs::path> done;
    for (const std::string& path : paths) {
        std::error_code error;
        if (fs::is_directory(path, error))
            read_folder(path, model, done, out);
        else if (!read_file(path, model, done, out))
            throw InputError(fmt::format("{}: holds no measured run; {}", path, kExpected));
    }
    if (out.runs.empty())
        throw InputError(fmt::format("{}: no run is left to compare ({})", fmt::join(paths, ", "),
                                     fmt::join(out.left_out, "; ")));
    return out;
}

}  // namespace sluice

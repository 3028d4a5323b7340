#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "engine/data/files.h"
#include "engine/train/output_lock.h"
#include "engine/train/training_checkpoint.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/write_file.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kPartial = ".partial";
constexpr std::string_view kReplaced =
    ".old.partial";  // renamed to this while another folder takes its name
constexpr const char* kLatest = "latest";

[[noreturn]] void fail(const std::string& path, const char* what, const std::error_code& error) {
    throw InputError(
        fmt::format("{}: cannot be {} ({}); check the permissions or choose another --out", path,
                    what, error.message()));
}

/// The step in a checkpoint's name; empty for other names.
std::optional<std::int64_t> step_of(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
    if (error != std::errc() || stop != end || name != checkpoint_name(step)) return std::nullopt;
    return step;
}

/// Whether this program made a folder of that name and did not finish: "step-00000030.partial".
bool is_unfinished(std::string_view name) {
    for (const std::string_view ending : {kReplaced, kPartial})
        if (name.ends_with(ending))
            return step_of(name.substr(0, name.size() - ending.size())).has_value();
    return false;
}

bool has_record(const std::string& out, std::string_view name) {
    std::error_code error;
    return fs::exists(fs::path(out) / name / kTrainingRecordFile, error);
}

bool is_whole(const std::string& out, const std::string& name) {
    return step_of(name) && has_record(out, name);
}

/// Names in `out`; empty if it does not exist.
std::vector<std::string> names_in(const std::string& out) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(out, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error && error != std::errc::no_such_file_or_directory) fail(out, "read", error);
    return names;
}

/// The folder that the file names; empty without a file.
std::string latest_in(const std::string& out) {
    std::string name;
    std::getline(std::ifstream(path_in(out, kLatest)), name);
    return name;
}

/// Renames `from` to `to`; where `to` exists, the two swap their names.
void swap_in(const std::string& from, const std::string& to) {
    std::error_code error;
    if (!fs::exists(to, error)) {
        fs::rename(from, to, error);
        if (error) fail(to, "created", error);
        return;
    }
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
    // Network file systems cannot swap. After a kill between these two, put_back_replaced() undoes
    // the first.
    const std::string aside = fmt::format("{}{}", to, kReplaced);
    fs::rename(to, aside, error);
    if (!error) fs::rename(from, to, error);
    std::error_code ignored;
    if (error) fs::rename(aside, to, ignored);
    if (error) fail(to, "replaced", error);
    fs::remove_all(aside, ignored);
}

/// Renames checkpoints back that a kill within swap_in() left renamed.
void put_back_replaced(const std::string& out) {
    for (const std::string& name : names_in(out)) {
        if (!name.ends_with(kReplaced)) continue;
        const std::string former = name.substr(0, name.size() - kReplaced.size());
        std::error_code error;
        if (!step_of(former) || !has_record(out, name) || fs::exists(path_in(out, former), error))
            continue;
        fs::rename(path_in(out, name), path_in(out, former), error);
        if (error) fail(path_in(out, name), "renamed", error);
        sync_folder(out);
    }
}

}  // namespace

std::string path_in(const std::string& folder, std::string_view name) {
    return (fs::path(folder) / name).string();
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::vector<std::int64_t> checkpoint_steps(const std::string& out) {
    std::vector<std::int64_t> steps;
    for (const std::string& name : names_in(out)) {
        if (is_whole(out, name)) steps.push_back(*step_of(name));
    }
    std::sort(steps.begin(), steps.end(), std::greater<>());
    return steps;
}

std::vector<std::string> checkpoints_without_record(const std::string& out) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const std::string& name : names_in(out))
        if (step_of(name) && !has_record(out, name) && !fs::is_empty(path_in(out, name), error))
            paths.push_back(path_in(out, name));
    std::ranges::sort(paths, std::greater<>());
    return paths;
}

void prepare_output_folder(const std::string& out) {
    create_folders(out);
    put_back_replaced(out);
    for (const std::string& name : names_in(out)) {
        if (!is_unfinished(name)) continue;
        std::error_code ignored;  // PartialFolder reports what is in its way
        fs::remove_all(path_in(out, name), ignored);
    }
}

void refuse_full_disk(const std::string& out, const std::string& what, std::int64_t needed) {
    const std::int64_t free = free_disk_bytes(out);
    if (free < 0 || free >= needed) return;
    const auto shown = [](std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
    throw DiskFull(
        fmt::format("{}: {} needs {}, but only {} of the disk are free; free {} or choose another "
                    "--out",
                    out, what, shown(needed), shown(free), shown(needed - free)));
}

void refuse_small_disk(const std::string& out, std::int64_t checkpoint_bytes, std::int64_t saves,
                       int keep) {
    if (saves == 0) return;
    const std::int64_t at_once = std::min<std::int64_t>(saves, keep + 1);
    const std::int64_t more = at_once - std::ssize(checkpoint_steps(out));
    if (more <= 1) return refuse_full_disk(out, "a checkpoint", checkpoint_bytes);
    refuse_full_disk(out,
                     fmt::format("{} checkpoints at once, of {} each (fewer with --keep 1),", more,
                                 format_bytes(static_cast<double>(checkpoint_bytes))),
                     more * checkpoint_bytes);
}

PartialFolder::PartialFolder(const std::string& out, const std::string& name)
    : out_(out), name_(name), path_(path_in(out, name + std::string(kPartial))) {
    std::error_code error;
    const bool is_new = fs::create_directory(path_, error);
    if (error) fail(path_, "created", error);
    if (is_new) return;
    throw InputError(fmt::format(
        "{}: is there already, expected no folder of that name; a killed run left it and it cannot "
        "be removed, or another run saves here: remove it or choose another --out",
        path_));
}

PartialFolder::~PartialFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void PartialFolder::commit() {
    swap_in(path_, path_in(out_, name_));
    sync_folder(out_);
}

void point_latest_at(const std::string& out, const std::string& name) {
    write_output_file(path_in(out, kLatest), name + "\n");
}

void refuse_other_best(const std::string& out) {
    const std::string path = path_in(out, kBest);
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::exists(status) && !fs::is_symlink(status))
        throw InputError(fmt::format(
            "{}: is there already, expected the link that --save-best makes or nothing; move it "
            "away or choose another --out",
            path));
    // Some file systems have no links, which the first best checkpoint should not find out.
    const std::string trial = path + std::string(kPartial);
    fs::remove(trial, error);
    fs::create_directory_symlink(checkpoint_name(0), trial, error);
    if (error)
        throw InputError(fmt::format(
            "--out {}: a link cannot be made there ({}), which --save-best needs; choose another "
            "--out, or leave --save-best out",
            out, error.message()));
    fs::remove(trial, error);
}

void refuse_other_latest(const std::string& out) {
    const std::string path = path_in(out, kLatest);
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!fs::exists(status) || (fs::is_regular_file(status) && step_of(latest_in(out)))) return;
    throw InputError(fmt::format(
        "{}: is there already, expected a file with the name of a checkpoint, as in {}, "
        "or nothing; move it away or choose another --out",
        path, checkpoint_name(1)));
}

void forget_best_after(const std::string& out, std::int64_t step) {
    const std::string path = path_in(out, kBest);
    std::error_code error;
    const std::string name = fs::read_symlink(path, error).string();
    for (const std::int64_t later : checkpoint_steps(out))
        if (later > step && name == checkpoint_name(later)) fs::remove(path, error);
}

void point_best_at(const std::string& out, const std::string& name) {
    const std::string path = path_in(out, kBest), next = path + std::string(kPartial);
    std::error_code error;
    fs::remove(next, error);  // of a killed run
    fs::create_directory_symlink(name, next, error);
    if (!error) fs::rename(next, path, error);
    if (error) fail(path, "created", error);
    sync_folder(out);
}

void remove_older_checkpoints(const std::string& out, std::int64_t step, int keep,
                              std::int64_t in_doubt) {
    std::error_code ignored;
    const std::vector<std::int64_t> steps = checkpoint_steps(out);
    const std::string best = fs::read_symlink(path_in(out, kBest), ignored).string();
    const auto good = std::ranges::find_if(steps, [&](std::int64_t s) { return s < in_doubt; });
    for (const std::int64_t older : steps) {
        if (older >= step || keep-- > 0 || (good != steps.end() && older == *good) ||
            best == checkpoint_name(older))
            continue;
        // Renamed first, since otherwise half a checkpoint would look whole after a kill.
        const std::string path = path_in(out, checkpoint_name(older));
        const std::string unnamed = path + std::string(kPartial);
        fs::rename(path, unnamed, ignored);
        sync_folder(out);
        fs::remove_all(unnamed, ignored);
    }
}

std::vector<std::string> checkpoints_by_age(const std::string& out) {
    put_back_replaced(out);
    std::vector<std::string> names;
    const std::string latest = latest_in(out);
    if (is_whole(out, latest)) names.push_back(latest);
    for (const std::int64_t step : checkpoint_steps(out))
        if (checkpoint_name(step) != latest) names.push_back(checkpoint_name(step));
    for (std::string& name : names) name = path_in(out, name);
    return names;
}

void refuse_latest(const std::string& flag, const std::string& path) {
    if (fs::path(path).filename() != kLatest) return;
    const std::string out = fs::path(path).parent_path().string();
    const std::string name = latest_in(out);
    if (is_whole(out, name))
        throw InputError(fmt::format("{} {}: is a file that names the newest checkpoint; give {}",
                                     flag, path, path_in(out, name)));
}

std::optional<std::string> newest_checkpoint(const std::string& out) {
    const std::vector<std::string> all = checkpoints_by_age(out);
    return all.empty() ? std::nullopt : std::optional(all.front());
}

}  // namespace sluice

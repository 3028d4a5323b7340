#include "engine/watch/mlflow_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char *kExperiment = "1", *kExperimentName = "sluice";
constexpr int kRunning = 1, kFinished = 3;  // mlflow.entities.RunStatus

std::int64_t milliseconds(Seconds time) { return std::llround(1e3 * time); }

/// A JSON string is one of YAML, too.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string quoted(const fs::path& path) {
    std::error_code error;
    return quoted(fs::absolute(path, error).lexically_normal().string());
}

/// Names of metrics are paths, of letters, digits, and few other characters.
std::string metric_path(std::string tag) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/";
    std::ranges::replace_if(
        tag, [&](char c) { return kAllowed.find(c) == kAllowed.npos; }, '_');
    return tag;
}

bool write_text(const fs::path& path, const std::string& text,
                std::ios::openmode mode = std::ios::trunc) {
    std::ofstream out(path, std::ios::out | mode);
    out << text;
    return static_cast<bool>(out.flush());
}

bool write_experiment(const fs::path& folder, Seconds now) {
    const fs::path meta = folder / "meta.yaml";
    std::error_code error;
    if (fs::exists(meta, error)) return true;
    return write_text(meta,
                      fmt::format("artifact_location: {0}\ncreation_time: {1}\n"
                                  "experiment_id: '{2}'\nlast_update_time: {1}\n"
                                  "lifecycle_stage: active\nname: {3}\n",
                                  quoted(folder), milliseconds(now), kExperiment, kExperimentName));
}

bool write_params(const fs::path& folder, const nlohmann::ordered_json& config) {
    bool done = true;
    for (const auto& [key, value] : config.items())
        done =
            write_text(folder / key, value.is_string() ? value.get<std::string>() : value.dump()) &&
            done;
    return done;
}

}  // namespace

std::string new_mlflow_id() {
    std::random_device chance;
    std::string id;
    while (id.size() < 32) id += fmt::format("{:08x}", chance());
    return id;
}

MlflowRun::MlflowRun(const std::string& folder, const std::string& id, std::string name,
                     const nlohmann::ordered_json& config, Seconds now)
    : path_((fs::path(folder) / "mlruns" / kExperiment / id).string()),
      id_(id),
      name_(std::move(name)),
      start_(now) {
    std::error_code error;
    for (const char* part : {"metrics", "params", "tags", "artifacts"})
        if (!error) fs::create_directories(fs::path(path_) / part, error);
    if (error || !write_experiment(fs::path(path_).parent_path(), now) ||
        !write_state(false, now) || !write_params(fs::path(path_) / "params", config))
        throw InputError(
            fmt::format("--watch {}: {} cannot be written; give another folder", folder, path_));
}

bool MlflowRun::add(std::int64_t step, Seconds now,
                    const std::vector<std::pair<std::string, double>>& scalars) {
    bool done = true;
    for (const auto& [tag, value] : scalars) {
        const fs::path file = fs::path(path_) / "metrics" / metric_path(tag);
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        const std::string line = fmt::format("{} {} {}\n", milliseconds(now), value, step);
        done = !error && write_text(file, line, std::ios::app) && done;
    }
    return done;
}

bool MlflowRun::end(Seconds now) { return write_state(true, now); }

bool MlflowRun::write_state(bool ended, Seconds now) const {
    const std::string end = ended ? std::to_string(milliseconds(now)) : "null";
    return write_text(
        fs::path(path_) / "meta.yaml",
        fmt::format("artifact_uri: {}\nend_time: {}\nentry_point_name: ''\nexperiment_id: '{}'\n"
                    "lifecycle_stage: active\nrun_id: {}\nrun_name: {}\nsource_name: ''\n"
                    "source_type: 4\nsource_version: ''\nstart_time: {}\nstatus: {}\ntags: []\n"
                    "user_id: ''\n",
                    quoted(fs::path(path_) / "artifacts"), end, kExperiment, id_, quoted(name_),
                    milliseconds(start_), ended ? kFinished : kRunning));
}

}  // namespace sluice

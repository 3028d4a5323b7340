#include "engine/data/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

Checkpoint open_index(const std::string& path) {
    const JsonObject index = JsonObject::parse(read_text_file(path), path);
    const JsonObject weight_map = index.object("weight_map");
    std::vector<SafetensorsFile> files;
    std::unordered_map<std::string, std::size_t> opened, file_of;
    for (const std::string& tensor : weight_map.keys()) {
        const std::string file = weight_map.text(tensor);
        // Shards lie beside their index; a path could lead anywhere.
        if (file.empty() || file.find('/') != std::string::npos) {
            throw InputError(
                fmt::format("{}: weight_map: {} is {}, expected the name of a file beside it; "
                            "correct the index",
                            path, in_quotes(tensor), in_quotes(file)));
        }
        const auto [found, is_new] = opened.emplace(file, files.size());
        if (is_new) files.emplace_back((fs::path(path).parent_path() / file).string());
        if (!files[found->second].has(tensor)) {
            throw InputError(
                fmt::format("{}: weight_map: {} should be in {}, which has no such tensor; "
                            "download the index and its shards again",
                            path, in_quotes(tensor), in_quotes(file)));
        }
        file_of.emplace(tensor, found->second);
    }
    if (files.empty()) {
        throw InputError(fmt::format("{}: weight_map is empty; download the index again", path));
    }
    return Checkpoint(path, std::move(files), std::move(file_of));
}

Checkpoint open_folder(const std::string& path) {
    const fs::path folder(path);
    std::error_code error;
    const std::string stem = "model";
    const std::string file = (folder / tensors_file(stem)).string();
    if (fs::exists(file, error)) return Checkpoint(SafetensorsFile(file));
    const std::string index = (folder / tensors_index(stem)).string();
    if (fs::exists(index, error)) return open_index(index);
    throw InputError(
        fmt::format("{}: holds neither {} nor {}; save or download the model as safetensors", path,
                    tensors_file(stem), tensors_index(stem)));
}

}  // namespace

std::string tensors_file(const std::string& stem) { return stem + ".safetensors"; }

std::string tensors_index(const std::string& stem) { return stem + ".safetensors.index.json"; }

Checkpoint::Checkpoint(SafetensorsFile file) : path_(file.path()) {
    for (const std::string& name : file.names()) file_of_.emplace(name, 0);
    files_.push_back(std::move(file));
}

Checkpoint::Checkpoint(std::string path, std::vector<SafetensorsFile> files,
                       std::unordered_map<std::string, std::size_t> file_of)
    : path_(std::move(path)), files_(std::move(files)), file_of_(std::move(file_of)) {}

std::vector<std::string> Checkpoint::names() const {
    std::vector<std::string> names;
    for (const auto& [name, file] : file_of_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

bool Checkpoint::has(std::string_view name) const { return file_of_.contains(std::string(name)); }

TensorView Checkpoint::tensor(std::string_view name) const {
    const auto found = file_of_.find(std::string(name));
    if (found == file_of_.end()) {
        const std::string hint = did_you_mean(name, names());
        throw InputError(fmt::format("{}: has no tensor {}{}", path_, in_quotes(name),
                                     hint.empty() ? "; give a checkpoint of this model" : hint));
    }
    return files_[found->second].tensor(name);
}

Checkpoint open_checkpoint(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return open_folder(path);
    if (path.ends_with(".json")) return open_index(path);
    return Checkpoint(SafetensorsFile(path));
}

}  // namespace sluice

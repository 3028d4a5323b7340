// Which files stand beside the weights, so that transformers loads them as the model that training
// began with?
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/specs/model/model_spec.h"

namespace sluice {

inline constexpr const char* kConfigFile = "config.json";

/// JSON as transformers 4 writes it, which 5 reads too; parse_hf_config() reads it back into the
/// same shape. A generic shape ("dense") becomes a llama. InternalError for a family that
/// layer_layout() refuses.
std::string hf_config_text(const ModelSpec& model);

/// The small files of a model's folder: tokenizer, chat template, generation settings.
struct ModelFiles {
    std::string config;                                       ///< its config.json, or empty
    std::vector<std::pair<std::string, std::string>> others;  ///< name and content
};

/// The files of a folder, or of a file's folder, that holds a config.json; else empty. Throws
/// InputError if one cannot be read.
ModelFiles read_model_files(const std::string& model);

/// The file of a tokenizer that stands there, in the same places; empty without one.
std::optional<std::string> tokenizer_file(const std::string& model);

/// The file of weights that stands there, likewise.
std::optional<std::string> weights_beside(const std::string& model);

/// hf_config_text() with the other keys of the model's own config.json, such as the ids of special
/// tokens.
std::string config_with_rest(const ModelSpec& model, const ModelFiles& files);

}  // namespace sluice

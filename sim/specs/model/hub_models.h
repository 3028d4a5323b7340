// Where on this machine is a model of the Hugging Face Hub, and which command downloads it?
#pragma once

#include <optional>
#include <string>

namespace sluice {

/// ORGANISATION/NAME, as models are named there.
bool looks_like_hub_name(const std::string& what);

/// The folder that Hugging Face's libraries download to: HF_HUB_CACHE, else the folder hub in
/// HF_HOME, which is huggingface in XDG_CACHE_HOME or ~/.cache if it is not given
/// (huggingface_hub/constants.py).
std::string hub_cache_folder();

/// The folder of the model's newest downloaded version, its branch main, if that has a config.json;
/// empty for other texts and for what exists as a file or folder here.
std::optional<std::string> downloaded_model(const std::string& name);

/// "hf download Qwen/Qwen3-8B".
std::string download_command(const std::string& name);

}  // namespace sluice

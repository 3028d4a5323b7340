#include "sim/specs/model/hub_models.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Empty where the variable is not set.
std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

/// "models--Qwen--Qwen3-8B".
std::string folder_name(const std::string& name) {
    std::string out = "models--" + name;
    return out.replace(out.find('/'), 1, "--");
}

}  // namespace

bool looks_like_hub_name(const std::string& what) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    const std::size_t slash = what.find('/');
    return slash != what.npos && slash != 0 && slash + 1 < what.size() &&
           slash == what.rfind('/') && what.find_first_not_of(kLetters) == what.npos &&
           !what.starts_with('.') && !what.starts_with('-') && !what.ends_with(".json");
}

std::string hub_cache_folder() {
    if (const std::string cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
    if (const std::string home = variable("HF_HOME"); !home.empty())
        return (fs::path(home) / "hub").string();
    const std::string caches = variable("XDG_CACHE_HOME");
    const fs::path folder =
        caches.empty() ? fs::path(variable("HOME")) / ".cache" : fs::path(caches);
    return (folder / "huggingface" / "hub").string();
}

std::optional<std::string> downloaded_model(const std::string& name) {
    std::error_code error;
    if (!looks_like_hub_name(name) || fs::exists(name, error)) return std::nullopt;
    const fs::path folder = fs::path(hub_cache_folder()) / folder_name(name);
    std::string version;
    std::getline(std::ifstream(folder / "refs" / "main"), version);
    if (version.empty() || version.find('/') != version.npos) return std::nullopt;
    const fs::path found = folder / "snapshots" / version;
    return fs::exists(found / "config.json", error) ? std::optional(found.string()) : std::nullopt;
}

std::string download_command(const std::string& name) { return "hf download " + name; }

}  // namespace sluice

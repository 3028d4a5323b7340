#include "sim/specs/model/layer_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

constexpr const char* kSliding = "sliding_attention";
constexpr const char* kFull = "full_attention";

/// One a layer; empty if the config has none.
std::vector<std::string> layer_types(const JsonObject& config) {
    if (!config.has("layer_types")) return {};
    std::vector<std::string> types = config.texts("layer_types");
    const std::int64_t total = layer_total(config);
    if (static_cast<std::int64_t>(types.size()) != total)
        throw InputError(fmt::format("{} has {} entries, expected num_hidden_layers ({})",
                                     config.where("layer_types"), types.size(), total));
    for (const std::string& type : types)
        if (type != kFull && type != kSliding)
            throw InputError(fmt::format("{} has \"{}\", expected {} or {}",
                                         config.where("layer_types"), type, kFull, kSliding));
    return types;
}

}  // namespace

std::int64_t layer_total(const JsonObject& config) {
    return config.integer("num_hidden_layers", 1, kMostLayers);
}

std::vector<bool> windowed_layers(const JsonObject& config, std::int64_t window,
                                  const std::function<bool(std::int64_t)>& has_window) {
    const std::vector<std::string> types = layer_types(config);
    if (window == 0 && std::ranges::count(types, kSliding) > 0)
        throw InputError(
            fmt::format("{} has \"{}\", but no window is set; give sliding_window (for Qwen also "
                        "use_sliding_window), or call the layers {}",
                        config.where("layer_types"), kSliding, kFull));
    std::vector<bool> out;
    for (std::int64_t i = 0; i < layer_total(config); ++i)
        out.push_back(
            window > 0 &&
            (types.empty() ? has_window(i) : types[static_cast<std::size_t>(i)] == kSliding));
    return out;
}

void append_windowed(const JsonObject& config, ModelSpec& model, LayerSpec layer,
                     std::int64_t window, const std::function<bool(std::int64_t)>& has_window) {
    for (const bool windowed : windowed_layers(config, window, has_window)) {
        layer.attention.window = windowed ? window : 0;
        append_layers(model, layer, 1);
    }
}

void refuse_other_types(const JsonObject& config, const AttentionSpec& attention) {
    LayerSpec all;
    all.attention = attention;
    for (const std::string& type : layer_types(config))
        if (type != layer_type(all))
            throw InputError(fmt::format(
                "{} has \"{}\", but all layers of this {} model have {}; correct the list",
                config.where("layer_types"), type, config.text("model_type"), layer_type(all)));
}

void append_alike(const JsonObject& config, ModelSpec& model, const LayerSpec& layer) {
    refuse_other_types(config, layer.attention);
    append_layers(model, layer, layer_total(config));
}

const char* layer_type(const LayerSpec& layer) {
    return layer.attention.window > 0 ? kSliding : kFull;
}

}  // namespace sluice

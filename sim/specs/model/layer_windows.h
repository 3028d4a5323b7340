// Which layers does a config.json have, and which of them see a window of the sequence?
#pragma once

#include <functional>

#include "sim/specs/model/model_spec.h"

namespace sluice {

class JsonObject;

std::int64_t layer_total(const JsonObject& config);

/// For each layer, whether it has the window: those of the config's own layer_types if it has
/// them, else those for whose index `has_window` is true; none if `window` is 0. Throws InputError.
std::vector<bool> windowed_layers(const JsonObject& config, std::int64_t window,
                                  const std::function<bool(std::int64_t)>& has_window);
/// Appends the layers, of which some have the window, as windowed_layers() says. Throws InputError.
void append_windowed(const JsonObject& config, ModelSpec& model, LayerSpec layer,
                     std::int64_t window, const std::function<bool(std::int64_t)>& has_window);

/// Throws InputError if layer_types differ from the one attention of all layers.
void refuse_other_types(const JsonObject& config, const AttentionSpec& attention);
/// Appends layers that all have the same attention. Throws InputError.
void append_alike(const JsonObject& config, ModelSpec& model, const LayerSpec& layer);

/// An entry of layer_types, as transformers writes it.
const char* layer_type(const LayerSpec& layer);

}  // namespace sluice

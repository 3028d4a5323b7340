// Which families does sluice know and not model, and what do their layers have?
#pragma once

#include <span>
#include <string_view>

#include "sim/base/json_object.h"

namespace sluice {

/// Layers of a config, of which `count` are of one kind; 0 of 0 if it does not say.
struct LayersOfKind {
    std::int64_t count = 0, total = 0;
};

struct OtherFamily {
    std::string_view model_type;
    const char* has;  ///< "it has gated delta nets"
    /// nullptr: in all layers, or outside of them.
    LayersOfKind (*in_layers)(const JsonObject& config) = nullptr;
};

std::span<const OtherFamily> other_families();

/// Throws InputError with the reason if the model_type is one of these.
void refuse_other_family(const JsonObject& config);
/// Throws InputError if a layer is of another kind than attention, or if the config does not list
/// them; `has` as in OtherFamily.
void refuse_other_layers(const JsonObject& config, const char* has);

}  // namespace sluice

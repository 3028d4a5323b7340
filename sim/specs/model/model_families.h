// Which families of models are read from a config.json, and what does it leave out?
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sim/specs/model/model_spec.h"

namespace sluice {

class JsonObject;

/// The names that transformers has for the feed-forward of a layer with experts, and its tensors.
struct ExpertNames {
    const char* block = "mlp";
    const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj";
};

struct ModelFamily {
    std::string_view model_type;
    /// Its language model in transformers; other classes of the type have other tensors.
    std::string_view architecture;
    /// Sets layers, widths and vocabulary of a model. Throws InputError.
    void (*read)(const JsonObject& config, ModelSpec& model);
    /// JSON: values of the config class of transformers 5.17.0, which apply where a key is absent,
    /// but not where it is null. Without sizes that a config always has: one that lacks them is
    /// broken.
    const char* defaults = "{}";
    bool has_experts = false;
    /// The property by which the trainer lacks the family at any config ("latent attention"); it
    /// follows "sluice-train has no". Empty: it trains some configs.
    const char* not_trained = "";
    ExpertNames experts = {};
};

/// In the order of display.
std::span<const ModelFamily> model_families();
/// nullptr if there is none.
const ModelFamily* family_of_type(std::string_view model_type);
const ModelFamily* family_of_class(std::string_view architecture);

/// Models of images and text, whose decoder has the config `text_config` and a type of its own.
struct DecoderInside {
    std::string_view model_type, architecture;
    /// Whether the output projection is the embedding, if the outer config does not say so; without
    /// a value the decoder's config says it.
    std::optional<bool> tied = {};
    std::string_view other_architecture = {};  ///< as transformers itself saves it
};
std::span<const DecoderInside> decoders_inside();
inline constexpr const char* kDecoderKey = "text_config";

}  // namespace sluice

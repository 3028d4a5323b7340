// What does a config.json leave out, is a key only misspelt, and does it contradict itself?
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

/// Values of the config classes of transformers 5.17.0, which apply where a key is absent, but not
/// where it is null. Without sizes that a config always has: a config that lacks them is broken.
const Json& class_defaults() {
    static const Json defaults = Json::parse(R"({
        "qwen2": {"num_key_value_heads": 32},
        "qwen3": {"num_key_value_heads": 32, "head_dim": 128},
        "mistral": {"num_key_value_heads": 8, "sliding_window": 4096},
        "mixtral": {"num_key_value_heads": 8},
        "qwen3_moe": {"num_key_value_heads": 4},
        "gpt_oss": {"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128},
        "gemma2": {"num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096},
        "gemma3_text": {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
                        "vocab_size": 262208, "sliding_window": 4096,
                        "max_position_embeddings": 131072}
    })");
    return defaults;
}

/// Keys that change the model and whose absence is no mistake.
constexpr const char* kOptional[] = {"num_key_value_heads",
                                     "head_dim",
                                     "tie_word_embeddings",
                                     "attention_bias",
                                     "mlp_bias",
                                     "sliding_window",
                                     "use_sliding_window",
                                     "max_window_layers",
                                     "layer_types",
                                     "rope_scaling",
                                     "rope_theta",
                                     "max_position_embeddings",
                                     "rms_norm_eps",
                                     "n_shared_experts",
                                     "q_lora_rank",
                                     "first_k_dense_replace",
                                     "decoder_sparse_step",
                                     "mlp_only_layers",
                                     "num_experts",
                                     "num_local_experts",
                                     "n_routed_experts",
                                     "num_attention_heads",
                                     "vocab_size"};

/// One wrong letter, two in a long key: v_head_dim and head_dim both exist.
bool is_misspelt(const std::string& key, std::string_view right) {
    constexpr std::size_t kLong = 16;
    return key != right && edit_distance(key, right) <= (right.size() < kLong ? 1U : 2U);
}

void refuse_misspelt(const Json& config, const std::string& file) {
    for (const char* right : kOptional) {
        if (config.contains(right)) continue;
        for (const auto& item : config.items())
            if (is_misspelt(item.key(), right))
                throw InputError(fmt::format("{}: \"{}\" is unknown; did you mean \"{}\"?", file,
                                             item.key(), right));
    }
}

struct FamilyClasses {
    std::string_view model_type, beginning;  ///< of the names of its classes
    bool has_experts = false;
};
constexpr FamilyClasses kClasses[] = {
    {"llama", "Llama"},
    {"qwen2", "Qwen2"},
    {"qwen3", "Qwen3"},
    {"mistral", "Mistral"},
    {"phi3", "Phi3"},
    {"gemma2", "Gemma2"},
    {"gemma3_text", "Gemma3"},
    {"gpt2", "GPT2"},
    {"mixtral", "Mixtral", true},
    {"qwen3_moe", "Qwen3Moe", true},
    {"gpt_oss", "GptOss", true},
    {"deepseek_v3", "DeepseekV3", true},
};

/// By the longest beginning: Qwen3Moe rather than Qwen3. nullptr for classes of other families.
const FamilyClasses* family_of_class(std::string_view name) {
    const FamilyClasses* of = nullptr;
    for (const FamilyClasses& family : kClasses)
        if (name.starts_with(family.beginning) &&
            (!of || family.beginning.size() > of->beginning.size()))
            of = &family;
    return of;
}

/// Refuses the classes of another family, and experts in a family that has none.
void refuse_contradictions(const Json& config, const std::string& file) {
    const Json type = config.value("model_type", Json());
    for (const Json& name : config.value("architectures", Json::array())) {
        const FamilyClasses* of =
            name.is_string() ? family_of_class(name.get<std::string>()) : nullptr;
        if (of && Json(of->model_type) != type)
            throw InputError(fmt::format(
                "{}: architectures has {}, but model_type is {}, expected \"{}\"; correct "
                "the one that is wrong",
                file, name.dump(), type.dump(), of->model_type));
    }
    for (const FamilyClasses& family : kClasses)
        for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"})
            if (Json(family.model_type) == type && !family.has_experts && config.contains(key) &&
                config[key].is_number() && config[key] > 1)
                throw InputError(
                    fmt::format("{}: {} is {}, but a model of type {} has no experts; correct "
                                "model_type",
                                file, key, config[key].dump(), family.model_type));
}

}  // namespace

std::string checked_hf_config(std::string_view text, const std::string& file) {
    JsonObject::parse(text, file);  // refuses what is no JSON object
    Json root = Json::parse(text);
    Json* config = &root;
    if (root.value("model_type", Json()) == "gemma3" && root.contains("text_config") &&
        root["text_config"].is_object())
        config = &root["text_config"];
    refuse_misspelt(*config, file);
    refuse_contradictions(*config, file);
    const Json type = config->value("model_type", Json());
    if (!type.is_string() || !class_defaults().contains(type)) return std::string(text);
    for (const auto& [key, value] : class_defaults()[type.get<std::string>()].items())
        if (!config->contains(key)) (*config)[key] = value;
    return root.dump();
}

}  // namespace sluice

#include "engine/train/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "engine/data/files.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_parser.h"
#include "sim/base/json_text.h"
#include "sim/specs/model/layer_windows.h"
#include "sim/specs/model/model_families.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// The part of a config that only one family has.
void add_llama(const ModelSpec& model, Json& config) {
    config["attention_bias"] = model.layer(0).attention.qkv_bias;
    config["mlp_bias"] = false;
}

/// The type of each layer, by which transformers gives some of them the window.
Json layer_types(const ModelSpec& model) {
    Json out = Json::array();
    for (int i = 0; i < model.layer_count(); ++i) out.push_back(layer_type(model.layer(i)));
    return out;
}

/// The window, in all layers from `first` on, or in those that the list of layers names.
void add_windows(const ModelSpec& model, std::ptrdiff_t first, Json& config) {
    config["sliding_window"] = nullptr;
    for (std::ptrdiff_t i = 0; i < model.layer_count(); ++i) {
        const std::int64_t window = model.layer(static_cast<int>(i)).attention.window;
        if (window > 0) config["sliding_window"] = window;
        if ((window > 0) != (i >= first)) config["layer_types"] = layer_types(model);
    }
}

void add_qwen2(const ModelSpec& model, Json& config) {
    // The first max_window_layers have full attention, the others a window.
    const auto windowed = std::find_if(model.layers.begin(), model.layers.end(), [&](int kind) {
        return model.kinds[static_cast<std::size_t>(kind)].attention.window > 0;
    });
    config["use_sliding_window"] = windowed != model.layers.end();
    config["max_window_layers"] = windowed - model.layers.begin();
    add_windows(model, windowed - model.layers.begin(), config);
}

void add_qwen3(const ModelSpec& model, Json& config) {
    config["attention_bias"] = model.layer(0).attention.qkv_bias;
    add_qwen2(model, config);
}

void add_mistral(const ModelSpec& model, Json& config) {
    // If it is absent, transformers uses 4096; null means none.
    add_windows(model, model.layer(0).attention.window > 0 ? 0 : model.layer_count(), config);
}

/// Experts are layers of one kind; those without stand in a list.
void add_qwen3_moe(const ModelSpec& model, Json& config) {
    config["attention_bias"] = model.layer(0).attention.qkv_bias;
    Json without = Json::array();
    std::int64_t dense = 0;
    FeedForwardSpec experts;
    for (int i = 0; i < model.layer_count(); ++i) {
        const FeedForwardSpec& f = model.layer(i).feed_forward;
        if (f.experts > 0) {
            experts = f;
        } else {
            without.push_back(i);
            dense = f.intermediate;
        }
    }
    // Without dense layers nobody reads it.
    config["intermediate_size"] =
        dense > 0 ? dense : experts.intermediate * experts.experts_per_token;
    config["moe_intermediate_size"] = experts.intermediate;
    config["num_experts"] = experts.experts;
    config["num_experts_per_tok"] = experts.experts_per_token;
    config["norm_topk_prob"] = experts.route_weights == RouteWeights::of_chosen;
    config["decoder_sparse_step"] = 1;
    config["mlp_only_layers"] = without;
    const std::int64_t window = model.layer(0).attention.window;
    config["use_sliding_window"] = window > 0;
    config["sliding_window"] = window > 0 ? Json(window) : Json();
}

void add_mixtral(const ModelSpec& model, Json& config) {
    const FeedForwardSpec& f = model.layer(0).feed_forward;
    config["num_local_experts"] = f.experts;
    config["num_experts_per_tok"] = f.experts_per_token;
    const std::int64_t window = model.layer(0).attention.window;
    config["sliding_window"] = window > 0 ? Json(window) : Json();
}

struct Family {
    const char* name;  ///< ModelSpec::family
    const char* model_type;
    void (*add)(const ModelSpec&, Json&);
};
constexpr Family kFamilies[] = {
    {"llama", "llama", add_llama},       {"dense", "llama", add_llama},
    {"qwen2", "qwen2", add_qwen2},       {"qwen3", "qwen3", add_qwen3},
    {"mistral", "mistral", add_mistral}, {"qwen3_moe", "qwen3_moe", add_qwen3_moe},
    {"mixtral", "mixtral", add_mixtral},
};

const Family& family_of(const ModelSpec& model) {
    for (const Family& family : kFamilies) {
        if (model.family == family.name) return family;
    }
    throw InternalError(fmt::format("no config.json for model_type {}", model.family));
}

void add_shape(const ModelSpec& model, Json& config) {
    const LayerSpec& layer = model.layer(0);
    config["vocab_size"] = model.vocabulary;
    config["hidden_size"] = model.hidden;
    config["intermediate_size"] = layer.feed_forward.intermediate;
    config["num_hidden_layers"] = model.layer_count();
    config["num_attention_heads"] = layer.attention.heads;
    config["num_key_value_heads"] = layer.attention.kv_heads;
    config["head_dim"] = layer.attention.head_dim;
    config["hidden_act"] = "silu";
    config["tie_word_embeddings"] = model.tied_embeddings;
    config["rms_norm_eps"] = model.norm_epsilon;
    if (model.longest_sequence > 0) config["max_position_embeddings"] = model.longest_sequence;
}

void add_rotary(const RotarySpec& rotary, Json& config) {
    config["rope_theta"] = rotary.theta;
    config["rope_scaling"] = nullptr;
    if (rotary.factor == 1) return;
    Json& scaling = config["rope_scaling"];
    scaling["rope_type"] = "llama3";
    scaling["factor"] = rotary.factor;
    scaling["low_freq_factor"] = rotary.low_frequency_factor;
    scaling["high_freq_factor"] = rotary.high_frequency_factor;
    // transformers warns about 8192.0.
    scaling["original_max_position_embeddings"] = std::llround(rotary.original_positions);
}

/// Files that transformers reads beside config and weights.
constexpr std::array kOtherFiles = {"generation_config.json",
                                    "tokenizer.json",
                                    "tokenizer_config.json",
                                    "tokenizer.model",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "vocab.json",
                                    "merges.txt",
                                    "chat_template.jinja",
                                    "chat_template.json"};

/// Keys of a config.json that say how its own weights are stored, or say again what
/// hf_config_text() says, or list what each layer is, of which there may be fewer now.
constexpr std::array kNotKept = {"dtype",       "quantization_config", "rope_parameters",
                                 "text_config", "layer_types",         "mlp_layer_types"};

/// The file may have any size: a tokenizer.json of 256 thousand words takes 30 MB.
std::string whole_file(const std::string& path) {
    const ReadFile file(path);
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace

std::string hf_config_text(const ModelSpec& model) {
    const Family& family = family_of(model);
    Json config;
    config["model_type"] = family.model_type;
    config["architectures"] = {family_of_type(family.model_type)->architecture};
    add_shape(model, config);
    add_rotary(model.rotary, config);
    family.add(model, config);
    config["torch_dtype"] = "bfloat16";
    return config.dump(2) + "\n";
}

namespace {

namespace fs = std::filesystem;

/// Empty for a name of the library, or a shape.
std::optional<fs::path> folder_of(const std::string& model) {
    std::error_code error;
    if (fs::is_directory(model, error)) return model;
    if (!fs::exists(model, error)) return std::nullopt;
    return fs::absolute(model, error).parent_path();
}

}  // namespace

namespace {

/// The first of these files that stands beside the model.
std::optional<std::string> beside(const std::string& model,
                                  std::initializer_list<const char*> names) {
    const std::optional<fs::path> folder = folder_of(model);
    if (!folder) return std::nullopt;
    for (const char* name : names)
        if (is_there(*folder / name)) return (*folder / name).string();
    return std::nullopt;
}

}  // namespace

std::optional<std::string> tokenizer_file(const std::string& model) {
    return beside(model, {"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt"});
}

std::optional<std::string> weights_beside(const std::string& model) {
    return beside(model, {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                          "pytorch_model.bin.index.json"});
}

ModelFiles read_model_files(const std::string& model) {
    ModelFiles out;
    const std::optional<fs::path> folder = folder_of(model);
    if (!folder || !is_there(*folder / kConfigFile)) return out;
    const std::string config = (*folder / kConfigFile).string();
    out.config = standard_json(read_text_file(config));
    JsonObject::parse(out.config, config);  // refuses what is no JSON object
    for (const char* name : kOtherFiles)
        if (is_there(*folder / name))
            out.others.emplace_back(name, whole_file((*folder / name).string()));
    return out;
}

std::string config_with_rest(const ModelSpec& model, const ModelFiles& files) {
    if (files.config.empty()) return hf_config_text(model);
    const Json ours = Json::parse(hf_config_text(model));
    const Json own = parse_ordered_json(files.config, kConfigFile);
    Json config = ours;
    for (const auto& [key, value] : own.items())
        if (!ours.contains(key) &&
            std::find(kNotKept.begin(), kNotKept.end(), std::string_view(key)) == kNotKept.end())
            append_entry(config, key, value);
    if (own.contains("layer_types")) config["layer_types"] = layer_types(model);
    return config.dump(2) + "\n";
}

}  // namespace sluice

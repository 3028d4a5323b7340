// Which model does a config.json describe? Refuses what contradicts itself, what is only misspelt,
// and what another program would count otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_text.h"
#include "sim/specs/model/families/other_families.h"
#include "sim/specs/model/model_families.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

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
                                     "num_shared_experts",
                                     "q_lora_rank",
                                     "first_k_dense_replace",
                                     "decoder_sparse_step",
                                     "mlp_only_layers",
                                     "norm_topk_prob",
                                     "num_experts",
                                     "num_local_experts",
                                     "n_routed_experts",
                                     "num_attention_heads",
                                     "vocab_size"};

/// One wrong letter, two in a long key: v_head_dim and head_dim both exist.
bool is_misspelt(const std::string& key, std::string_view right) {
    constexpr std::size_t kLong = 16;
    const std::size_t most = right.size() < kLong ? 1 : 2;
    const std::size_t longer =
        std::max(key.size(), right.size()) - std::min(key.size(), right.size());
    return key != right && longer <= most && edit_distance(key, right) <= most;
}

void refuse_misspelt(const JsonObject& config) {
    const std::vector<std::string> keys = config.keys();
    for (const char* right : kOptional) {
        if (config.holds(right)) continue;
        for (const std::string& key : keys)
            if (is_misspelt(key, right) && std::ranges::count(kOptional, key) == 0)
                throw InputError(fmt::format("{}: \"{}\" is unknown; did you mean \"{}\"?",
                                             config.file(), key, right));
    }
}

/// Keys of models that are no causal language model, or have tensors of their own.
struct OtherModel {
    const char* key;
    const char* of;
};
constexpr OtherModel kOtherModels[] = {
    {"draft_vocab_size", "a draft head of speculative decoding"},
    {"add_cross_attention", "a decoder that attends to an encoder"},
    {"use_bidirectional_attention", "a model that attends to later tokens"},
};

void refuse_other_models(const JsonObject& config) {
    for (const auto& [key, of] : kOtherModels)
        if (config.has(key) && config.shown_value(key) != "false")
            throw InputError(fmt::format("{} is {}, as {} has it; expected a causal language model",
                                         config.where(key), config.shown_value(key), of));
}

std::vector<std::string> classes_of(const JsonObject& config) {
    return config.has("architectures") ? config.texts("architectures") : std::vector<std::string>{};
}

[[noreturn]] void refuse_type(const JsonObject& config, const std::string& type) {
    std::vector<std::string> names;
    for (const ModelFamily& family : model_families()) names.emplace_back(family.model_type);
    for (const DecoderInside& outer : decoders_inside()) names.emplace_back(outer.model_type);
    // Whoever names a class of another family has spelt its type right.
    const std::vector<std::string> classes = classes_of(config);
    const ModelFamily* const meant = classes.empty() ? nullptr : family_of_class(classes.front());
    const std::string hint = classes.empty() ? did_you_mean(type, names)
                             : meant         ? may_be_meant({std::string(meant->model_type)})
                                             : "";
    throw InputError(
        fmt::format("{} is \"{}\", a model type that is not supported; supported: {}{}",
                    config.where("model_type"), type, fmt::join(names, ", "), hint));
}

void check_classes(const JsonObject& config, std::string_view type, std::string_view expected,
                   std::string_view also = {}) {
    for (const std::string& name : classes_of(config)) {
        if (name == expected || name == also) continue;
        if (const ModelFamily* const other = family_of_class(name))
            throw InputError(fmt::format(
                "{} has \"{}\", but model_type is \"{}\", expected \"{}\"; correct the one that is "
                "wrong",
                config.where("architectures"), name, type, other->model_type));
        throw InputError(fmt::format(
            "{} has \"{}\", a class that is not supported; expected \"{}\", since the other "
            "classes of {} (reward models, draft heads) have other tensors",
            config.where("architectures"), name, expected, type));
    }
}

void refuse_experts(const JsonObject& config, const ModelFamily& family) {
    if (family.has_experts) return;
    for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"})
        if (config.has(key) && config.integer(key, 0, std::numeric_limits<int>::max()) > 1)
            throw InputError(
                fmt::format("{} is {}, but a model of type {} has no experts; correct model_type",
                            config.where(key), config.shown_value(key), family.model_type));
}

const ModelFamily& family_of(const JsonObject& config) {
    const std::string type = config.text("model_type");
    refuse_other_family(config);
    const ModelFamily* const family = family_of_type(type);
    if (family == nullptr) refuse_type(config, type);
    check_classes(config, type, family->architecture);
    refuse_experts(config, *family);
    refuse_other_models(config);
    refuse_misspelt(config);
    return *family;
}

/// nullptr if the config is that of a decoder itself.
const DecoderInside* outer_model(const JsonObject& config) {
    const auto outer = decoders_inside();
    const auto found =
        std::ranges::find(outer, config.text("model_type"), &DecoderInside::model_type);
    if (found == outer.end()) return nullptr;
    check_classes(config, found->model_type, found->architecture, found->other_architecture);
    return &*found;
}

void add_note(ModelSpec& model, const char* note) {
    model.note += (model.note.empty() ? "" : "; ") + std::string(note);
}

}  // namespace

ModelSpec parse_hf_config(std::string_view text, const std::string& file) {
    const JsonObject whole = JsonObject::parse(standard_json(text), file);
    const DecoderInside* const outer = outer_model(whole);
    const JsonObject given = outer == nullptr ? whole : whole.object(kDecoderKey);
    const ModelFamily& family = family_of(given);
    const JsonObject config = given.with_defaults(family.defaults);
    ModelSpec model;
    model.name = file;
    model.family = family.model_type;
    model.source = file;
    model.not_trained = family.not_trained;
    family.read(config, model);
    if (outer != nullptr) {
        add_note(model, "the decoder alone: the vision tower is not counted");
        if (model.not_trained.empty()) model.not_trained = "reader of models of images and text";
        if (outer->tied)
            model.tied_embeddings = whole.boolean_or("tie_word_embeddings", *outer->tied);
    }
    refuse_uncountable(model, file);
    if (whole.has("quantization_config") || config.has("quantization_config"))
        add_note(model, "weights are trained in bf16, without quantization_config");
    if (const auto extra = config.object_or_none("_sluice")) {
        model.source = extra->text_or("source", file);
        model.note = extra->text_or("note", "");
    }
    return model;
}

}  // namespace sluice

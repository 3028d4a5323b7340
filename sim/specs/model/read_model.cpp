#include "sim/specs/model/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "sim/base/embedded_files.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/hub_models.h"

namespace sluice {
namespace {

constexpr std::string_view kGenericPrefix = "dense:";

std::int64_t parse_count(std::string_view key, std::string_view value, std::int64_t most,
                         const std::string& where) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    constexpr std::size_t kMostDigits = 19;
    if (value.size() > kMostDigits || error != std::errc() || end != value.data() + value.size() ||
        number < 1 || number > most) {
        throw InputError(
            fmt::format("{}: dense: {} is \"{}\", expected a whole number from 1 to {}", where, key,
                        value, most));
    }
    return number;
}

struct GenericShape {
    std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 128, intermediate = 0;
    std::int64_t vocabulary = 128256, tied = 0;
};

struct GenericField {
    const char* key;
    std::int64_t GenericShape::*member;
    std::int64_t most;
};
constexpr GenericField kGenericFields[] = {
    {"layers", &GenericShape::layers, kMostLayers},
    {"hidden", &GenericShape::hidden, 1'000'000},
    {"heads", &GenericShape::heads, 1'000'000},
    {"kv_heads", &GenericShape::kv_heads, 1'000'000},
    {"head_dim", &GenericShape::head_dim, 1'000'000},
    {"intermediate", &GenericShape::intermediate, 10'000'000},
    {"vocabulary", &GenericShape::vocabulary, 10'000'000},
    {"tied", &GenericShape::tied, 1},
};

void set_generic_field(GenericShape& shape, std::string_view key, std::string_view value,
                       const std::string& where) {
    std::vector<std::string> names;
    for (const GenericField& field : kGenericFields) {
        if (key == field.key) {
            const bool is_tied = field.member == &GenericShape::tied;
            if (is_tied && value != "0" && value != "1") {
                throw InputError(
                    fmt::format("{}: dense: tied is \"{}\", expected 0 or 1", where, value));
            }
            shape.*field.member =
                is_tied && value == "0" ? 0 : parse_count(key, value, field.most, where);
            return;
        }
        names.emplace_back(field.key);
    }
    throw InputError(fmt::format("{}: dense: unknown key \"{}\"; the keys are {}{}", where, key,
                                 fmt::join(names, ", "), did_you_mean(key, names)));
}

void fill_generic_defaults(GenericShape& shape, const std::string& where) {
    if (shape.layers == 0 || shape.hidden == 0) {
        throw InputError(
            where + ": dense: needs at least layers and hidden, as in dense:layers=80,hidden=8192");
    }
    if (shape.heads == 0) shape.heads = std::max<std::int64_t>(1, shape.hidden / shape.head_dim);
    if (shape.kv_heads == 0) shape.kv_heads = shape.heads % 8 == 0 ? 8 : shape.heads;
    if (shape.intermediate == 0) shape.intermediate = shape.hidden * 7 / 2;
    if (shape.heads % shape.kv_heads != 0) {
        throw InputError(fmt::format("{}: dense: kv_heads is {}, expected a divisor of heads ({})",
                                     where, shape.kv_heads, shape.heads));
    }
}

void read_scaling(const JsonObject& scaling, ModelSpec& model) {
    const std::string type = scaling.text_or("rope_type", scaling.text_or("type", "default"));
    if (type == "default") return;
    if (type != "llama3") {
        model.not_trained = type + " scaling of positions";
        return;
    }
    RotarySpec& rotary = model.rotary;
    rotary.factor = scaling.number("factor", 1, 1e6);
    rotary.low_frequency_factor = scaling.number_or_none("low_freq_factor", 1e-6, 1e6).value_or(1);
    rotary.high_frequency_factor =
        scaling.number_or_none("high_freq_factor", 1e-6, 1e6).value_or(4);
    rotary.original_positions =
        scaling.number_or_none("original_max_position_embeddings", 1, 1e9).value_or(8192);
}

/// A path names a file that exists, has a slash, or ends in .json.
bool looks_like_path(const std::string& what) {
    std::error_code error;
    return what.find('/') != std::string::npos || what.ends_with(".json") ||
           std::filesystem::exists(what, error);
}

}  // namespace

void read_hf_arithmetic(const JsonObject& config, ModelSpec& model) {
    model.norm_epsilon = config.number_or_none("rms_norm_eps", 1e-12, 1).value_or(1e-6);
    model.rotary.theta = config.number_or_none("rope_theta", 1, 1e12).value_or(10'000);
    const std::string activation =
        config.is_text("hidden_act") ? config.text("hidden_act") : "silu";
    if (activation != "silu" && activation != "swish")
        model.not_trained = activation + " as activation";
    if (config.number_or_none("partial_rotary_factor", 0, 1).value_or(1) != 1)
        model.not_trained = "positions in a part of each head";
    // transformers 5 writes theta and scaling into one object.
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
        if (!config.is_object(key)) continue;
        const JsonObject rotary = config.object(key);
        model.rotary.theta =
            rotary.number_or_none("rope_theta", 1, 1e12).value_or(model.rotary.theta);
        read_scaling(rotary, model);
    }
}

std::string short_name(const std::string& what) {
    return lowercase(what.substr(what.rfind('/') + 1));
}

const std::vector<ScaledTarget>& scaled_targets() {
    static const std::vector<ScaledTarget> targets = {
        {"120b", "layers=88,hidden=10240,intermediate=35840"},
        {"200b", "layers=100,hidden=12288,intermediate=43008"},
        {"400b", "layers=126,hidden=16384,intermediate=53248"},
        {"1t", "layers=160,hidden=22528,intermediate=78848"},
    };
    return targets;
}

std::vector<std::string> library_models() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_models()) names.emplace_back(file.name);
    std::sort(names.begin(), names.end());
    return names;
}

ModelSpec parse_generic_model(std::string_view text, const std::string& where) {
    GenericShape shape;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string_view item = text.substr(start, end - start);
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) {
            throw InputError(fmt::format("{}: dense: \"{}\", expected key=number, as in layers=80",
                                         where, item));
        }
        set_generic_field(shape, item.substr(0, equals), item.substr(equals + 1), where);
        start = end + 1;
    }
    fill_generic_defaults(shape, where);

    ModelSpec model;
    model.name = std::string(kGenericPrefix) + std::string(text);
    model.family = "dense";
    model.source = "generic dense decoder in Llama's form";
    model.hidden = shape.hidden;
    model.vocabulary = shape.vocabulary;
    model.tied_embeddings = shape.tied != 0;
    LayerSpec layer;
    layer.attention.heads = shape.heads;
    layer.attention.kv_heads = shape.kv_heads;
    layer.attention.head_dim = layer.attention.value_dim = shape.head_dim;
    layer.feed_forward.intermediate = shape.intermediate;
    append_layers(model, layer, shape.layers);
    refuse_uncountable(model, where + ": " + model.name);
    return model;
}

bool names_a_model(const std::string& what) {
    const auto is = [](const std::string& name) {
        return [name](const auto& one) { return name == one.name; };
    };
    return what.starts_with(kGenericPrefix) || looks_like_path(what) ||
           std::ranges::any_of(scaled_targets(), is(lowercase(what))) ||
           std::ranges::any_of(embedded_models(), is(short_name(what)));
}

ModelSpec read_model(const std::string& what, const std::string& where) {
    if (what.starts_with(kGenericPrefix))
        return parse_generic_model(what.substr(kGenericPrefix.size()), where);
    for (const ScaledTarget& target : scaled_targets()) {
        if (lowercase(what) != target.name) continue;
        ModelSpec model = parse_generic_model(target.shape, where);
        model.name = target.name;
        model.source = fmt::format("what-if shape dense:{}", target.shape);
        return model;
    }
    std::error_code error;
    const bool is_there = std::filesystem::exists(what, error);
    for (const EmbeddedFile& file : embedded_models()) {
        if (what == file.name || (!is_there && short_name(what) == file.name)) {
            ModelSpec model = parse_hf_config(file.text, fmt::format("models/{}.json", file.name));
            model.name = std::string(file.name);
            return model;
        }
    }
    if (const auto folder = downloaded_model(what)) {
        const std::string path = *folder + "/config.json";
        ModelSpec model = parse_hf_config(read_text_file(path), path);
        model.name = what;
        return model;
    }
    if (!is_there && looks_like_hub_name(what))
        throw InputError(fmt::format(
            "{} is \"{}\", which is neither a file nor a model of the library, nor downloaded to "
            "{}; download it with: {}; or give the path of its config.json, or list the library "
            "with: sluice models{}",
            where, what, hub_cache_folder(), download_command(what), model_hint(what)));
    if (looks_like_path(what)) {
        const std::string path =
            std::filesystem::is_directory(what, error) ? what + "/config.json" : what;
        ModelSpec model = parse_hf_config(read_text_file(path), path);
        model.name = what;
        return model;
    }
    throw InputError(
        fmt::format("{}: unknown model \"{}\"; list them with: sluice models, or give a path to a "
                    "config.json{}",
                    where, what, model_hint(what)));
}

}  // namespace sluice

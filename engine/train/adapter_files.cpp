#include "engine/train/adapter_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/files.h"
#include "engine/train/training_checkpoint.h"
#include "sim/base/input_error.h"
#include "sim/base/json_parser.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

/// "q_proj" of "self_attn.q_proj".
std::string_view last_name(std::string_view module) { return module.substr(module.rfind('.') + 1); }

class ConfigReader {
  public:
    explicit ConfigReader(std::string path)
        : path_(std::move(path)), config_(parse_ordered_json(read_text_file(path_), path_)) {
        if (!config_.is_object()) fail("is no JSON object", "");
    }

    AdapterRecord read() const {
        if (value("peft_type") != "LORA") fail("peft_type", "\"LORA\"");
        for (const char* const key : {"use_dora", "fan_in_fan_out"})
            if (value(key) == true) fail(key, "false");
        if (!value("bias").is_null() && value("bias") != "none") fail("bias", "\"none\"");
        for (const char* const key :
             {"modules_to_save", "rank_pattern", "alpha_pattern", "layers_to_transform",
              "target_parameters", "trainable_token_indices", "exclude_modules"})
            if (!value(key).empty()) fail(key, "none");
        AdapterRecord out;
        out.shape = {static_cast<std::int64_t>(number("r", 1, 65'536)), targets()};
        out.alpha = number("lora_alpha", 1e-9, 1e9);
        out.rank_stabilized = value("use_rslora") == true;
        const double percent =
            value("lora_dropout").is_null() ? 0 : 100 * number("lora_dropout", 0, 0.99);
        out.shape.dropout_percent = std::llround(percent);
        if (value("base_model_name_or_path").is_string())
            out.base = value("base_model_name_or_path").get<std::string>();
        return out;
    }

  private:
    Json value(const char* key) const { return config_.contains(key) ? config_[key] : Json(); }
    [[noreturn]] void fail(const std::string& key, const std::string& expected) const {
        if (expected.empty()) throw InputError(fmt::format("{}: {}", path_, key));
        throw InputError(
            fmt::format("{}: {} is {}, expected {}; merge the adapters into their "
                        "base with peft, and load that",
                        path_, key, value(key.c_str()).dump(), expected));
    }
    double number(const char* key, double low, double high) const {
        const Json found = value(key);
        if (!found.is_number() || !(found.get<double>() >= low && found.get<double>() <= high))
            fail(key, fmt::format("a number from {:g} to {:g}", low, high));
        return found.get<double>();
    }
    AdapterTargets targets() const {
        constexpr const char* kKey = "target_modules";
        const Json found = value(kKey);
        if (found == "all-linear") return kAllTargets;
        std::vector<std::string_view> known;
        for (const AdapterTarget& target : kAdapterTargets)
            known.push_back(last_name(target.module));
        AdapterTargets out = 0;
        for (const Json& module : found.is_array() ? found : Json::array()) {
            const std::string name = module.is_string() ? module.get<std::string>() : "";
            const auto at = std::ranges::find(known, last_name(name));
            if (at == known.end()) out = 0;
            if (at == known.end()) break;
            out |= kAdapterTargets[static_cast<std::size_t>(at - known.begin())].bit;
        }
        if (out == 0) fail(kKey, fmt::format("a list of {}", fmt::join(known, ", ")));
        return out;
    }

    std::string path_;
    Json config_;
};

/// Opens the file with exactly these tensors.
Checkpoint open_adapters(const std::string& folder, const std::vector<NamedTensor>& tensors) {
    Checkpoint file = open_checkpoint(path_in(folder, tensors_file(kAdapterStem)));
    std::set<std::string> known;
    for (const NamedTensor& tensor : tensors) {
        known.insert(tensor.name);
        const TensorView view = file.tensor(tensor.name);
        if (view.shape != tensor.shape)
            throw InputError(fmt::format(
                "{}: tensor \"{}\" is ({}), expected ({}); give the --model "
                "that these adapters belong to",
                view.file, view.name, fmt::join(view.shape, ", "), fmt::join(tensor.shape, ", ")));
        float first = 0;
        read_as_fp32(view, 0, 1, &first);  // refuses other types
    }
    for (const std::string& name : file.names())
        if (!known.contains(name))
            throw InputError(
                fmt::format("{}: tensor \"{}\" is no adapter of a linear layer of the "
                            "model; merge the adapters into their base with peft, and "
                            "load that",
                            file.path(), name));
    return file;
}

}  // namespace

double AdapterRecord::scale() const {
    const auto rank = static_cast<double>(shape.rank);
    return alpha / (rank_stabilized ? std::sqrt(rank) : rank);
}

std::string adapter_config_text(const AdapterRecord& adapters) {
    std::set<std::string_view> modules;
    for (const AdapterTarget& target : kAdapterTargets)
        if (adapters.shape.has(target.bit)) modules.insert(last_name(target.module));
    Json config{{"peft_type", "LORA"},
                {"task_type", "CAUSAL_LM"},
                {"base_model_name_or_path", nullptr},
                {"r", adapters.shape.rank},
                {"lora_alpha", adapters.alpha},
                {"lora_dropout", static_cast<double>(adapters.shape.dropout_percent) / 100},
                {"use_rslora", adapters.rank_stabilized},
                {"bias", "none"},
                {"fan_in_fan_out", false},
                {"inference_mode", true},
                {"target_modules", modules}};
    if (!adapters.base.empty()) config["base_model_name_or_path"] = adapters.base;
    return config.dump(2) + "\n";
}

bool holds_adapters(const std::string& folder) {
    return is_there(path_in(folder, kAdapterConfigFile));
}

AdapterRecord read_adapter_config(const std::string& folder) {
    return ConfigReader(path_in(folder, kAdapterConfigFile)).read();
}

void check_adapters(const std::string& folder, const ModelSpec& model,
                    const AdapterShape& adapters) {
    open_adapters(folder, adapter_tensors(model, adapters));
}

void load_adapters(const std::string& folder, const ModelSpec& model, const AdapterShape& adapters,
                   ParameterStore& store) {
    const std::vector<NamedTensor> tensors = adapter_tensors(model, adapters);
    const Checkpoint file = open_adapters(folder, tensors);
    for (const NamedTensor& tensor : tensors) {
        const TensorView from = file.tensor(tensor.name);
        store.set_masters(tensor, [&](std::int64_t begin, std::int64_t count, float* out) {
            read_as_fp32(from, begin, count, out);
            if (!std::all_of(out, out + count, [](float value) { return std::isfinite(value); }))
                throw InputError(
                    fmt::format("{}: tensor \"{}\" has a number that is not finite; "
                                "load other adapters",
                                from.file, from.name));
        });
    }
}

}  // namespace sluice

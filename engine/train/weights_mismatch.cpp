#include "engine/train/weights_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include "engine/train/model_files.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

/// A part of names that only weights of a certain kind have, and the sentence's end about them.
struct OtherKind {
    std::string_view part;
    const char* words;
};

constexpr const char* kQuantized =
    "holds quantized weights, expected BF16, F16, F32 or F64; give the model before it was "
    "quantized";
constexpr std::array kOtherKinds = {
    OtherKind{".lora_", kAdapterWords},      OtherKind{".qweight", kQuantized},
    OtherKind{".weight_scale", kQuantized},  OtherKind{".weight.absmax", kQuantized},
    OtherKind{".weight_packed", kQuantized},
};

/// Prefixes that programs write before the names of a model that they wrap.
struct Wrapper {
    std::string_view prefix;
    const char* words;
};
constexpr std::array kWrappers = {
    Wrapper{"_orig_mod.", "as torch.compile names them; save the model inside (model._orig_mod)"},
    Wrapper{"module.",
            "as DistributedDataParallel and DeepSpeed name them; save the model inside "
            "(model.module)"},
    Wrapper{"base_model.model.",
            "as PEFT names them; merge the adapter (merge_and_unload) and "
            "save the model that this gives"},
};
constexpr const char* kOtherWrapper =
    "as of a model inside another; save the model inside, or rename the tensors";

/// Every model has it, whatever else is different.
constexpr std::string_view kEachHas = "model.layers.0.input_layernorm.weight";
constexpr std::string_view kBasePrefix = "model.";

class Mismatch {
  public:
    Mismatch(const Checkpoint& file, const std::vector<NamedTensor>& tensors,
             const ModelSpec& model)
        : file_(file), tensors_(tensors), model_(model) {}

    /// A fault of the whole file is named before one of a single tensor.
    void refuse() const {
        refuse_other_kind();
        refuse_empty();
        refuse_other_names();
        refuse_tied_name();
        refuse_other_vocabulary();
        for (const NamedTensor& tensor : tensors_) check(tensor);
        refuse_others();
    }

  private:
    template <typename... T>
    [[noreturn]] void fail(const std::string& where, fmt::format_string<T...> format,
                           T&&... arguments) const {
        throw InputError(
            fmt::format("{}: {}", where, fmt::format(format, std::forward<T>(arguments)...)));
    }

    void refuse_other_kind() const {
        for (const std::string& name : file_.names())
            for (const auto& [part, words] : kOtherKinds)
                if (name.find(part) != std::string::npos)
                    fail(file_.path(), "{} (tensor {})", words, in_quotes(name));
    }

    void refuse_empty() const {
        const auto is_empty = [&](const NamedTensor& one) {
            return file_.has(one.name) && file_.tensor(one.name).bytes.empty();
        };
        const auto first = std::ranges::find_if(tensors_, is_empty);
        if (first == tensors_.end()) return;
        fail(file_.path(),
             "{} of {} tensors have no elements, as {}, expected one of shape {}; DeepSpeed's "
             "ZeRO-3 leaves such in each process: gather the weights before saving them "
             "(stage3_gather_16bit_weights_on_model_save, or zero_to_fp32.py)",
             std::ranges::count_if(tensors_, is_empty), tensors_.size(), in_quotes(first->name),
             shown_shape(first->shape));
    }

    /// All names have something before them, or lack "model.".
    void refuse_other_names() const {
        if (file_.has(kEachHas)) return;
        const std::string_view without = kEachHas.substr(kBasePrefix.size());
        for (const std::string& name : file_.names()) {
            if (name == without)
                fail(file_.path(),
                     "names of tensors lack \"{}\" (it has {}), as AutoModel saves a model without "
                     "its output projection; load it with AutoModelForCausalLM and save that{}",
                     kBasePrefix, in_quotes(name),
                     model_.tied_embeddings || file_.has(kProjection)
                         ? ""
                         : fmt::format("; {} is missing, so take it from elsewhere",
                                       in_quotes(kProjection)));
            if (name.ends_with(fmt::format(".{}", kEachHas))) refuse_prefix(name);
        }
    }

    [[noreturn]] void refuse_prefix(std::string_view name) const {
        const std::string_view prefix = name.substr(0, name.size() - kEachHas.size());
        const auto known = std::ranges::find_if(
            kWrappers, [&](const Wrapper& one) { return prefix.starts_with(one.prefix); });
        fail(file_.path(), "names of tensors begin with {} before \"{}\", {}", in_quotes(prefix),
             kBasePrefix, known == kWrappers.end() ? kOtherWrapper : known->words);
    }

    void refuse_tied_name() const {
        if (!model_.tied_embeddings || file_.has(kEmbedding) || !file_.has(kProjection)) return;
        fail(file_.path(),
             "has {} and no {}, which are one tensor in {}, whose embeddings are tied; save it as "
             "{}",
             in_quotes(kProjection), in_quotes(kEmbedding), model_.name, in_quotes(kEmbedding));
    }

    void refuse_other_vocabulary() const {
        if (!file_.has(kEmbedding)) return;
        const TensorView& embedding = file_.tensor(kEmbedding);
        const std::vector<std::int64_t>& expected =
            std::ranges::find(tensors_, kEmbedding, &NamedTensor::name)->shape;
        if (embedding.shape.size() != 2 || embedding.shape[1] != expected[1] ||
            embedding.shape[0] == expected[0])
            return;
        fail(
            embedding.file,
            "tensor {} has {} rows, expected {}, the vocab_size of {}; set vocab_size to {} in the "
            "config.json of these weights and give that as --model",
            in_quotes(kEmbedding), embedding.shape[0], expected[0], model_.name,
            embedding.shape[0]);
    }

    /// The sentence's end where nothing is known of what made the weights so.
    std::string other_model() const {
        namespace fs = std::filesystem;
        std::error_code error;
        const fs::path folder = fs::absolute(file_.path(), error).parent_path();
        const bool is_own = fs::equivalent(model_.name, folder, error) ||
                            fs::equivalent(model_.name, folder / kConfigFile, error);
        return is_own ? fmt::format(
                            "{} and these weights are not of one model: save or download "
                            "both again",
                            (folder / kConfigFile).string())
                      : fmt::format("give the --model of these weights, not {}", model_.name);
    }

    void check(const NamedTensor& expected) const {
        if (!file_.has(expected.name)) {
            if (expected.name == kProjection)
                fail(file_.path(),
                     "has no tensor \"{}\", so its output projection is its embedding; leave out "
                     "--untied, or give a --model with tie_word_embeddings true",
                     kProjection);
            fail(file_.path(), "has no tensor \"{}\", expected one of shape {}; {}", expected.name,
                 shown_shape(expected.shape), other_model());
        }
        const TensorView& tensor = file_.tensor(expected.name);
        if (tensor.shape != expected.shape)
            fail(tensor.file, "tensor \"{}\" has shape {}, expected {}; {}", expected.name,
                 shown_shape(tensor.shape), shown_shape(expected.shape), other_model());
        float ignored = 0;
        read_as_fp32(tensor, 0, 0, &ignored);  // refuses types that are not weights
    }

    void refuse_others() const {
        std::unordered_set<std::string_view> known;
        for (const NamedTensor& tensor : tensors_) known.insert(tensor.name);
        std::vector<std::string> others;
        for (const std::string& name : file_.names())
            if (!known.contains(name) && name != kProjection &&
                !name.ends_with("rotary_emb.inv_freq"))
                others.push_back(name);
        if (others.empty()) return;
        fail(file_.path(), "has tensor {}{}, expected no such tensor in {} layers of {}; {}",
             in_quotes(others.front()),
             others.size() > 1 ? fmt::format(" and {} more", others.size() - 1) : "",
             model_.layer_count(), model_.name, other_model());
    }

    const Checkpoint& file_;
    const std::vector<NamedTensor>& tensors_;
    const ModelSpec& model_;
};

}  // namespace

void refuse_mismatch(const Checkpoint& file, const std::vector<NamedTensor>& tensors,
                     const ModelSpec& model) {
    Mismatch(file, tensors, model).refuse();
}

}  // namespace sluice

#include "engine/train/merged_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/train/adapter_files.h"
#include "engine/train/training_checkpoint.h"
#include "engine/train/weights_mismatch.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight".
std::string adapter_name(const std::string& tensor, const char* part) {
    constexpr std::string_view kEnd = ".weight";
    return fmt::format("base_model.model.{}.lora_{}{}",
                       tensor.substr(0, tensor.size() - std::min(tensor.size(), kEnd.size())), part,
                       kEnd);
}

std::vector<float> numbers_of(const TensorView& tensor) {
    std::vector<float> out(static_cast<std::size_t>(tensor.elements()));
    read_as_fp32(tensor, 0, tensor.elements(), out.data());
    return out;
}

std::string base_of(const std::string& checkpoint, const AdapterRecord& adapters,
                    const std::optional<std::string>& given) {
    if (given) return *given;
    if (adapters.base.empty())
        throw InputError(fmt::format(
            "{}: its adapters were trained beside random weights, which no file has; there is "
            "nothing to merge them with",
            checkpoint));
    if (!is_there(adapters.base))
        throw InputError(fmt::format(
            "{}: its adapters belong to {}, which is not there; give these weights with --base",
            checkpoint, adapters.base));
    return adapters.base;
}

}  // namespace

MergedWeights::MergedWeights(const std::string& checkpoint, const ModelSpec& model,
                             const std::optional<std::string>& base)
    : frozen_(""), adapters_(open_tensors(checkpoint, kAdapterStem)) {
    const AdapterRecord adapters = read_adapter_config(checkpoint);
    rank_ = adapters.shape.rank;
    scale_ = static_cast<float>(adapters.scale());
    base_ = base_of(checkpoint, adapters, base);
    frozen_ = open_checkpoint(base_);
    refuse_mismatch(frozen_, named_tensors(model), model);
}

const MergedWeights::Pair* MergedWeights::pair_of(const NamedTensor& tensor) {
    const std::string a = adapter_name(tensor.name, "A");
    if (!adapters_.has(a)) return nullptr;
    if (pair_.of != tensor.name)
        pair_ = {tensor.name, numbers_of(adapters_.tensor(a)),
                 numbers_of(adapters_.tensor(adapter_name(tensor.name, "B")))};
    return &pair_;
}

void MergedWeights::read(const NamedTensor& tensor, std::int64_t first, std::span<float> out) {
    read_as_fp32(frozen_.tensor(tensor.name), first, std::ssize(out), out.data());
    const Pair* const pair = pair_of(tensor);
    if (pair == nullptr) return;
    const std::int64_t columns = tensor.shape[1], end = first + std::ssize(out);
    std::vector<float> added;
    for (std::int64_t at = first; at < end;) {
        const std::int64_t row = at / columns, column = at % columns,
                           count = std::min(columns - column, end - at);
        added.assign(static_cast<std::size_t>(count), 0);
        for (std::int64_t k = 0; k < rank_; ++k) {
            const float b = pair->b[static_cast<std::size_t>(row * rank_ + k)];
            const float* const a = pair->a.data() + k * columns + column;
            for (std::size_t i = 0; i < added.size(); ++i) added[i] += b * a[i];
        }
        float* const to = out.data() + (at - first);
        for (std::size_t i = 0; i < added.size(); ++i) to[i] += scale_ * added[i];
        at += count;
    }
}

}  // namespace sluice

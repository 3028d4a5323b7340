#include "engine/layers/layer_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/workspace.h"
#include "sim/base/input_error.h"
#include "sim/plan/runs_today.h"

namespace sluice {
namespace {

constexpr std::int64_t kAlignment = 8;

class Placer {
  public:
    TensorPlace place(std::int64_t rows, std::int64_t columns = 1) {
        if (rows == 0) return {};
        const TensorPlace here{next_, rows, columns};
        next_ += (here.elements() + kAlignment - 1) / kAlignment * kAlignment;
        return here;
    }
    std::int64_t size() const { return next_; }

  private:
    std::int64_t next_ = 0;
};

void check_trainable(const ModelSpec& model, const LayerSpec& layer) {
    const std::string what = missing_in_trainer(model, layer);
    if (what.empty()) return;
    throw InputError(
        fmt::format("--model {}: sluice-train has no {} (model_type {}); it trains qwen2, qwen3, "
                    "llama, mistral, qwen3_moe and mixtral",
                    model.name, what, model.family));
}

}  // namespace

std::vector<std::int64_t> TensorPlace::rows_of_parts() const {
    return ParameterTensor{"", rows, columns, 1, joins}.rows_of_parts();
}

LayerLayout layer_layout(const ModelSpec& model, const LayerSpec& layer) {
    check_trainable(model, layer);
    const AttentionSpec& a = layer.attention;
    const std::int64_t h = model.hidden;
    Placer placer;
    LayerLayout l;
    l.input_norm = placer.place(h);
    l.feed_forward_norm = placer.place(h);
    l.qkv = placer.place(a.qkv_width(), h);
    l.qkv_bias = placer.place(a.qkv_bias ? a.qkv_width() : 0);
    l.query_norm = placer.place(a.qk_norm ? a.head_dim : 0);
    l.key_norm = placer.place(a.qk_norm ? a.head_dim : 0);
    l.output = placer.place(h, a.output_width());
    l.qkv.joins = {a.query_width(), a.key_width(), a.key_width()};
    const FeedForwardSpec& f = layer.feed_forward;
    const std::int64_t blocks = std::max<std::int64_t>(f.experts, 1);
    l.router = placer.place(f.experts, h);
    l.gate_up = placer.place(blocks * 2 * f.intermediate, h);
    if (f.experts == 0) l.gate_up.joins = {f.intermediate, f.intermediate};
    l.down = placer.place(blocks * h, f.intermediate);
    l.size = placer.size();
    return l;
}

LayerLayout coded_layout(const LayerLayout& layout, std::int64_t before,
                         std::int64_t (*bytes_of)(const TensorPlace& matrix)) {
    LayerLayout out = layout;
    out.size = before;
    const auto place = [&](std::int64_t bytes, std::int64_t alignment) {
        const std::int64_t begin = (out.size + alignment - 1) / alignment * alignment;
        out.size = begin + bytes;
        return begin;
    };
    for (const auto vector : kVectors)
        (out.*vector).offset = place(kBf16 * (out.*vector).elements(), 16) / kBf16;
    // As casts place them, so that products take the same algorithms.
    for (const auto matrix : kCodedMatrices)
        (out.*matrix).offset = place(bytes_of(out.*matrix), kPartAlignment);
    place(0, kPartAlignment);
    return out;
}

HeadLayout head_layout(const ModelSpec& model) {
    Placer placer;
    HeadLayout l;
    if (!model.tied_embeddings) l.projection = placer.place(model.vocabulary, model.hidden);
    l.norm = placer.place(model.hidden);
    l.size = placer.size();
    return l;
}

Matrix matrix_at(void* base, DType type, const TensorPlace& place) {
    return {static_cast<char*>(base) + place.offset * bytes_of(type), type, place.rows,
            place.columns};
}

Vector vector_at(void* base, DType type, const TensorPlace& place) {
    if (place.rows == 0) return {};
    return {static_cast<char*>(base) + place.offset * bytes_of(type), type, place.elements()};
}

}  // namespace sluice

#include "engine/memory/streamed_codes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>

#include "engine/optimizer/weight_codes.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

constexpr std::int64_t kGrain = std::int64_t{1} << 16;

/// The part of the elements [begin, end) of a section that is in the tensor, counted from its
/// first.
struct Piece {
    Piece(const TensorPlace& tensor, std::int64_t begin_, std::int64_t end_)
        : begin(std::max(begin_, tensor.offset) - tensor.offset),
          count(std::min(end_, tensor.offset + tensor.elements()) - tensor.offset - begin) {}
    std::int64_t begin, count;
};

std::span<Fp8Scale> scales_in(char* block) {
    return {reinterpret_cast<Fp8Scale*>(block), std::size(kCodedMatrices)};
}

/// One update of a layer's weights.
class Rewriting {
  public:
    Rewriting(const std::uint16_t* high, const LayerLayout& from, const LayerLayout& to,
              char* block, ThreadPool& pool)
        : high_(high), from_(from), to_(to), scales_(scales_in(block)), block_(block), pool_(pool) {
        for (std::size_t i = 0; i < kMatrices; ++i) factor_[i] = 1 / scales_[i].back;
    }

    /// Called by any thread of the pool.
    void after(std::int64_t begin, std::int64_t end) {
        for (const auto vector : kVectors) {
            const Piece piece(from_.*vector, begin, end);
            if (piece.count <= 0) continue;
            auto* const copy =
                static_cast<std::uint16_t*>(vector_at(block_, DType::bf16, to_.*vector).data);
            std::copy_n(weights(vector) + piece.begin, piece.count, copy + piece.begin);
        }
        for (std::size_t i = 0; i < kMatrices; ++i) {
            const Piece piece(from_.*kCodedMatrices[i], begin, end);
            if (piece.count > 0) write(i, piece.begin, piece.count);
        }
    }

    void finish() {
        for (std::size_t i = 0; i < kMatrices; ++i) {
            const std::uint32_t largest = std::uint32_t{largest_[i]} << 16;
            const float factor = fp8_factor(largest, DType::e4m3);
            const std::int64_t count = (from_.*kCodedMatrices[i]).elements();
            if (std::isnan(factor)) {
                constexpr int kNan = 0x7f;
                std::memset(codes(i), kNan, static_cast<std::size_t>(count));
            } else if (factor != factor_[i]) {
                factor_[i] = factor;
                pool_.parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
                    write(i, begin, end - begin);
                });
            }
            scales_[i] = {1 / factor, largest};
        }
    }

  private:
    static constexpr std::size_t kMatrices = std::size(kCodedMatrices);
    const std::uint16_t* weights(TensorPlace LayerLayout::*of) const {
        return high_ + (from_.*of).offset;
    }
    std::uint8_t* codes(std::size_t matrix) const {
        return static_cast<std::uint8_t*>(
            matrix_at(block_, DType::e4m3, to_.*kCodedMatrices[matrix]).data);
    }
    void write(std::size_t i, std::int64_t begin, std::int64_t count) {
        const std::uint16_t found =
            weight_codes(weights(kCodedMatrices[i]) + begin, codes(i) + begin, count, factor_[i]);
        std::uint16_t known = largest_[i];
        while (known < found && !largest_[i].compare_exchange_weak(known, found)) continue;
    }

    const std::uint16_t* const high_;
    const LayerLayout &from_, &to_;
    const std::span<Fp8Scale> scales_;
    char* const block_;
    ThreadPool& pool_;
    std::array<float, kMatrices> factor_{};
    std::array<std::atomic<std::uint16_t>, kMatrices> largest_{};
};

}  // namespace

WeightCoder frozen_coder(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes,
                         ThreadPool& pool, Device& device) {
    int last = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        if (plan.homes.is_resident(layer)) last = layer;
    // One for all layers: touching fresh memory for each would take longer than coding.
    const auto apart = std::make_shared<std::vector<char>>();
    return [&, last, apart](int section, const std::uint16_t* weights) {
        const LayerLayout from = layer_layout(model, model.layer(section)), to = coded_layout(from);
        const bool resident = plan.homes.is_resident(section);
        if (resident) apart->resize(std::max(apart->size(), static_cast<std::size_t>(to.size)));
        char* const block =
            resident ? apart->data() : planes.part(plan.buffers.host.codes, section);
        for (Fp8Scale& scale : scales_in(block)) scale = {};
        Rewriting rewriting(weights, from, to, block, pool);
        pool.parallel_for(from.size, kGrain, [&](std::int64_t begin, std::int64_t end) {
            rewriting.after(begin, end);
        });
        rewriting.finish();
        if (!resident) return;
        char* const home = planes.part(plan.buffers.resident[static_cast<std::size_t>(section)]);
        char* const staging = planes.at(plan.buffers.host.staging);
        for (Bytes at = 0; at < to.size; at += kStaging) {
            const Bytes bytes = std::min(kStaging, to.size - at);
            std::memcpy(staging, block + at, static_cast<std::size_t>(bytes));
            device.copy(Work::host_to_device, home + at, staging, bytes);
            device.finish_all();
        }
        if (section == last) std::vector<char>().swap(*apart);
    };
}

StreamedCodes::StreamedCodes(const ModelSpec& model, const StreamedPlan& plan,
                             const PlaneStore& planes, const ParameterStore& store,
                             ThreadPool& pool)
    : store_(store), pool_(pool), layers_(static_cast<std::size_t>(store.sections())) {
    for (const LayerSpec& kind : model.kinds) {
        places_.push_back(layer_layout(model, kind));
        layouts_.push_back(coded_layout(places_.back()));
    }
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        if (!plan.homes.arrives_as_codes(layer) || !plan.homes.has_bf16(layer)) continue;
        const std::size_t kind = kind_of(model, layer);
        layers_[static_cast<std::size_t>(layer)] = {planes.part(plan.buffers.host.codes, layer),
                                                    kind};
        for (Fp8Scale& scale : scales_in(at(layer).data)) scale = {};
    }
}

void StreamedCodes::rewrite(int layer,
                            const std::function<void(const AfterUpdate& after)>& update) {
    const std::size_t kind = at(layer).kind;
    Rewriting rewriting(store_.block(layer).high, places_[kind], layouts_[kind], at(layer).data,
                        pool_);
    update([&](std::int64_t begin, std::int64_t end) { rewriting.after(begin, end); });
    rewriting.finish();
}

void StreamedCodes::follow_store() {
    if (writes_seen_ == store_.writes()) return;
    writes_seen_ = store_.writes();
    for (int layer = 0; layer < store_.layers(); ++layer)
        if (has(layer))
            rewrite(layer, [&](const AfterUpdate& after) {
                pool_.parallel_for(store_.block(layer).count, kGrain, after);
            });
}

}  // namespace sluice

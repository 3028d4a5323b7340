#include "engine/memory/host_model.h"

#include <algorithm>
#include <cmath>

#include "sim/base/mixed_bits.h"

namespace sluice {
namespace {

constexpr Bytes kLine = 64;

Bytes aligned(Bytes bytes) { return (bytes + kLine - 1) / kLine * kLine; }

std::int64_t moment_blocks(std::int64_t count) { return (count + kMomentBlock - 1) / kMomentBlock; }

/// Bytes of the planes and moments that are not streamed.
Bytes state_bytes_of(std::int64_t count, int state_bytes) {
    const Bytes moment = (state_bytes - 4) / 2;
    const Bytes scales = state_bytes == 6
                             ? 2 * aligned(moment_blocks(count) * static_cast<Bytes>(sizeof(float)))
                             : 0;
    return aligned(kBf16 * count) + 2 * aligned(moment * count) + scales;
}

/// Points the block's lower plane and moments at parts of `memory`; returns their end.
char* place_state(ParameterBlock& block, char* memory) {
    const Bytes moment = (block.state_bytes - 4) / 2;
    const auto take = [&](Bytes bytes) {
        char* const part = memory;
        memory += aligned(bytes);
        return part;
    };
    block.low = reinterpret_cast<std::uint16_t*>(take(kBf16 * block.count));
    block.first_moment = take(moment * block.count);
    block.second_moment = take(moment * block.count);
    if (block.state_bytes == 6) {
        const Bytes scales = moment_blocks(block.count) * static_cast<Bytes>(sizeof(float));
        block.first_scale = reinterpret_cast<float*>(take(scales));
        block.second_scale = reinterpret_cast<float*>(take(scales));
    }
    return memory;
}

std::vector<std::int64_t> section_sizes(const ModelSpec& model) {
    std::vector<std::int64_t> sizes;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        sizes.push_back(layer_layout(model, model.layer(layer)).size);
    sizes.push_back(head_layout(model).size);
    sizes.push_back(model.vocabulary * model.hidden);
    return sizes;
}

/// Norms and biases do not decay; neither do the gaps between tensors. Ranges of 8-bit moments
/// begin at whole blocks, so that a vector's decay is that of the block it begins in.
std::vector<DecayRange> ranges_of(const std::vector<NamedTensor>& tensors, int section,
                                  std::int64_t size, std::int64_t multiple) {
    std::vector<DecayRange> ranges;
    std::int64_t at = 0;
    const auto extend = [&](std::int64_t end, bool decay) {
        end = std::min(size, (end + multiple - 1) / multiple * multiple);
        if (end <= at) return;
        if (!ranges.empty() && ranges.back().decay == decay) {
            ranges.back().end = end;
        } else {
            ranges.push_back({at, end, decay});
        }
        at = end;
    };
    for (const NamedTensor& tensor : tensors) {
        if (tensor.section != section) continue;
        extend(tensor.offset, false);
        extend(tensor.offset + tensor.elements(), !tensor.is_norm && !tensor.is_bias);
    }
    extend(size, false);
    return ranges;
}

}  // namespace

HostModel::HostModel(const ModelSpec& model, int state_bytes, ThreadPool& pool, Device& device)
    : state_bytes_(state_bytes), tensors_(named_tensors(model)) {
    const std::vector<std::int64_t> sizes = section_sizes(model);
    const bool tied = model.tied_embeddings;
    Bytes streamed = 0, state = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i + 1 < sizes.size() || tied) streamed += aligned(kBf16 * sizes[i]);
        state += state_bytes_of(sizes[i], state_bytes);
    }
    upper_ = HostRegion(streamed, "weights", pool, &device);
    if (!tied) unstreamed_upper_ = HostRegion(kBf16 * sizes.back(), "the embedding", pool);
    state_ = HostRegion(state, "optimizer states", pool);
    char* high = upper_.data();
    char* rest = state_.data();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Section& section = sections_.emplace_back();
        ParameterBlock& block = section.block;
        block.count = sizes[i];
        block.state_bytes = state_bytes;
        const bool last = i + 1 == sizes.size();
        block.high =
            reinterpret_cast<std::uint16_t*>(last && !tied ? unstreamed_upper_.data() : high);
        high += aligned(kBf16 * sizes[i]);
        rest = place_state(block, rest);
        section.decay = ranges_of(tensors_, static_cast<int>(i), block.count,
                                  state_bytes == 6 ? kMomentBlock : 1);
    }
}

void HostModel::initialise(std::uint64_t seed, float deviation, ThreadPool& pool) {
    constexpr std::int64_t kGrain = std::int64_t{1} << 16;
    std::uint64_t first = 0;  // counts all elements, in the order of the tensors
    for (const NamedTensor& tensor : tensors_) {
        const ParameterBlock& b = block(tensor.section);
        const float constant = tensor.is_norm ? 1.0F : 0.0F;
        const bool random = !tensor.is_norm && !tensor.is_bias;
        pool.parallel_for(tensor.elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto counter = first + static_cast<std::uint64_t>(i);
                const float value = random ? deviation * normal_like(seed, counter) : constant;
                const MasterPlanes planes = split_master(value);
                b.high[tensor.offset + i] = planes.high;
                b.low[tensor.offset + i] = planes.low;
            }
        });
        first += static_cast<std::uint64_t>(tensor.elements());
    }
}

}  // namespace sluice

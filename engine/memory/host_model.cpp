#include "engine/memory/host_model.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/base/mixed_bits.h"

namespace sluice {
namespace {

constexpr Bytes kPage = 4096;
constexpr Bytes kHugePage = 2 * kMiB;

}  // namespace

HostRegion::HostRegion(Bytes bytes, const char* what, ThreadPool& pool, Device* device) {
    if (bytes <= 0) return;
    void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw InputError(
            fmt::format("host memory: the system does not give {:.1f} GB for {} ({}); free memory, "
                        "or give a smaller --batch or --host-budget",
                        static_cast<double>(bytes) / kGiga, what, std::strerror(errno)));
    }
    data_ = static_cast<char*>(memory);
    bytes_ = bytes;
    madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // small pages work too
    // The first write places a page on the writing thread's node.
    pool.parallel_for(bytes, kHugePage, [this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; at += kPage)
            *static_cast<volatile char*>(data_ + at) = 0;
    });
    if (device != nullptr) device->register_host(data_, bytes_);
    device_ = device;
}

HostRegion::~HostRegion() {
    if (data_ == nullptr) return;
    if (device_ != nullptr) device_->release_host(data_);
    munmap(data_, static_cast<std::size_t>(bytes_));
}

HostRegion& HostRegion::operator=(HostRegion&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    return *this;
}

namespace {

class Namer {
  public:
    void section(int index, std::string prefix) {
        section_ = index;
        prefix_ = std::move(prefix);
    }
    void matrix(const char* name, const TensorPlace& place) { rows(name, place, 0, place.rows); }
    /// Rows [begin, begin + count) of a fused tensor.
    void rows(const char* name, const TensorPlace& place, std::int64_t begin, std::int64_t count) {
        if (place.rows == 0) return;
        NamedTensor& t = add(name, place.offset + begin * place.columns);
        t.shape = {count};
        if (place.columns > 1) t.shape.push_back(place.columns);
        t.is_bias = place.columns == 1;
    }
    void norm(const char* name, const TensorPlace& place) {
        if (place.rows == 0) return;
        NamedTensor& t = add(name, place.offset);
        t.shape = {place.rows};
        t.is_norm = true;
    }
    std::vector<NamedTensor> take() { return std::move(tensors_); }

  private:
    NamedTensor& add(const char* name, std::int64_t offset) {
        NamedTensor tensor;
        tensor.name = prefix_ + name;
        tensor.section = section_;
        tensor.offset = offset;
        return tensors_.emplace_back(std::move(tensor));
    }

    int section_ = 0;
    std::string prefix_;
    std::vector<NamedTensor> tensors_;
};

void name_layer(const ModelSpec& model, int layer, Namer& namer) {
    const AttentionSpec& a = model.layer(layer).attention;
    const std::int64_t f = model.layer(layer).feed_forward.intermediate;
    const LayerLayout l = layer_layout(model, model.layer(layer));
    const std::int64_t q = a.query_width(), k = a.key_width();
    namer.section(layer, fmt::format("model.layers.{}.", layer));
    namer.norm("input_layernorm.weight", l.input_norm);
    namer.norm("post_attention_layernorm.weight", l.feed_forward_norm);
    namer.rows("self_attn.q_proj.weight", l.qkv, 0, q);
    namer.rows("self_attn.k_proj.weight", l.qkv, q, k);
    namer.rows("self_attn.v_proj.weight", l.qkv, q + k, k);
    namer.rows("self_attn.q_proj.bias", l.qkv_bias, 0, q);
    namer.rows("self_attn.k_proj.bias", l.qkv_bias, q, k);
    namer.rows("self_attn.v_proj.bias", l.qkv_bias, q + k, k);
    namer.norm("self_attn.q_norm.weight", l.query_norm);
    namer.norm("self_attn.k_norm.weight", l.key_norm);
    namer.matrix("self_attn.o_proj.weight", l.output);
    namer.rows("mlp.gate_proj.weight", l.gate_up, 0, f);
    namer.rows("mlp.up_proj.weight", l.gate_up, f, f);
    namer.matrix("mlp.down_proj.weight", l.down);
}

}  // namespace

std::vector<NamedTensor> named_tensors(const ModelSpec& model) {
    Namer namer;
    for (int layer = 0; layer < model.layer_count(); ++layer) name_layer(model, layer, namer);
    const HeadLayout head = head_layout(model);
    namer.section(model.layer_count(), "");
    namer.matrix("lm_head.weight", head.projection);
    namer.norm("model.norm.weight", head.norm);
    namer.section(model.layer_count() + 1, "");
    namer.matrix("model.embed_tokens.weight", {0, model.vocabulary, model.hidden});
    return namer.take();
}

std::int64_t NamedTensor::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t length : shape) product *= length;
    return product;
}

namespace {

constexpr Bytes kLine = 64;

Bytes aligned(Bytes bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Bytes of the planes and moments that are not streamed.
Bytes state_bytes_of(std::int64_t count, int state_bytes) {
    ParameterBlock block;
    block.count = count;
    block.state_bytes = state_bytes;
    Bytes sum = 0;
    place_state(block, [&](Bytes bytes) {
        sum += aligned(bytes);
        return static_cast<char*>(nullptr);
    });
    return sum;
}

/// Norms and biases do not decay, nor do gaps between tensors. Ranges of 8-bit moments begin at
/// whole blocks, so a vector has the decay of the block in which it begins.
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

std::vector<std::int64_t> section_sizes(const ModelSpec& model) {
    std::vector<std::int64_t> sizes;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        sizes.push_back(layer_layout(model, model.layer(layer)).size);
    sizes.push_back(head_layout(model).size);
    sizes.push_back(model.vocabulary * model.hidden);
    return sizes;
}

ParameterBlock place_block(std::int64_t count, int state_bytes, Workspace memory) {
    return placed_block(count, state_bytes,
                        [&](Bytes bytes) { return static_cast<char*>(memory.take(bytes)); });
}

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
        place_state(block, [&](Bytes bytes) { return std::exchange(rest, rest + aligned(bytes)); });
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

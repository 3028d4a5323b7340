#include "engine/memory/parameter_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "engine/layers/adapters.h"
#include "sim/base/mixed_bits.h"
#include "sim/plan/schedules/streamed_buffers.h"
#include "sim/specs/model/model_families.h"

namespace sluice {
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
    const std::int64_t experts = model.layer(layer).feed_forward.experts;
    if (experts == 0) {
        namer.rows("mlp.gate_proj.weight", l.gate_up, 0, f);
        namer.rows("mlp.up_proj.weight", l.gate_up, f, f);
        namer.matrix("mlp.down_proj.weight", l.down);
        return;
    }
    const ModelFamily* const family = family_of_type(model.family);
    const ExpertNames names = family == nullptr ? ExpertNames{} : family->experts;
    namer.matrix(fmt::format("{}.gate.weight", names.block).c_str(), l.router);
    const auto rows = [&](std::int64_t expert, const char* name, const TensorPlace& place,
                          std::int64_t which, std::int64_t count) {
        namer.rows(fmt::format("{}.experts.{}.{}.weight", names.block, expert, name).c_str(), place,
                   which * count, count);
    };
    for (std::int64_t expert = 0; expert < experts; ++expert) {
        rows(expert, names.gate, l.gate_up, 2 * expert, f);
        rows(expert, names.up, l.gate_up, 2 * expert + 1, f);
    }
    for (std::int64_t expert = 0; expert < experts; ++expert)
        rows(expert, names.down, l.down, expert, model.hidden);
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

std::vector<NamedTensor> adapter_tensors(const ModelSpec& model, const AdapterShape& adapters) {
    std::vector<NamedTensor> out;
    const Sections sections{model.layer_count(), true};
    const std::vector<std::int64_t> begins = adapter_begins(model, adapters);
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        const AdapterLayout l = adapter_layout(model, model.layer(layer), adapters);
        const auto add = [&](const MatrixAdapters& of, AdapterTargets targets) {
            std::vector<const char*> modules;
            for (const AdapterTarget& target : kAdapterTargets)
                if ((target.bit & targets) != 0) modules.push_back(target.module);
            const auto one = [&](const char* module, const char* part, const TensorPlace& place,
                                 NamedTensor::Adapter which) {
                NamedTensor& t = out.emplace_back();
                t.name = fmt::format("base_model.model.model.layers.{}.{}.lora_{}.weight", layer,
                                     module, part);
                t.section = sections.adapters();
                t.offset = begins[static_cast<std::size_t>(layer)] + place.offset;
                t.shape = {place.rows, place.columns};
                t.adapter = which;
            };
            TensorPlace a{of.a.offset, adapters.rank, of.a.columns};
            for (std::size_t i = 0; i < modules.size(); ++i) {
                if (of.b[i].rows == 0) continue;
                one(modules[i], "A", a, NamedTensor::Adapter::a);
                a.offset += a.elements();
            }
            for (std::size_t i = 0; i < modules.size(); ++i)
                if (of.b[i].rows > 0) one(modules[i], "B", of.b[i], NamedTensor::Adapter::b);
        };
        add(l.qkv, kQkv);
        add(l.output, kOutput);
        add(l.gate_up, kGateUp);
        add(l.down, kDown);
    }
    return out;
}

std::int64_t NamedTensor::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t length : shape) product *= length;
    return product;
}

namespace {

/// Norms and biases do not decay, nor do gaps between tensors. Ranges of 8-bit moments begin at
/// whole blocks, so a vector has the decay of the block in which it begins.
std::vector<DecayRange> ranges_of(const std::vector<NamedTensor>& tensors, int section,
                                  std::int64_t size, std::int64_t multiple) {
    std::vector<DecayRange> ranges;
    std::int64_t at = 0;  // tensors of a section are in the order of their offsets
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

std::vector<std::int64_t> section_sizes(const ModelSpec& model, const AdapterShape& adapters) {
    std::vector<std::int64_t> sizes;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        sizes.push_back(layer_layout(model, model.layer(layer)).size);
    sizes.push_back(head_layout(model).size);
    sizes.push_back(model.vocabulary * model.hidden);
    if (adapters.present()) sizes.push_back(adapter_begins(model, adapters).back());
    return sizes;
}

ParameterStore::ParameterStore(const ModelSpec& model, const std::vector<ParameterBlock>& blocks,
                               const std::vector<bool>& on_device, char* staging, ThreadPool& pool,
                               Device& device, const AdapterShape& adapters, WeightCoder coder)
    : layers_(model.layer_count()),
      state_bytes_(blocks.back().state_bytes),
      pool_(pool),
      device_(device),
      staging_(staging),
      coder_(std::move(coder)),
      tensors_(named_tensors(model)) {
    if (adapters.present())
        std::ranges::move(adapter_tensors(model, adapters), std::back_inserter(tensors_));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Section& section = sections_.emplace_back();
        section.block = blocks[i];
        section.on_device = on_device[i];
        section.decay = ranges_of(tensors_, static_cast<int>(i), section.block.count,
                                  section.block.precision().has_scales() ? kMomentBlock : 1);
        for (const NamedTensor& tensor : tensors_)
            if (tensor.section == static_cast<int>(i)) section.last_tensor = tensor.name;
    }
}

namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, ThreadPool& pool) {
    constexpr std::int64_t kGrain = std::int64_t{1} << 20;
    pool.parallel_for(
        static_cast<std::int64_t>(bytes), kGrain, [&](std::int64_t begin, std::int64_t end) {
            std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
        });
}

}  // namespace

void ParameterStore::read(int section, const std::byte* from, std::span<std::byte> to) const {
    if (!on_device(section)) return copy_bytes(to.data(), from, to.size(), pool_);
    auto* const staged = reinterpret_cast<std::byte*>(staging_);
    for (std::size_t at = 0; at < to.size(); at += kStaging) {
        const std::size_t bytes = std::min<std::size_t>(kStaging, to.size() - at);
        device_.copy(Work::device_to_host, staged, from + at, static_cast<Bytes>(bytes));
        device_.finish_all();
        copy_bytes(to.data() + at, staged, bytes, pool_);
    }
}

void ParameterStore::write(int section, std::byte* to, std::span<const std::byte> from) {
    ++writes_;
    if (!on_device(section)) return copy_bytes(to, from.data(), from.size(), pool_);
    auto* const staged = reinterpret_cast<std::byte*>(staging_);
    for (std::size_t at = 0; at < from.size(); at += kStaging) {
        const std::size_t bytes = std::min<std::size_t>(kStaging, from.size() - at);
        copy_bytes(staged, from.data() + at, bytes, pool_);
        device_.copy(Work::host_to_device, to + at, staged, static_cast<Bytes>(bytes));
        device_.finish_all();
    }
}

void ParameterStore::set_masters(const NamedTensor& tensor, const MasterValues& values) {
    constexpr std::int64_t kGrain = std::int64_t{1} << 16, kAtOnce = 4096;
    ++writes_;
    const ParameterBlock& own = block(tensor.section);
    const bool coded = own.high == nullptr, staged = on_device(tensor.section) && !coded;
    ParameterBlock home = own;
    if (coded) {
        if (std::ssize(uncoded_) < own.count) uncoded_.resize(static_cast<std::size_t>(own.count));
        home.high = uncoded_.data();
    }
    const int low_bytes = home.precision().low_bytes;
    const std::int64_t all = tensor.elements(), most = staged ? kStaging / (2 * kBf16) : all;
    for (std::int64_t first = 0; first < all; first += most) {
        const std::int64_t count = std::min(most, all - first);
        ParameterBlock at_home = home;
        at_home.high += tensor.offset + first;
        if (low_bytes > 0)
            at_home.low = static_cast<char*>(home.low) + low_bytes * (tensor.offset + first);
        ParameterBlock planes = at_home;
        if (staged) {
            planes.high = reinterpret_cast<std::uint16_t*>(staging_);
            planes.low = planes.high + most;
        }
        pool_.parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
            float piece[kAtOnce];
            for (std::int64_t at = begin; at < end; at += kAtOnce) {
                const std::int64_t length = std::min(kAtOnce, end - at);
                values(first + at, length, piece);
                for (std::int64_t i = 0; i < length; ++i) set_master(planes, at + i, piece[i]);
            }
        });
        if (!staged) continue;
        device_.copy(Work::host_to_device, at_home.high, planes.high, kBf16 * count);
        if (low_bytes > 0)
            device_.copy(Work::host_to_device, at_home.low, planes.low, low_bytes * count);
        device_.finish_all();
    }
    if (coded && tensor.name == at(tensor.section).last_tensor) {
        coder_(tensor.section, uncoded_.data());
        if (block(tensor.section + 1).high != nullptr) std::vector<std::uint16_t>().swap(uncoded_);
    }
}

void ParameterStore::initialise(std::uint64_t seed, float deviation) {
    std::uint64_t before = 0;  // elements of the tensors before
    for (const NamedTensor& tensor : tensors_) {
        if (tensor.adapter != NamedTensor::Adapter::no) continue;
        const float constant = tensor.is_norm ? 1.0F : 0.0F;
        const bool random = !tensor.is_norm && !tensor.is_bias;
        set_masters(tensor, [&](std::int64_t begin, std::int64_t count, float* out) {
            const std::uint64_t first = before + static_cast<std::uint64_t>(begin);
            for (std::int64_t i = 0; i < count; ++i)
                out[i] = random
                             ? deviation * normal_like(seed, first + static_cast<std::uint64_t>(i))
                             : constant;
        });
        before += static_cast<std::uint64_t>(tensor.elements());
    }
}

void ParameterStore::initialise_adapters(std::uint64_t seed) {
    // Other bits than initialise() draws.
    constexpr std::uint64_t kOfAdapters = std::uint64_t{1} << 48;
    std::uint64_t before = kOfAdapters;
    for (const NamedTensor& tensor : tensors_) {
        if (tensor.adapter == NamedTensor::Adapter::no) continue;
        const float bound = tensor.adapter == NamedTensor::Adapter::a
                                ? 1.0F / std::sqrt(static_cast<float>(tensor.shape.back()))
                                : 0.0F;
        set_masters(tensor, [&](std::int64_t begin, std::int64_t count, float* out) {
            for (std::int64_t i = 0; i < count; ++i) {
                constexpr float kHalf = 0x1p31F;
                const std::uint64_t bits =
                    mixed_bits(seed ^ mixed_bits(before + static_cast<std::uint64_t>(begin + i)));
                out[i] = bound * (static_cast<float>(bits >> 32) - kHalf) / kHalf;
            }
        });
        before += static_cast<std::uint64_t>(tensor.elements());
    }
}

}  // namespace sluice

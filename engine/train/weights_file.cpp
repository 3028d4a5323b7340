#include "engine/train/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

Dtype moment_dtype(int state_bytes) {
    return state_bytes == 12 ? Dtype::f32 : state_bytes == 8 ? Dtype::bf16 : Dtype::u8;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes, ThreadPool& pool) {
    pool.parallel_for(
        static_cast<std::int64_t>(bytes), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
            std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
        });
}

}  // namespace

std::vector<HostTensor> weight_tensors(const HostModel& host) {
    std::vector<HostTensor> tensors;
    for (const NamedTensor& tensor : host.tensors()) {
        std::uint16_t* const high = host.block(tensor.section).high + tensor.offset;
        tensors.push_back(
            {{tensor.name, Dtype::bf16, tensor.shape}, reinterpret_cast<std::byte*>(high)});
    }
    return tensors;
}

std::vector<HostTensor> optimizer_tensors(const HostModel& host) {
    std::vector<HostTensor> tensors;
    const Dtype moments = moment_dtype(host.state_bytes());
    for (int section = 0; section < host.sections(); ++section) {
        const ParameterBlock& block = host.block(section);
        const auto add = [&](const char* plane, Dtype dtype, void* data, std::int64_t count) {
            tensors.push_back({{fmt::format("sections.{}.{}", section, plane), dtype, {count}},
                               static_cast<std::byte*>(data)});
        };
        add("low", Dtype::u16, block.low, block.count);
        add("exp_avg", moments, block.first_moment, block.count);
        add("exp_avg_sq", moments, block.second_moment, block.count);
        if (block.first_scale == nullptr) continue;
        const std::int64_t scales = (block.count + kMomentBlock - 1) / kMomentBlock;
        add("exp_avg_scale", Dtype::f32, block.first_scale, scales);
        add("exp_avg_sq_scale", Dtype::f32, block.second_scale, scales);
    }
    return tensors;
}

void write_tensors(const std::string& folder, const std::string& stem,
                   const std::vector<HostTensor>& tensors, std::int64_t max_shard_bytes,
                   ThreadPool& pool) {
    std::vector<TensorSpec> specs;
    for (const HostTensor& tensor : tensors) specs.push_back(tensor.spec);
    const auto produce = [&](std::size_t tensor, std::int64_t begin, std::span<std::byte> chunk) {
        copy_bytes(chunk.data(), tensors[tensor].data + begin, chunk.size(), pool);
    };
    write_checkpoint(folder, stem, specs, max_shard_bytes, produce);
}

Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<HostTensor>& tensors) {
    const fs::path index = fs::path(folder) / tensors_index(stem);
    const fs::path single = fs::path(folder) / tensors_file(stem);
    std::error_code error;
    Checkpoint found = open_checkpoint((fs::exists(index, error) ? index : single).string());
    for (const HostTensor& tensor : tensors) {
        const TensorView view = found.tensor(tensor.spec.name);
        if (view.dtype == tensor.spec.dtype && view.shape == tensor.spec.shape) continue;
        throw InputError(
            fmt::format("{}: tensor \"{}\" is {} {}, expected {} {}; it belongs to another "
                        "checkpoint: resume from another one",
                        view.file, view.name, dtype_name(view.dtype), shown_shape(view.shape),
                        dtype_name(tensor.spec.dtype), shown_shape(tensor.spec.shape)));
    }
    if (const std::size_t count = found.names().size(); count != tensors.size()) {
        throw InputError(
            fmt::format("{}: has {} tensors, expected {}; it belongs to another checkpoint: resume "
                        "from another one",
                        found.path(), count, tensors.size()));
    }
    return found;
}

void copy_tensors(const Checkpoint& from, const std::vector<HostTensor>& tensors,
                  ThreadPool& pool) {
    for (const HostTensor& tensor : tensors) {
        const TensorView view = from.tensor(tensor.spec.name);
        copy_bytes(tensor.data, view.bytes.data(), view.bytes.size(), pool);
    }
}

namespace {

constexpr std::string_view kProjection = "lm_head.weight";
constexpr std::string_view kEmbedding = "model.embed_tokens.weight";

void check_tensor(const Checkpoint& file, const NamedTensor& expected, const ModelSpec& model) {
    if (!file.has(expected.name)) {
        if (expected.name == kProjection) {
            throw InputError(
                fmt::format("{}: has no tensor \"{}\", so its output projection is its embedding; "
                            "leave out --untied, or give a --model with tie_word_embeddings true",
                            file.path(), kProjection));
        }
        throw InputError(
            fmt::format("{}: has no tensor \"{}\", expected one of shape {}; give the --model of "
                        "these weights, "
                        "not {}",
                        file.path(), expected.name, shown_shape(expected.shape), model.name));
    }
    const TensorView tensor = file.tensor(expected.name);
    if (tensor.shape != expected.shape) {
        throw InputError(
            fmt::format("{}: tensor \"{}\" has shape {}, expected {}; give the --model of these "
                        "weights, not {}",
                        tensor.file, expected.name, shown_shape(tensor.shape),
                        shown_shape(expected.shape), model.name));
    }
    float ignored = 0;
    read_as_fp32(tensor, 0, 0, &ignored);  // refuses types that are not weights
}

/// Older checkpoints store the projection of a tied model a second time.
void check_tied_projection(const Checkpoint& file, const ModelSpec& model) {
    const TensorView projection = file.tensor(kProjection), embedding = file.tensor(kEmbedding);
    if (projection.dtype == embedding.dtype && projection.shape == embedding.shape &&
        std::memcmp(projection.bytes.data(), embedding.bytes.data(), embedding.bytes.size()) == 0)
        return;
    throw InputError(
        fmt::format("{}: tensor \"{}\" differs from \"{}\", expected the same numbers, {} being "
                    "tied; give --untied, or a --model with tie_word_embeddings false",
                    projection.file, kProjection, kEmbedding, model.name));
}

void check_others(const Checkpoint& file, const HostModel& host, const ModelSpec& model) {
    std::unordered_set<std::string_view> known;
    for (const NamedTensor& tensor : host.tensors()) known.insert(tensor.name);
    std::vector<std::string> others;
    for (const std::string& name : file.names()) {
        if (known.contains(name) || name.ends_with("rotary_emb.inv_freq")) continue;
        if (name == kProjection) {
            check_tied_projection(file, model);
        } else {
            others.push_back(name);
        }
    }
    if (others.empty()) return;
    throw InputError(
        fmt::format("{}: has tensor {}{}, expected no such tensor in {} layers of {}; give the "
                    "--model of these weights",
                    file.path(), in_quotes(others.front()),
                    others.size() > 1 ? fmt::format(" and {} more", others.size() - 1) : "",
                    model.layer_count(), model.name));
}

bool is_finite_bf16(std::uint16_t bits) {
    constexpr std::uint16_t kExponent = 0x7F80;
    return (bits & kExponent) != kExponent;
}

[[noreturn]] void refuse_number(const TensorView& tensor, std::int64_t element, float value) {
    throw InputError(
        fmt::format("{}: tensor \"{}\" has {} at element {}, expected finite numbers that BF16 can "
                    "hold, below 3.396e38; download the weights again, or in BF16",
                    tensor.file, tensor.name, value, element));
}

/// Elements [begin, end) of the tensor into both planes.
void fill_range(const TensorView& from, const ParameterBlock& block, std::int64_t offset,
                std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kAtOnce = 4096;
    float values[kAtOnce];
    for (std::int64_t at = begin; at < end; at += kAtOnce) {
        const std::int64_t count = std::min(kAtOnce, end - at);
        read_as_fp32(from, at, count, values);
        for (std::int64_t i = 0; i < count; ++i) {
            const MasterPlanes planes = split_master(values[i]);
            if (!std::isfinite(values[i]) || !is_finite_bf16(planes.high))
                refuse_number(from, at + i, values[i]);
            block.high[offset + at + i] = planes.high;
            block.low[offset + at + i] = planes.low;
        }
    }
}

void clear_state(HostModel& host, ThreadPool& pool) {
    for (const HostTensor& tensor : optimizer_tensors(host)) {
        pool.parallel_for(
            tensor_bytes(tensor.spec), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
                std::memset(tensor.data + begin, 0, static_cast<std::size_t>(end - begin));
            });
    }
}

}  // namespace

void load_weights(const std::string& path, const ModelSpec& model, HostModel& host,
                  ThreadPool& pool) {
    const Checkpoint file = open_checkpoint(path);
    for (const NamedTensor& tensor : host.tensors()) check_tensor(file, tensor, model);
    check_others(file, host, model);
    clear_state(host, pool);
    for (const NamedTensor& tensor : host.tensors()) {
        const TensorView from = file.tensor(tensor.name);
        const ParameterBlock& block = host.block(tensor.section);
        pool.parallel_for(tensor.elements(), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
            fill_range(from, block, tensor.offset, begin, end);
        });
    }
}

}  // namespace sluice

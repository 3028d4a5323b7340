#include "engine/train/host_tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "engine/data/checkpoint_writer.h"
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

}  // namespace sluice

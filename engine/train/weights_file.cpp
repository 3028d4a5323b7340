#include "engine/train/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>

#include "engine/data/checksum.h"
#include "engine/optimizer/moment_conversion.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

Dtype moment_dtype(int bytes) {
    return bytes == 4 ? Dtype::f32 : bytes == 2 ? Dtype::bf16 : Dtype::u8;
}

}  // namespace

std::vector<StoredTensor> weight_tensors(const ParameterStore& store) {
    std::vector<StoredTensor> tensors;
    for (const NamedTensor& tensor : store.tensors()) {
        if (!store.is_trained(tensor.section)) continue;
        std::uint16_t* const high = store.block(tensor.section).high + tensor.offset;
        tensors.push_back({{tensor.name, Dtype::bf16, tensor.shape},
                           tensor.section,
                           reinterpret_cast<std::byte*>(high)});
    }
    return tensors;
}

namespace {

constexpr const char* kLow = "low";

std::string plane_name(int section, const char* plane) {
    return fmt::format("sections.{}.{}", section, plane);
}

ParameterBlock empty_block(std::int64_t count, int state_bytes) {
    ParameterBlock block;
    block.count = count;
    block.state_bytes = state_bytes;
    return block;
}

std::vector<StoredTensor> section_tensors(int section, const ParameterBlock& block) {
    std::vector<StoredTensor> tensors;
    const StatePrecision& precision = block.precision();
    const Dtype moments = moment_dtype(precision.moment_bytes);
    const auto add = [&](const char* plane, Dtype dtype, void* data, std::int64_t count) {
        tensors.push_back(
            {{plane_name(section, plane), dtype, {count}}, section, static_cast<std::byte*>(data)});
    };
    if (precision.low_bytes > 0)
        add(kLow, precision.low_bytes == 2 ? Dtype::u16 : Dtype::u8, block.low, block.count);
    add("exp_avg", moments, block.first_moment, block.count);
    add("exp_avg_sq", moments, block.second_moment, block.count);
    if (!precision.has_scales()) return tensors;
    const std::int64_t scales = (block.count + kMomentBlock - 1) / kMomentBlock;
    add("exp_avg_scale", Dtype::f32, block.first_scale, scales);
    add("exp_avg_sq_scale", Dtype::f32, block.second_scale, scales);
    return tensors;
}

}  // namespace

std::string lower_plane_name(int section) { return plane_name(section, kLow); }

std::vector<StoredTensor> optimizer_tensors(const ParameterStore& store, int state_bytes) {
    std::vector<StoredTensor> tensors;
    for (int section = 0; section < store.sections(); ++section) {
        ParameterBlock block = store.block(section);
        if (!block.is_trained()) continue;
        if (state_bytes != block.state_bytes) block = empty_block(block.count, state_bytes);
        std::ranges::move(section_tensors(section, block), std::back_inserter(tensors));
    }
    return tensors;
}

ReadState reader_of(const ParameterStore& store) {
    return [&store](int section, const std::byte* from, std::span<std::byte> to) {
        store.read(section, from, to);
    };
}

std::vector<FileChecksum> write_tensors(const std::string& folder, const std::string& stem,
                                        const ReadState& read,
                                        const std::vector<StoredTensor>& tensors,
                                        std::int64_t max_shard_bytes) {
    std::vector<TensorSpec> specs;
    for (const StoredTensor& tensor : tensors) specs.push_back(tensor.spec);
    const auto produce = [&](std::size_t tensor, std::int64_t begin, std::span<std::byte> chunk) {
        read(tensors[tensor].section, tensors[tensor].data + begin, chunk);
    };
    return write_checkpoint(folder, stem, specs, max_shard_bytes, produce);
}

Checkpoint open_tensors(const std::string& folder, const std::string& stem) {
    const fs::path index = fs::path(folder) / tensors_index(stem);
    const fs::path single = fs::path(folder) / tensors_file(stem);
    std::error_code error;
    return open_checkpoint((fs::exists(index, error) ? index : single).string());
}

Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<StoredTensor>& tensors) {
    Checkpoint found = open_tensors(folder, stem);
    for (const StoredTensor& tensor : tensors) {
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

void copy_tensors(const Checkpoint& from, const std::vector<StoredTensor>& tensors,
                  ParameterStore& store) {
    for (const StoredTensor& tensor : tensors)
        store.write(tensor.section, tensor.data, from.tensor(tensor.spec.name).bytes);
}

namespace {

/// Elements [begin, begin + count) of a section in memory of their own, with lower planes and
/// moments. `begin` is a multiple of kMomentBlock.
class Piece {
  public:
    Piece(int section, std::int64_t begin, std::int64_t count, int state_bytes)
        : block_(empty_block(count, state_bytes)),
          before_(section_tensors(section, empty_block(begin, state_bytes))) {
        place_state(block_, [this](std::int64_t bytes) {
            return memory_.emplace_back(static_cast<std::size_t>(bytes)).data();
        });
    }

    const ParameterBlock& block() const { return block_; }
    void read(const Checkpoint& from) {
        for (std::size_t i = 0; i < before_.size(); ++i)
            std::memcpy(memory_[i].data(),
                        from.tensor(before_[i].spec.name).bytes.data() + offset(i),
                        memory_[i].size());
    }
    void write(ParameterStore& store, int section) const {
        const std::vector<StoredTensor> homes = section_tensors(section, store.block(section));
        for (std::size_t i = 0; i < homes.size(); ++i)
            store.write(section, homes[i].data + offset(i), memory_[i]);
    }

  private:
    std::int64_t offset(std::size_t i) const { return tensor_bytes(before_[i].spec); }

    ParameterBlock block_;
    std::vector<StoredTensor> before_;           ///< the piece, tensor by tensor
    std::deque<std::vector<std::byte>> memory_;  ///< in the order of section_tensors()
};

}  // namespace

void convert_optimizer(const Checkpoint& from, int state_bytes, ParameterStore& store) {
    constexpr std::int64_t kPiece = 8192 * kMomentBlock;
    for (int section = 0; section < store.sections(); ++section) {
        const std::int64_t all = store.is_trained(section) ? store.block(section).count : 0;
        for (std::int64_t begin = 0; begin < all; begin += kPiece) {
            const std::int64_t count = std::min(kPiece, all - begin);
            Piece found(section, begin, count, state_bytes);
            const Piece wanted(section, begin, count, store.state_bytes());
            found.read(from);
            convert_moments(found.block(), wanted.block());
            convert_low_planes(found.block(), wanted.block());
            wanted.write(store, section);
        }
    }
}

}  // namespace sluice

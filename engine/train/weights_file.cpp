#include "engine/train/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <unordered_set>

#include "engine/data/checksum.h"
#include "engine/optimizer/moment_conversion.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

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
        std::uint16_t* const high = store.block(tensor.section).high + tensor.offset;
        tensors.push_back({{tensor.name, Dtype::bf16, tensor.shape},
                           tensor.section,
                           reinterpret_cast<std::byte*>(high)});
    }
    return tensors;
}

namespace {

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
        tensors.push_back({{fmt::format("sections.{}.{}", section, plane), dtype, {count}},
                           section,
                           static_cast<std::byte*>(data)});
    };
    if (precision.low_bytes > 0)
        add("low", precision.low_bytes == 2 ? Dtype::u16 : Dtype::u8, block.low, block.count);
    add("exp_avg", moments, block.first_moment, block.count);
    add("exp_avg_sq", moments, block.second_moment, block.count);
    if (!precision.has_scales()) return tensors;
    const std::int64_t scales = (block.count + kMomentBlock - 1) / kMomentBlock;
    add("exp_avg_scale", Dtype::f32, block.first_scale, scales);
    add("exp_avg_sq_scale", Dtype::f32, block.second_scale, scales);
    return tensors;
}

}  // namespace

std::vector<StoredTensor> optimizer_tensors(const ParameterStore& store, int state_bytes) {
    std::vector<StoredTensor> tensors;
    for (int section = 0; section < store.sections(); ++section) {
        ParameterBlock block = store.block(section);
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

Checkpoint open_tensors(const std::string& folder, const std::string& stem,
                        const std::vector<StoredTensor>& tensors) {
    const fs::path index = fs::path(folder) / tensors_index(stem);
    const fs::path single = fs::path(folder) / tensors_file(stem);
    std::error_code error;
    Checkpoint found = open_checkpoint((fs::exists(index, error) ? index : single).string());
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
        const std::int64_t all = store.block(section).count;
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

void check_others(const Checkpoint& file, const ParameterStore& store, const ModelSpec& model) {
    std::unordered_set<std::string_view> known;
    for (const NamedTensor& tensor : store.tensors()) known.insert(tensor.name);
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
    return (bits & 0x7F80) != 0x7F80;  // its exponent
}

[[noreturn]] void refuse_number(const TensorView& tensor, std::int64_t element, float value) {
    throw InputError(
        fmt::format("{}: tensor \"{}\" has {} at element {}, expected finite numbers that BF16 can "
                    "hold, below 3.396e38; download the weights again, or in BF16",
                    tensor.file, tensor.name, value, element));
}

/// Refuses what is not finite, also in BF16.
void check_numbers(const TensorView& tensor, std::int64_t begin, std::span<const float> values) {
    for (const float& value : values)
        if (!std::isfinite(value) || !is_finite_bf16(split_master(value).high))
            refuse_number(tensor, begin + (&value - values.data()), value);
}

/// A checkpoint of this program has the checksums of its files beside them.
void verify_weights(const Checkpoint& file, const ParameterStore& store) {
    const fs::path folder = fs::path(file.path()).parent_path();
    const std::string list = (folder / kChecksumsFile).string();
    std::error_code error;
    if (!fs::exists(list, error)) return;
    std::unordered_set<std::string> read;
    for (const NamedTensor& tensor : store.tensors()) read.insert(file.tensor(tensor.name).file);
    std::vector<FileChecksum> files = parse_checksums(read_text_file(list), list);
    std::erase_if(
        files, [&](const FileChecksum& f) { return !read.contains((folder / f.name).string()); });
    try {
        verify_files(folder.string(), files);
    } catch (const InputError& damage) {
        throw InputError(
            fmt::format("{}; load another checkpoint, or remove {} if the change is "
                        "meant",
                        damage.what(), list));
    }
}

}  // namespace

void load_weights(const std::string& path, const ModelSpec& model, ParameterStore& store) {
    const Checkpoint file = open_checkpoint(path);
    for (const NamedTensor& tensor : store.tensors()) check_tensor(file, tensor, model);
    check_others(file, store, model);
    verify_weights(file, store);
    for (const NamedTensor& tensor : store.tensors()) {
        const TensorView from = file.tensor(tensor.name);
        store.set_masters(tensor, [&](std::int64_t begin, std::int64_t count, float* out) {
            read_as_fp32(from, begin, count, out);
            check_numbers(from, begin, {out, static_cast<std::size_t>(count)});
        });
    }
}

}  // namespace sluice

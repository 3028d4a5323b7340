#include "engine/data/checkpoint.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <set>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors in files are little-endian");

/// IEEE half precision to single: the exponent is 112 larger. Subnormals get the exponent of 2^-14,
/// which is then subtracted. So no operand is subnormal, since some threads are set to read those
/// as 0.
float half_to_float(std::uint16_t half) {
    constexpr std::uint32_t kExponent = 0x7C00U << 13;
    constexpr std::uint32_t kSmallestNormal = 113U << 23;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t magnitude = (half & 0x7FFFU) << 13;
    const std::uint32_t exponent = magnitude & kExponent;
    const std::uint32_t normal = magnitude + (112U << 23);
    const auto subnormal = std::bit_cast<std::uint32_t>(
        std::bit_cast<float>(magnitude + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal));
    const std::uint32_t not_finite = magnitude | 0x7F800000U;
    return std::bit_cast<float>(sign | (exponent == 0           ? subnormal
                                        : exponent == kExponent ? not_finite
                                                                : normal));
}

template <typename Stored, typename Convert>
void convert_all(const std::byte* from, std::int64_t count, float* out, Convert convert) {
    for (std::int64_t i = 0; i < count; ++i) {
        Stored value;
        std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof(Stored)), sizeof(Stored));
        out[i] = convert(value);
    }
}

}  // namespace

void read_as_fp32(const TensorView& tensor, std::int64_t begin, std::int64_t count, float* out) {
    if (begin < 0 || count < 0 || count > tensor.elements() || begin > tensor.elements() - count)
        throw InternalError(fmt::format("{}: {} elements from {} asked for, {} has {}", tensor.file,
                                        count, begin, in_quotes(tensor.name), tensor.elements()));
    const std::byte* from = tensor.bytes.data() + begin * dtype_bytes(tensor.dtype);
    switch (tensor.dtype) {
        case Dtype::bf16:
            return convert_all<std::uint16_t>(from, count, out, bf16_to_float);
        case Dtype::f16:
            return convert_all<std::uint16_t>(from, count, out, half_to_float);
        case Dtype::f32:
            return convert_all<float>(from, count, out, [](float value) { return value; });
        case Dtype::f64:
            return convert_all<double>(from, count, out,
                                       [](double value) { return static_cast<float>(value); });
        default:
            throw InputError(
                fmt::format("{}: tensor {} is {}, expected BF16, F16, F32 or F64; convert the "
                            "checkpoint to BF16",
                            tensor.file, in_quotes(tensor.name), dtype_name(tensor.dtype)));
    }
}

namespace {

namespace fs = std::filesystem;

Checkpoint open_file(const std::string& path) {
    Checkpoint checkpoint(path);
    checkpoint.add_file(path);
    return checkpoint;
}

void refuse_missing_shard(const std::string& index, const std::string& shard,
                          const std::set<std::string>& tensors) {
    std::error_code error;
    if (fs::exists(shard, error)) return;
    const std::string& first = *tensors.begin();
    const bool may_be_tied = tensors.size() == 1 && first == "lm_head.weight";
    throw InputError(fmt::format(
        "{}: weight_map: {}{} should be in {}, which does not exist; download or save that file, "
        "too{}",
        index, in_quotes(first),
        tensors.size() > 1 ? fmt::format(" and {} more", tensors.size() - 1) : "", shard,
        may_be_tied ? ", or remove the entry if the model's embeddings are tied" : ""));
}

Checkpoint open_index(const std::string& path) {
    const JsonObject index = JsonObject::parse(read_text_file(path), path);
    const JsonObject weight_map = index.object("weight_map");
    std::map<std::string, std::set<std::string>> tensors_of;
    for (const std::string& tensor : weight_map.keys()) {
        const std::string file = weight_map.text(tensor);
        // Shards are in the folder of their index; a path could lead anywhere.
        if (file.empty() || file.find('/') != std::string::npos)
            throw InputError(
                fmt::format("{}: weight_map: {} is {}, expected the name of a file in the same "
                            "folder; correct the index",
                            path, in_quotes(tensor), in_quotes(file)));
        tensors_of[file].insert(tensor);
    }
    if (tensors_of.empty())
        throw InputError(fmt::format("{}: weight_map is empty; download the index again", path));
    Checkpoint checkpoint(path);
    for (const auto& [file, names] : tensors_of) {
        const auto& tensors = names;  // Clang 14 captures no structured binding
        const std::string shard = (fs::path(path).parent_path() / file).string();
        refuse_missing_shard(path, shard, tensors);
        checkpoint.add_file(shard, [&](const std::string& name) { return tensors.contains(name); });
        for (const std::string& tensor : tensors)
            if (!checkpoint.has(tensor))
                throw InputError(
                    fmt::format("{}: weight_map: {} should be in {}, which has no such tensor; "
                                "download the index and its shards again",
                                path, in_quotes(tensor), in_quotes(file)));
    }
    return checkpoint;
}

Checkpoint open_folder(const std::string& path) {
    const fs::path folder(path);
    std::error_code error;
    const std::string stem = "model";
    const std::string file = (folder / tensors_file(stem)).string();
    if (fs::exists(file, error)) return open_file(file);
    const std::string index = (folder / tensors_index(stem)).string();
    if (fs::exists(index, error)) return open_index(index);
    for (const char* name : {"adapter_model.safetensors", "adapter_config.json"})
        if (fs::exists(folder / name, error))
            throw InputError(fmt::format("{}: {} ({})", path, kAdapterWords, name));
    throw InputError(
        fmt::format("{}: holds neither {} nor {}; save or download the model as safetensors", path,
                    tensors_file(stem), tensors_index(stem)));
}

}  // namespace

std::string tensors_file(const std::string& stem) { return stem + ".safetensors"; }

std::string tensors_index(const std::string& stem) { return stem + ".safetensors.index.json"; }

void Checkpoint::add_file(const std::string& file,
                          const std::function<bool(const std::string&)>& wanted) {
    const auto bytes = files_.emplace_back(file).bytes();
    for (TensorEntry& entry : read_safetensors_header(bytes, file)) {
        if (!wanted(entry.name)) continue;
        const auto begin = static_cast<std::size_t>(entry.begin);
        tensors_.insert_or_assign(
            entry.name,
            TensorView{file, entry.name, entry.dtype, std::move(entry.shape),
                       bytes.subspan(begin, static_cast<std::size_t>(entry.end) - begin)});
    }
}

std::vector<std::string> Checkpoint::names() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
}

const TensorView& Checkpoint::tensor(std::string_view name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    const std::string hint = did_you_mean(name, names());
    throw InputError(fmt::format("{}: has no tensor {}{}", path_, in_quotes(name),
                                 hint.empty() ? "; give a checkpoint of this model" : hint));
}

Checkpoint open_checkpoint(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return open_folder(path);
    return path.ends_with(".json") ? open_index(path) : open_file(path);
}

}  // namespace sluice

// How are weights of other programs loaded, and which are refused?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "engine/data/checksum.h"
#include "engine/train/weights_file.h"
#include "engine/train/weights_mismatch.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

/// Older checkpoints store the projection of a tied model a second time. Compares its first bytes.
void check_tied_projection(const Checkpoint& file, const ModelSpec& model, std::size_t first) {
    if (!model.tied_embeddings || !file.has(kProjection)) return;
    const TensorView projection = file.tensor(kProjection), embedding = file.tensor(kEmbedding);
    if (projection.dtype == embedding.dtype && projection.shape == embedding.shape &&
        std::memcmp(projection.bytes.data(), embedding.bytes.data(),
                    std::min(first, embedding.bytes.size())) == 0)
        return;
    throw InputError(
        fmt::format("{}: tensor \"{}\" differs from \"{}\", expected the same numbers, {} being "
                    "tied; give --untied, or a --model with tie_word_embeddings false",
                    projection.file, kProjection, kEmbedding, model.name));
}

Checkpoint open_weights(const std::string& path, const ModelSpec& model,
                        const std::vector<NamedTensor>& tensors) {
    Checkpoint file = open_checkpoint(path);
    refuse_mismatch(file, tensors, model);
    return file;
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
void verify_weights(const Checkpoint& file, const std::vector<NamedTensor>& tensors) {
    const std::filesystem::path folder = std::filesystem::path(file.path()).parent_path();
    const std::string list = (folder / kChecksumsFile).string();
    if (!is_there(list)) return;
    std::unordered_set<std::string> read;
    for (const NamedTensor& tensor : tensors) read.insert(file.tensor(tensor.name).file);
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

/// The model as the file has it: perhaps of fewer tokens.
ModelSpec model_of_file(const std::string& path, const ModelSpec& model,
                        std::optional<std::int64_t> fewer_tokens) {
    if (!fewer_tokens) return model;
    const Checkpoint file = open_checkpoint(path);
    const bool is_resized = file.has(kEmbedding) && !file.tensor(kEmbedding).shape.empty() &&
                            file.tensor(kEmbedding).shape.front() == model.vocabulary;
    ModelSpec out = model;
    if (!is_resized) out.vocabulary = *fewer_tokens;
    return out;
}

/// The mean of a table's rows.
std::vector<float> mean_row(const TensorView& table) {
    const std::int64_t rows = table.shape.front(), columns = table.elements() / rows;
    std::vector<double> sums(static_cast<std::size_t>(columns));
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < rows; ++i) {
        read_as_fp32(table, i * columns, columns, row.data());
        for (std::size_t k = 0; k < row.size(); ++k) sums[k] += row[k];
    }
    for (std::size_t k = 0; k < row.size(); ++k)
        row[k] = static_cast<float>(sums[k] / static_cast<double>(rows));
    return row;
}

}  // namespace

void check_weights(const std::string& path, const ModelSpec& model,
                   std::optional<std::int64_t> fewer_tokens) {
    constexpr std::size_t kTellsThemApart = 4096;  // load_weights() reads all, once
    const ModelSpec stored = model_of_file(path, model, fewer_tokens);
    check_tied_projection(open_weights(path, stored, named_tensors(stored)), stored,
                          kTellsThemApart);
}

void load_weights(const std::string& path, const ModelSpec& model, ParameterStore& store,
                  std::optional<std::int64_t> fewer_tokens) {
    const ModelSpec stored = model_of_file(path, model, fewer_tokens);
    const std::vector<NamedTensor> tensors = named_tensors(model);
    const Checkpoint file = open_weights(path, stored, named_tensors(stored));
    check_tied_projection(file, stored, std::string_view::npos);
    verify_weights(file, tensors);
    for (const NamedTensor& tensor : tensors) {
        const TensorView from = file.tensor(tensor.name);
        const std::int64_t known = from.elements();
        const std::vector<float> others =
            known < tensor.elements() ? mean_row(from) : std::vector<float>();
        store.set_masters(tensor, [&](std::int64_t begin, std::int64_t count, float* out) {
            const std::int64_t read = std::clamp<std::int64_t>(known - begin, 0, count);
            if (read > 0) read_as_fp32(from, begin, read, out);
            for (std::int64_t i = read; i < count; ++i)
                out[i] = others[static_cast<std::size_t>((begin + i) % std::ssize(others))];
            check_numbers(from, begin, {out, static_cast<std::size_t>(count)});
        });
    }
}

}  // namespace sluice

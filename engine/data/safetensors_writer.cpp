#include "engine/data/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "engine/data/output_file.h"
#include "engine/data/safetensors_header.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors in files are little-endian");

void check_names(const std::vector<TensorSpec>& tensors) {
    std::set<std::string> seen{"__metadata__"};
    for (const TensorSpec& tensor : tensors) {
        if (!seen.insert(tensor.name).second) {
            throw InternalError(
                fmt::format("tensor {} to be written twice", in_quotes(tensor.name)));
        }
    }
}

/// The header's length in 8 bytes, then the header.
std::string with_length(std::string header) {
    header.append((8 - header.size() % 8) % 8, ' ');
    const std::uint64_t length = header.size();
    std::string prefix(sizeof(length), '\0');
    std::memcpy(prefix.data(), &length, sizeof(length));
    return prefix + header;
}

}  // namespace

std::int64_t tensor_bytes(const TensorSpec& tensor) {
    const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
    if (!bytes) {
        throw InternalError(
            fmt::format("tensor {}: shape {}", in_quotes(tensor.name), shown_shape(tensor.shape)));
    }
    return *bytes;
}

SafetensorsWriter::SafetensorsWriter(std::vector<TensorSpec> tensors)
    : tensors_(std::move(tensors)), order_(tensors_.size()) {
    check_names(tensors_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(tensors_[b].dtype, std::string_view(tensors_[a].name)) <
               std::pair(tensors_[a].dtype, std::string_view(tensors_[b].name));
    });
    std::string header = R"({"__metadata__":{"format":"pt"})";
    for (const std::size_t i : order_) {
        const TensorSpec& tensor = tensors_[i];
        const std::int64_t end = data_bytes_ + tensor_bytes(tensor);
        header += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                              nlohmann::json(tensor.name).dump(), dtype_name(tensor.dtype),
                              fmt::join(tensor.shape, ","), data_bytes_, end);
        data_bytes_ = end;
    }
    prefix_ = with_length(header + "}");
}

std::int64_t SafetensorsWriter::file_bytes() const {
    return static_cast<std::int64_t>(prefix_.size()) + data_bytes_;
}

void SafetensorsWriter::write(const std::string& path, const ProduceBytes& produce,
                              std::int64_t buffer_bytes) const {
    if (buffer_bytes < 64 || buffer_bytes % 64 != 0) {
        throw InternalError(fmt::format("{}: write buffer of {} bytes", path, buffer_bytes));
    }
    std::int64_t largest = 0;
    for (const TensorSpec& tensor : tensors_) largest = std::max(largest, tensor_bytes(tensor));
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(largest, buffer_bytes)));
    OutputFile file(path, file_bytes());
    file.write(prefix_);
    for (const std::size_t i : order_) {
        const std::int64_t bytes = tensor_bytes(tensors_[i]);
        for (std::int64_t begin = 0; begin < bytes; begin += buffer_bytes) {
            const auto count = static_cast<std::size_t>(std::min(buffer_bytes, bytes - begin));
            const std::span<std::byte> chunk = std::span(buffer).first(count);
            produce(i, begin, chunk);
            file.write(chunk);
        }
    }
    file.commit();
}

}  // namespace sluice

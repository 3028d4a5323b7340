// Which numbers does a safetensors file hold?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/data/dtype.h"
#include "engine/data/mapped_file.h"
#include "engine/data/safetensors_header.h"

namespace sluice {

/// A tensor in a mapped file, valid as long as the file object that it came from (moved or not).
struct TensorView {
    std::string file;  ///< for messages
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;  ///< row-major, not necessarily aligned

    std::int64_t elements() const {
        return static_cast<std::int64_t>(bytes.size()) / dtype_bytes(dtype);
    }
};

/// A safetensors file, memory-mapped.
class SafetensorsFile {
  public:
    /// Throws InputError for a file that cannot be read or is not what its header says.
    explicit SafetensorsFile(const std::string& path);

    const std::string& path() const { return file_.path(); }
    std::vector<std::string> names() const;  ///< in the order of their bytes
    bool has(std::string_view name) const;
    /// Throws InputError, with the nearest name, when there is no such tensor.
    TensorView tensor(std::string_view name) const;

  private:
    MappedFile file_;
    SafetensorsHeader header_;
    std::unordered_map<std::string, std::size_t> index_;
};

/// Elements [begin, begin + count) as fp32, exact but for F64, which is rounded to nearest. Throws
/// InputError when the tensor is not F16, BF16, F32 or F64; InternalError for a range outside it.
void read_as_fp32(const TensorView& tensor, std::int64_t begin, std::int64_t count, float* out);

}  // namespace sluice

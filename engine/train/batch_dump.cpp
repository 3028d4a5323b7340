#include "engine/train/batch_dump.h"

#include <fmt/format.h>

#include <fstream>

#include "sim/base/input_error.h"

namespace sluice {

void append_batch(const std::string& file, const Batch& batch) {
    std::ofstream out(file, std::ios::binary | std::ios::app);
    for (const auto* tokens : {&batch.inputs, &batch.targets})
        out.write(reinterpret_cast<const char*>(tokens->data()),
                  static_cast<std::streamsize>(tokens->size() * sizeof(std::int32_t)));
    if (!out.flush()) {
        throw InputError(
            fmt::format("--dump-batches {}: cannot be written; is its disk full?", file));
    }
}

}  // namespace sluice

// How do the tensors of one pass share a buffer? It is handed out in parts, in order.
#pragma once

#include <fmt/format.h>

#include "engine/kernels/matrix.h"
#include "sim/base/input_error.h"
#include "sim/plan/arena_layout.h"

namespace sluice {

/// Takes parts from the front of [base, base + bytes). Throws InternalError if the plan's buffer is
/// too small.
class Workspace {
  public:
    Workspace() = default;
    Workspace(void* base, Bytes bytes) : base_(static_cast<char*>(base)), bytes_(bytes) {}

    /// Tells how much is taken: nothing may read or write its parts.
    static Workspace endless() { return {reinterpret_cast<void*>(kPartAlignment), Bytes{1} << 60}; }

    void* take(Bytes bytes) {
        const Bytes begin = used_;
        const Bytes end = begin + (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
        if (end > bytes_)
            throw InternalError(fmt::format(
                "workspace of {} bytes is too small: {} are taken, {} more are asked for", bytes_,
                begin, bytes));
        used_ = end;
        if (used_ > most_) most_ = used_;
        return base_ + begin;
    }
    Matrix matrix(DType type, std::int64_t rows, std::int64_t columns) {
        return {take(rows * columns * bytes_of(type)), type, rows, columns};
    }
    /// Frees everything taken after `mark`, an earlier used().
    void rewind(Bytes mark) { used_ = mark; }
    void* data() const { return base_; }
    bool present() const { return bytes_ > 0; }
    Bytes used() const { return used_; }
    Bytes most() const { return most_; }  ///< the most ever taken at once

  private:
    char* base_ = nullptr;
    Bytes bytes_ = 0;
    Bytes used_ = 0;
    Bytes most_ = 0;
};

}  // namespace sluice

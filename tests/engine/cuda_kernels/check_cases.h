// Is an operation right at each shape of a list? Prints one line an operation.
#pragma once

#include "tests/catch.h"
#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

/// Whether this machine has a GPU; says so where it has not, and the test ends as passed.
inline bool has_gpu() {
    const std::string reason = no_gpu_reason();
    if (!reason.empty()) WARN("skipped: " << reason);
    return reason.empty();
}

template <typename Case>
void check_cases(const std::vector<typename Case::Shape>& shapes) {
    if (!has_gpu()) return;
    double worst = 0;
    std::string worst_shape = "none";
    for (const typename Case::Shape& shape : shapes) {
        const std::string name = fmt::format("{} {}", Case::kName, shape.text());
        INFO(name);
        Case tested(shape);
        const double share = tested.check(gpu().kernels());
        CHECK(share <= 1);
        if (share >= worst) worst = share, worst_shape = shape.text();
    }
    fmt::print("{:<20} {:>2} shapes, {:>5.1f}% of the tolerance used at most ({})\n", Case::kName,
               shapes.size(), 100 * worst, worst_shape);
}

}  // namespace sluice

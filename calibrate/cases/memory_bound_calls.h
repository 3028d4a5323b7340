// What does one call of each kernel bound by memory read and write?
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/operand_sets.h"
#include "sim/specs/model/kernel.h"

namespace sluice {

/// Small operands that all calls share, at the end of the arena.
struct SharedOperands {
    Vector weight;                          ///< of norms: ones, so that numbers stay of size 1
    Vector dweight;                         ///< also bias gradients
    const std::int32_t* targets = nullptr;  ///< below 1000
    double* sum = nullptr;
};
/// Widest row and most rows of all calls.
inline constexpr std::int64_t kMostSharedColumns = 524288, kMostTargets = 8192;

/// Writes them to the arena's end.
SharedOperands make_shared_operands(Bench& bench);
/// The output zone without them.
Zone zone_of_outputs(const Bench& bench);

/// One kernel at one shape.
struct MemoryBoundCall {
    std::vector<Bytes> inputs, outputs;  ///< of one set; what is changed in place is an output
    std::function<void(std::int64_t call, const OperandSets& in, const OperandSets& out)> run;
    bool in_place = false;  ///< a call reads what the call before it wrote
};

/// `rows` x `columns` as in kernel_table.h; heads are of `head_dim` elements. Precondition: not
/// MemoryBoundWork::other.
MemoryBoundCall memory_bound_call(Bench& bench, const SharedOperands& shared, MemoryBoundWork work,
                                  std::int64_t rows, std::int64_t columns, std::int64_t head_dim);

/// Query and key heads that together are `columns` wide, 3 or more queries to a key where that is
/// possible, in sequences of at most 8192.
AttentionShape heads_of(std::int64_t rows, std::int64_t columns, std::int64_t head_dim);

}  // namespace sluice

// How is causal attention computed on the CPU without all scores of a sequence at once? In blocks
// of queries; see Kernels::attention for shapes and arguments.
#pragma once

#include "engine/kernels/kernels.h"

namespace sluice::cpu {

/// statistics: (sequences, heads, sequence) log-sum-exp of the scaled scores of each query.
void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics);

/// Recomputes each block's probabilities from the statistics (arXiv 2205.14135, section 3.1).
void attention_backward(const AttentionShape& shape, Matrix qkv, const float* statistics,
                        Matrix dout, Matrix dqkv);

}  // namespace sluice::cpu

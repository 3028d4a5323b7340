// Matrix products on the CPU, in fp32 whatever the matrices are in.
#pragma once

#include "engine/kernels/kernels.h"

namespace sluice::cpu {

/// As Kernels::gemm. Needs three tiles of 1 MiB at most, whatever the size of the matrices: larger
/// copies of them would be memory that no plan counts, which the C library maps again at each call.
void gemm(const Kernels::Product& product);

}  // namespace sluice::cpu

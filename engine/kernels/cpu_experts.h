// How does the CPU compute what only layers with experts have? Slow to include: torch's headers.
#pragma once

#include "engine/kernels/cpu_tensors.h"

namespace sluice::cpu {

// Each like the function of Kernels with that name.
void route(const ExpertRoutes& out, const Matrix& logits, RouteWeights weights);
void route_backward(const Matrix& dlogits, const Matrix& logits, const ExpertRoutes& routes,
                    const float* dweights, RouteWeights weights);
void copy_to_experts(const Matrix& copies, const Matrix& in, const ExpertRoutes& routes);
void sum_of_experts(const Matrix& y, const Matrix& addend, const Matrix& copies,
                    const ExpertRoutes& routes);
void expert_products(const Kernels::ExpertProducts& products, const ExpertRoutes& routes);
void expert_swiglu(const Matrix& product, const Matrix& gate_up, const ExpertRoutes& routes);
void expert_swiglu_backward(const Matrix& gate_up, const Matrix& dproduct,
                            const ExpertRoutes& routes, float* dweights, const EightBits& codes);

}  // namespace sluice::cpu

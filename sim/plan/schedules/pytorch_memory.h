// What does PyTorch keep for a plain model: parameters a tensor each, what autograd saves of a
// layer, pinned memory in powers of two?
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"
#include "sim/plan/plan_builder.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Host bytes of PyTorch beyond those of a process with the device and libtorch loaded. Measured
/// once on the H200 machine: 0.55 GB when an eager layer and its loss have run forward and
/// backward; and 0.14 GB of torch._dynamo, which optimizers and checkpointing import.
inline constexpr double kPyTorchModules = 0.69e9;

/// Device bytes of cuBLAS workspaces: 32 MiB on Hopper, of the main thread and of autograd's.
inline constexpr double kBlasWorkspaces = 2 * 32.0 * kMiB;

/// Bytes that PyTorch's pinned allocator takes for a tensor: the next power of two.
double pinned_bytes(double bytes);

/// Bytes of the tensors that malloc maps each time, and the system while they are written:
/// larger than 32 MiB, the most that glibc's M_MMAP_THRESHOLD grows to by itself (mallopt(3)).
/// Smaller ones are taken to find memory that was freed before.
double mapped_anew(const std::vector<std::int64_t>& tensors, double bytes_of_element);
/// Copies gradients to pageable tensors after what it waits for, one after another: `all` of them,
/// of which `anew` bytes go to memory that is mapped meanwhile. Returns the last copy.
OperationId copy_to_pageable(PlanBuilder& build, int layer, std::vector<Dependency> waits,
                             Operation all, double anew);

/// Elements of each parameter of a layer, as a PyTorch module keeps them: q, k, v, gate and up
/// apart, each expert's too.
std::vector<std::int64_t> module_tensors(const ModelSpec& model, const LayerSpec& layer);
/// The same of embedding, final norm and head.
std::vector<std::int64_t> root_tensors(const ModelSpec& model);

/// Parameter tensors that an optimizer written in Python goes through.
std::int64_t parameter_tensors(const ModelSpec& model);

/// Bytes of one token of a layer in bf16, attention through the flash kernel.
struct SavedBytes {
    double saved = 0;               ///< kept by autograd beside the layer's input
    double forward_temporary = 0;   ///< most alive in forward where nothing is saved
    double backward_temporary = 0;  ///< most alive in backward beside what is saved
};
SavedBytes saved_bytes_per_token(const ModelSpec& model, const LayerSpec& layer);

}  // namespace sluice

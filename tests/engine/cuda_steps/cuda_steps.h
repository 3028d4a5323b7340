// Which code do tests of steps on a GPU share? A model, and training of it there.
#pragma once

#include "tests/engine/run/tiny_training.h"

namespace sluice {

/// Large enough that copies of weights, kernels and updates of several layers are at work at once.
inline ModelSpec model_of_steps() {
    ModelSpec model = parse_generic_model(
        "layers=6,hidden=512,heads=8,kv_heads=2,head_dim=64,intermediate=1536,vocabulary=1024");
    model.family = "qwen2";
    model.kinds.front().attention.qkv_bias = true;
    return model;
}

inline TrainingSpec training_of_steps() {
    TrainingSpec training;
    training.batch = 4;
    training.sequence = 256;
    training.compute = Compute::fp8;
    return training;
}

inline TinyStart start_on_gpu() {
    constexpr int kOptimizerThreads = 4;
    return {.device = make_cuda_device(0), .optimizer_threads = kOptimizerThreads};
}

inline bool has_gpu() {
    if (gpu_count() == 0) WARN("skipped: no GPU");
    return gpu_count() > 0;
}

}  // namespace sluice

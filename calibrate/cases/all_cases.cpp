#include "calibrate/cases/bench.h"

namespace sluice {

const std::vector<Case>& all_cases() {
    // The device's first. What is compared with each other, and drifts on virtual machines (copies,
    // Adam, mixed load), stands together.
    static const std::vector<Case> cases = {
        {"launch", "What do a kernel launch and an event cost?", 0.5, 0.3, measure_launch},
        {"device_copy", "How fast is the device's memory?", 0.5, 0.3, measure_device_copy},
        {"gemm", "How long do matrix products take?", 50, 6, measure_gemm},
        {"attention", "How long does attention take?", 20, 2, measure_attention},
        {"memory_bound", "How long do norms, activations, loss and sums take?", 17, 2,
         measure_memory_bound},
        {"power", "How much energy does each kind of work take?", 8, 3, measure_power},
        {"clock", "How does the GPU's clock follow its load?", 6, 6, measure_clock},
        {"gpu_interconnect", "How fast are copies between GPUs?", 0.5, 0.5,
         measure_gpu_interconnect},
        {"storage", "How fast is the disk, by block and queue depth?", 10, 2, measure_storage},
        {"host_memory", "How fast do threads read, write and copy host memory?", 11, 2,
         measure_host_memory},
        {"copies", "How fast are copies over the link, by size and direction?", 9, 4,
         measure_copies},
        {"adam", "How fast is the optimizer, by threads and state precision?", 14, 4, measure_adam},
        {"mixed_load", "How do the optimizer, copies and kernels slow each other down?", 62, 8,
         measure_mixed_load},
        {"numa", "How near are the NUMA nodes to the GPU and to their memory?", 0.5, 0.5,
         measure_numa},
    };
    return cases;
}

}  // namespace sluice

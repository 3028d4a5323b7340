#include "calibrate/cases/bench.h"
#include "calibrate/cases/cases.h"

namespace sluice {

const std::vector<Case>& all_cases() {
    // Host cases first: the GPU is cool then, and the kernels that follow heat it once.
    static const std::vector<Case> cases = {
        {"copies", "How fast are copies over the link, by size and direction?", 14, 4,
         measure_copies},
        {"host_memory", "How fast do threads read, write and copy host memory?", 8, 2,
         measure_host_memory},
        {"adam", "How fast is the optimizer, by threads and state precision?", 14, 4, measure_adam},
        {"mixed_load", "How do the optimizer, copies and kernels slow each other down?", 50, 8,
         measure_mixed_load},
        {"numa", "How near are the NUMA nodes to the GPU and to their memory?", 2, 1, measure_numa},
        {"storage", "How fast is the disk, by block and queue depth?", 10, 2, measure_storage},
        {"launch", "What do a kernel launch and an event cost?", 1, 0.5, measure_launch},
        {"device_copy", "How fast is the device's memory?", 2, 0.5, measure_device_copy},
        {"gemm", "How long do matrix products take?", 70, 5, measure_gemm},
        {"attention", "How long does attention take?", 30, 2, measure_attention},
        {"memory_bound", "How long do norms, activations, loss and sums take?", 10, 1,
         measure_memory_bound},
        {"power", "How much energy does each kind of work take?", 12, 3, measure_power},
        {"gpu_interconnect", "How fast are copies between GPUs?", 1, 0.5,
         measure_gpu_interconnect},
    };
    return cases;
}

}  // namespace sluice

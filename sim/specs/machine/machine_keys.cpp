#include "sim/specs/machine/machine_keys.h"

#include <algorithm>
#include <array>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

struct KnownKey {
    std::string_view path;
    ValueKind kind;
    bool is_read = false;  ///< by resolve_machine(); the others are kept for reference
};

constexpr ValueKind kNumber = ValueKind::number;
constexpr ValueKind kCurve = ValueKind::curve;
constexpr bool kRead = true;

// `other.*` of a section is free; resolve_machine() reads two numbers there.
constexpr std::array kKeys = {
    KnownKey{"gpu.name", ValueKind::text},
    KnownKey{"gpu.memory_capacity_gb", kNumber, kRead},
    KnownKey{"gpu.memory_bandwidth_gb_per_s", kNumber, kRead},
    KnownKey{"gpu.memory_bandwidth_achieved_gb_per_s", kNumber, kRead},
    KnownKey{"gpu.bf16_dense_tflops", kNumber, kRead},
    KnownKey{"gpu.bf16_achieved_gemm_tflops", kNumber, kRead},
    KnownKey{"gpu.fp8_dense_tflops", kNumber},
    KnownKey{"gpu.fp8_achieved_gemm_tflops", kNumber},
    KnownKey{"gpu.fp32_tflops", kNumber},
    KnownKey{"gpu.multiprocessors", kNumber, kRead},
    KnownKey{"gpu.tdp_w", kNumber},
    KnownKey{"gpu.release_year", kNumber},
    KnownKey{"gpu.context_gb", kNumber, kRead},
    KnownKey{"kernels.gemm_sustained_tflops", kNumber, kRead},
    KnownKey{"kernels.gemm_overhead_us", kNumber, kRead},
    KnownKey{"kernels.rested_time_share", kNumber, kRead},
    KnownKey{"kernels.launch_us", kNumber, kRead},
    KnownKey{"kernels.eager_launch_us", kNumber, kRead},
    KnownKey{"kernels.attention_flash_forward_tflops_by_sequence", kCurve},
    KnownKey{"kernels.attention_flash_backward_tflops_by_sequence", kCurve},
    KnownKey{"kernels.attention_cudnn_forward_tflops_by_sequence", kCurve},
    KnownKey{"kernels.attention_cudnn_backward_tflops_by_sequence", kCurve},
    KnownKey{"kernels.attention_narrow_head_share", kNumber, kRead},
    KnownKey{"kernels.rms_norm_gb_per_s", kNumber},
    KnownKey{"kernels.gemm_forward", ValueKind::kernels},
    KnownKey{"kernels.gemm_input_gradient", ValueKind::kernels},
    KnownKey{"kernels.gemm_weight_gradient", ValueKind::kernels},
    KnownKey{"kernels.attention_forward", ValueKind::kernels},
    KnownKey{"kernels.attention_backward", ValueKind::kernels},
    KnownKey{"kernels.rms_norm", ValueKind::kernels},
    KnownKey{"kernels.rms_norm_backward", ValueKind::kernels},
    KnownKey{"kernels.head_norm", ValueKind::kernels},
    KnownKey{"kernels.head_norm_backward", ValueKind::kernels},
    KnownKey{"kernels.rotary", ValueKind::kernels},
    KnownKey{"kernels.swiglu", ValueKind::kernels},
    KnownKey{"kernels.swiglu_backward", ValueKind::kernels},
    KnownKey{"kernels.bias_backward", ValueKind::kernels},
    KnownKey{"kernels.cross_entropy", ValueKind::kernels},
    KnownKey{"kernels.sum_squares", ValueKind::kernels},
    KnownKey{"kernels.round_to_bf16", ValueKind::kernels},
    KnownKey{"kernels.first_step_extra_s", kNumber, kRead},
    KnownKey{"link.type", ValueKind::text},
    KnownKey{"link.raw_per_direction_gb_per_s", kNumber, kRead},
    KnownKey{"link.host_to_device_gb_per_s", kNumber, kRead},
    KnownKey{"link.device_to_host_gb_per_s", kNumber, kRead},
    KnownKey{"link.both_ways_host_to_device_gb_per_s", kNumber, kRead},
    KnownKey{"link.both_ways_device_to_host_gb_per_s", kNumber, kRead},
    KnownKey{"link.copy_latency_us", kNumber},
    KnownKey{"link.curve.host_to_device_gb_per_s_by_bytes", kCurve},
    KnownKey{"link.curve.device_to_host_gb_per_s_by_bytes", kCurve},
    KnownKey{"link.other.pageable_host_to_device_gb_per_s", kNumber, kRead},
    KnownKey{"link.other.pageable_device_to_host_gb_per_s", kNumber, kRead},
    KnownKey{"link.other.pageable_device_to_fresh_host_gb_per_s", kNumber, kRead},
    KnownKey{"host.name", ValueKind::text},
    KnownKey{"host.unified_memory", ValueKind::flag},
    KnownKey{"host.cores", kNumber, kRead},
    KnownKey{"host.memory_capacity_gb", kNumber, kRead},
    KnownKey{"host.memory_capacity_most_gb", kNumber, kRead},
    KnownKey{"host.system_reserve_gb", kNumber, kRead},
    KnownKey{"host.process_base_gb", kNumber, kRead},
    KnownKey{"host.memory_bandwidth_gb_per_s", kNumber, kRead},
    KnownKey{"host.memory_bandwidth_stream_gb_per_s", kNumber, kRead},
    KnownKey{"host.memory_bandwidth_shared_gb_per_s", kNumber, kRead},
    KnownKey{"host.copy_traffic_weight", kNumber, kRead},
    KnownKey{"host.adam_gparams_per_s", kNumber, kRead},
    KnownKey{"host.adam_gparams_per_s_by_threads", kCurve},
    KnownKey{"host.adam_8_byte_gparams_per_s_by_threads", kCurve},
    KnownKey{"host.optimizer_call_us_by_threads", kCurve},
    KnownKey{"host.adam_6_byte_gparams_per_s_by_threads", kCurve},
    KnownKey{"host.contention", kCurve},
    KnownKey{"host.contention_8_byte", kCurve},
    KnownKey{"host.contention_6_byte", kCurve},
    KnownKey{"host.adam_bytes_per_parameter", kNumber, kRead},
    KnownKey{"host.work.copy_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.first_touch_copy_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.zero_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.release_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.scale_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.norm_and_scale_gb_per_s", kNumber, kRead},
    KnownKey{"host.work.bf16_master_adam_gb_per_s", kNumber, kRead},
};

/// Read from sections whose keys are otherwise free.
constexpr std::array<std::string_view, 16> kReadOfFree = {
    "gpu_interconnect.gpus_per_node",
    "gpu_interconnect.per_direction_gb_per_s",
    "network.per_gpu_gb_per_s",
    "storage.read_gb_per_s",
    "storage.write_gb_per_s",
    "storage.latency_us",
    "storage.capacity_gb",
    "power.headroom_j",
    "power.idle_w",
    "power.gemm_w",
    "power.gemm_rested_w",
    "power.gemm_rested_joules_per_tflop",
    "power.attention_w",
    "power.attention_joules_per_tflop",
    "power.memory_w",
    "power.memory_joules_per_gb",
};

}  // namespace

std::vector<std::string> known_keys_in(std::string_view path) {
    const std::string start = std::string(path) + ".";
    std::vector<std::string> keys;
    for (const KnownKey& known : kKeys) {
        if (!known.path.starts_with(start)) continue;
        const std::string_view rest = known.path.substr(start.size());
        const std::string key(rest.substr(0, rest.find('.')));
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    return keys;
}

ValueKind known_kind(std::string_view path) {
    const auto found = std::find_if(kKeys.begin(), kKeys.end(),
                                    [&](const KnownKey& known) { return known.path == path; });
    return found == kKeys.end() ? ValueKind::group : found->kind;
}

const std::vector<std::string>& machine_numbers() {
    static const std::vector<std::string> numbers = [] {
        std::vector<std::string> paths;
        for (const KnownKey& known : kKeys)
            if (known.is_read) paths.emplace_back(known.path);
        paths.insert(paths.end(), kReadOfFree.begin(), kReadOfFree.end());
        return paths;
    }();
    return numbers;
}

}  // namespace sluice

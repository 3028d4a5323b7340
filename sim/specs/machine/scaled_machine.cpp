#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

Interpolated scaled(const Interpolated& curve, double factor) {
    auto points = curve.points();
    for (auto& [x, rate] : points) rate *= factor;
    return Interpolated(std::move(points));
}

Contention scaled(const Contention& contention, double factor) {
    std::vector<ContentionPoint> points = contention.points();
    for (auto& [active, shares] : points) {
        for (double* share : {&shares.compute, &shares.in, &shares.out, &shares.work})
            *share /= *share + (1 - *share) / factor;
    }
    return Contention(std::move(points));
}

}  // namespace

void scale_kernels(MachineSpec& machine, double factor) {
    GpuSpec& gpu = machine.gpu;
    for (KernelTable& table : gpu.tables)
        for (double& us : table.trend) us /= factor;
    for (Interpolated* rates : {&gpu.fused_attention.forward, &gpu.fused_attention.backward,
                                &gpu.flash_attention.forward, &gpu.flash_attention.backward})
        *rates = scaled(*rates, factor);
    gpu.gemm_flops_per_s *= factor;
    gpu.memory_bandwidth *= factor;
    gpu.gemm_overhead /= factor;
    gpu.launch /= factor;
}

void scale_optimizer(MachineSpec& machine, double factor) {
    HostSpec& host = machine.host;
    for (Interpolated* adam :
         {&host.adam_bytes_per_s, &host.adam_8_byte_bytes_per_s, &host.adam_6_byte_bytes_per_s})
        *adam = scaled(*adam, factor);
    host.adam_call = scaled(host.adam_call, 1 / factor);
    host.eager_adam_bytes_per_s *= factor;
}

void scale_host_memory(MachineSpec& machine, double factor) {
    HostSpec& host = machine.host;
    host.dram_bandwidth *= factor;
    machine.link.both_ways_total *= factor;
    for (Contention* contention :
         {&host.contention, &host.contention_8_byte, &host.contention_6_byte})
        *contention = scaled(*contention, factor);
}

void scale_link(MachineSpec& machine, double factor) {
    LinkSpec& link = machine.link;
    for (double* rate : {&link.host_to_device, &link.device_to_host, &link.pageable_host_to_device,
                         &link.pageable_device_to_host})
        *rate *= factor;
}

void scale_interconnect(MachineSpec& machine, double factor) {
    InterconnectSpec& interconnect = machine.interconnect;
    interconnect.bus_by_gpus = scaled(interconnect.bus_by_gpus, factor);
    interconnect.network_per_gpu *= factor;
}

void scale_host_work(MachineSpec& machine, double factor) {
    HostSpec& host = machine.host;
    for (double* rate :
         {&host.memory_copy, &host.first_touch, &host.zero, &host.release, &host.scale,
          &host.norm_and_scale, &machine.link.pageable_device_to_fresh_host})
        *rate *= factor;
    machine.gpu.eager_launch /= factor;  // the processor's too
}

void scale_storage(MachineSpec& machine, double factor) {
    machine.storage.read *= factor;
    machine.storage.write *= factor;
}

}  // namespace sluice

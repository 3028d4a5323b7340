#include "sim/answers/cost/energy.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/specs/machine/kernel_time.h"

namespace sluice {
namespace {

// With a context, the measured H200 idles at 123 of its 700 W (power.idle_w of
// h200-pcie5-16vcpu-128gib).
constexpr double kIdleShare = 0.176;
// Energy of a GPU by kinds of work over its datasheet's watts while it computes: 1.03 to 1.25 on
// the calibrated H200, since work in bursts draws more than the limit and copies draw power, too
// (20 steps of 7B, 8 of its layers, 3B and 24 layers of 14B with batches of 1 to 128).
constexpr double kMostOfDatasheet = 1.25;

void calibrate(PowerSpec& power, const MachineProfile& profile, const MachineSpec& machine) {
    power.calibrated = true;
    power.idle_w = machine.gpu.clock.idle_w;
    const auto joules = profile.number("power.copy_joules_per_gb"),
               watts = profile.number("power.copy_w");
    if (joules && watts)
        power.copy_joules_per_byte = *joules / kGiga * std::max(0.0, 1 - power.idle_w / *watts);
    else
        power.assumptions.emplace_back("energy of copies over the link is not known: counted as 0");
}

/// Takes the datasheet's power limit: of the GPU, else of a module with the processor.
void take_datasheet(PowerSpec& power, const MachineProfile& profile) {
    if (const auto tdp = profile.number("gpu.tdp_w")) {
        power.busy_w = *tdp;
        power.assumptions.push_back(
            fmt::format("the GPU draws its {:g} W (datasheet) while it computes, and within its "
                        "limit up to {:g} times that energy, as on the measured H200",
                        *tdp, kMostOfDatasheet));
    } else {
        for (const char* path : {"power.module_max_w", "power.supply_w"}) {
            const auto most = profile.number(path);
            if (!most || power.busy_w > 0) continue;
            power.busy_w = *most;
            power.host_w = 0;
            power.assumptions.push_back(fmt::format(
                "GPU and processor together draw {:g} W ({}) while the GPU computes", *most, path));
            power.host_is_most = true;
        }
    }
    if (power.busy_w == 0) return;
    power.idle_w = kIdleShare * power.busy_w;
    power.assumptions.push_back(
        fmt::format("idle power is {:g}% of that, as on the measured H200", kIdleShare * 100));
}

void take_host(PowerSpec& power, const MachineProfile& profile) {
    if (power.host_w) return;
    const auto node = profile.number("power.node_w"), gpus = profile.number("power.node_gpus"),
               tdp = profile.number("gpu.tdp_w");
    if (node && gpus && tdp && *node > *gpus * *tdp) {
        power.host_w = *node / *gpus - *tdp;
        power.host_is_most = true;
        power.host_assumption = fmt::format(
            "{0:.0f} W of host power for each GPU: the largest power of a node ({2:g} W) less its "
            "{1:g} GPUs, shared by them",
            *power.host_w, *gpus, *node);
    } else if (const auto supply = profile.number("power.supply_w");
               supply && tdp && *supply > *tdp) {
        power.host_w = *supply - *tdp;
        power.host_is_most = true;
        power.host_assumption =
            fmt::format("{:g} W for all but the GPU: its power supply gives {:g} W at most",
                        *power.host_w, *supply);
    } else {
        power.host_assumption = "the host's power is not known and not counted; give --host-watts";
    }
}

void add_kernels(StepEnergy& energy, const KernelList& kernels, const GpuSpec& gpu) {
    for (const Kernel& kernel : kernels) {
        const double joules = work_joules(gpu, kernel);
        switch (kernel.kind) {
            case KernelKind::gemm:
                energy.products += joules;
                break;
            case KernelKind::attention_forward:
            case KernelKind::attention_backward:
                energy.attention += joules;
                break;
            case KernelKind::memory_bound:
                energy.elementwise += joules;
                break;
        }
    }
}

void add_calibrated(StepEnergy& energy, const TimedPlan& report, const MachineSpec& machine,
                    const PowerSpec& power) {
    double link_bytes = 0;
    for (const Operation& operation : report.plan.program.operations) {
        for (const std::int32_t list : operation.kernels)
            add_kernels(energy, report.plan.program.kernel_lists[static_cast<std::size_t>(list)],
                        machine.gpu);
        if (is_copy(operation.lane)) link_bytes += operation.link_bytes;
    }
    energy.copies = power.copy_joules_per_byte * link_bytes;
    const double allowed = machine.gpu.clock.limit_w * report.step.seconds;
    if (energy.gpu() <= allowed) return;
    energy.at_limit = true;
    const double share = (allowed - energy.idle) / (energy.gpu() - energy.idle);
    for (double* kind : {&energy.products, &energy.attention, &energy.elementwise, &energy.copies})
        *kind *= share;
}

}  // namespace

const EnergyTerms& energy_terms(EnergyScope scope) {
    static constexpr const char* kRange = "spread of time and power";
    // In the order of the enumeration.
    static constexpr EnergyTerms kTerms[] = {
        {"GPU and host", "", " on average", "5 to 95%"},
        {"GPU and host at full power", " at full power", " at full power", kRange},
        {"GPU without the host", " without the host", " without the host", kRange}};
    return kTerms[static_cast<std::size_t>(scope)];
}

EnergyScope PowerSpec::scope() const {
    if (!host_w) return EnergyScope::gpu_alone;
    return calibrated && !host_is_most ? EnergyScope::whole : EnergyScope::ceiling;
}

PowerSpec power_spec(const MachineProfile& profile, const MachineSpec& machine) {
    PowerSpec power;
    if (machine.gpu.clock.headroom_j > 0) {
        calibrate(power, profile, machine);
    } else {
        take_datasheet(power, profile);
    }
    if (power.known()) take_host(power, profile);
    return power;
}

StepEnergy step_energy(const TimedPlan& report, const MachineSpec& machine, const PowerSpec& power,
                       double gpus_paid) {
    StepEnergy energy;
    energy.idle = power.idle_w * report.step.seconds;
    if (power.calibrated) {
        add_calibrated(energy, report, machine, power);
    } else {
        const Seconds computes = report.step.lane(Work::compute).busy;
        energy.least = energy.idle + (power.busy_w - power.idle_w) * computes;
        energy.busy =
            std::min(kMostOfDatasheet * energy.least, power.busy_w * report.step.seconds) -
            energy.idle;
    }
    const auto gpus = static_cast<double>(report.asked.training.gpus);
    for (double* part : {&energy.idle, &energy.products, &energy.attention, &energy.elementwise,
                         &energy.copies, &energy.busy, &energy.least})
        *part *= gpus;
    const double waiting = power.idle_w * report.step.seconds * std::max(0.0, gpus_paid - gpus);
    energy.idle += waiting;
    energy.least += waiting;
    energy.gpus = std::max(gpus, gpus_paid);
    energy.host = power.host_w.value_or(0) * report.step.seconds * energy.gpus;
    energy.scope = power.scope();
    if (power.calibrated) energy.least = energy.gpu();
    if (!power.host_is_most) energy.least += energy.host;
    return energy;
}

}  // namespace sluice

#include "sim/answers/search/least_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "sim/answers/search/ways_on_machine.h"
#include "sim/base/format.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/simulate/step_bounds.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/scenario/purchase.h"
#include "sim/specs/scenario/quotes.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// No product is predicted to be faster.
double most_flops_per_s(const ProfiledMachine& machine, const TrainingSpec& training) {
    const GpuSpec& gpu = machine.spec.gpu;
    double most = gpu.gemm_flops_per_s;
    if (training.computes_in_fp8()) most = std::max(most, gpu.fp8_gemm_flops_per_s);
    most /= gpu.clock.time_share;
    for (const KernelTableId id : {KernelTableId::gemm_forward, KernelTableId::gemm_input_gradient,
                                   KernelTableId::gemm_weight_gradient})
        if (!gpu.tables[static_cast<std::size_t>(id)].empty())
            most = std::max(most, machine.profile.number("gpu.bf16_dense_tflops")
                                          .value_or(std::numeric_limits<double>::infinity()) *
                                      kTera);
    return most;
}

/// Whether memory and disk could hold the smallest states.
bool could_hold(const ModelSpec& model, const MachineSpec& machine, std::int64_t gpus) {
    if (machine.storage.known()) return true;
    const double nodes =
        machine.host.gpus > 0 ? std::ceil(static_cast<double>(gpus) / machine.host.gpus) : 1;
    double bytes = nodes * static_cast<double>(machine.host.memory_capacity);
    if (!machine.unified_memory)
        bytes += static_cast<double>(gpus) * static_cast<double>(machine.gpu.memory_capacity);
    return kStatePrecisions.back().bytes * static_cast<double>(total_parameters(model)) <= bytes;
}

/// The numbers of GPUs that are tried: 1, then all of whole nodes.
std::vector<std::int64_t> numbers_of_gpus(const MachineSpec& machine, std::int64_t batch) {
    std::vector<std::int64_t> out = {1};
    const auto of_node = static_cast<std::int64_t>(machine.host.gpus);
    if (of_node <= 1 || !joins_gpus(machine)) return out;
    for (std::int64_t nodes = 1; nodes <= kMostNodesTried; nodes *= 2) {
        const std::int64_t gpus = nodes * of_node;
        const bool joined =
            gpus <= machine.interconnect.gpus_per_node || machine.interconnect.has_network();
        if (joined && batch % gpus == 0) out.push_back(gpus);
    }
    return out;
}

/// How far beyond the limits it is: 1 or less if it is not.
double miss(const RunLimits& limits, const LeastRun& one) {
    return std::max(limits.days ? one.days / *limits.days : 0,
                    limits.usd ? one.usd / *limits.usd : 0);
}

}  // namespace

std::string LeastRun::name() const {
    return format_gpus(gpus, machine) + (bought ? ", bought" : "");
}

double least_flops_per_token(const ModelSpec& model) {
    constexpr double kOfForward = 3;  // with the gradients of input and weight
    double forward = 2 * static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
    std::vector<double> of_kind;
    for (const LayerSpec& kind : model.kinds) {
        double& flops = of_kind.emplace_back(0);
        for (const Kernel& kernel : forward_kernels(model, kind, {1, 1}, KernelStyle::fused))
            if (kernel.kind == KernelKind::gemm) flops += kernel.flops;
    }
    for (const int kind : model.layers) forward += of_kind[static_cast<std::size_t>(kind)];
    return kOfForward * forward;
}

std::vector<LeastRun> least_runs_on(const RunQuestion& question, const PlannedMachine& machine) {
    std::vector<LeastRun> out;
    try {
        PlannedScenario asked = run_scenario(question);
        asked.machine = machine;
        const ProfiledMachine here = read_machine(machine);
        const ModelSpec model = read_model(asked.model);
        const TrainingSpec training = read_training(asked);
        const CostQuery query = read_money(asked);
        const MachineMoney money = machine_money(here.profile, here.spec, query);
        const double tokens =
            question.most_tokens ? static_cast<double>(training.tokens()) : question.tokens;
        const Seconds of_one_gpu = tokens * least_flops_per_token(model) /
                                   most_flops_per_s(here, training) * (1 - kMargin);
        const auto add = [&](std::int64_t gpus, double usd, bool owned, bool bought) {
            if (could_hold(model, here.spec, gpus))
                out.push_back({machine.machine, gpus, owned, bought,
                               of_one_gpu / static_cast<double>(gpus) / kDay, usd});
        };
        std::vector<std::int64_t> numbers = numbers_of_gpus(here.spec, training.batch);
        const bool owned = is_owned(question, machine);
        if (owned) {
            const std::int64_t all = std::max<std::int64_t>(1, gpus_owned(question, here.spec));
            const PowerSpec& power = money.power;
            const double watts = power.calibrated ? power.idle_w : power.busy_w;
            const double usd = of_one_gpu / kHour * watts / kKilo *
                               query.terms.power_usage_effectiveness *
                               query.terms.electricity_usd_per_kwh;
            add(1, usd, true, false);
            if (all > 1) add(all, usd, true, false);
            std::erase_if(numbers, [&](std::int64_t gpus) { return gpus <= all; });
            if (question.owned_gpus) numbers.clear();
        }
        for (const std::int64_t gpus : numbers) {
            NodeShare share;  // with more of the node it costs no less
            share.gpus = static_cast<double>(gpus);
            share.node_gpus = here.spec.host.gpus;
            const double hours = of_one_gpu / static_cast<double>(gpus) / kHour;
            if (const auto rents = holding_rents(money.prices, share).offers; !rents.empty())
                add(gpus, hours * rented(*rents.front(), share).usd_per_hour, false, false);
            if (const Purchase all = purchase(money.prices, query, share); all.missing.empty())
                add(gpus, all.usd, false, true);
        }
    } catch (const InputError&) {
        // A number of the machine that is not known.
    }
    return out;
}

std::vector<LeastRun> out_of_reach(const RunQuestion& question) {
    std::vector<LeastRun> out;
    if (!question.limits.any()) return out;
    for (const PlannedMachine& machine : tried_machines(question))
        for (LeastRun& one : least_runs_on(question, machine)) {
            if (miss(question.limits, one) <= 1) return {};
            out.push_back(std::move(one));
        }
    std::ranges::stable_sort(out, {}, [&](const LeastRun& one) {
        return std::tuple(miss(question.limits, one), one.usd, one.name());
    });
    return out;
}

}  // namespace sluice

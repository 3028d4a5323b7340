#include "sim/plan/schedules/infinity_memory.h"

#include <algorithm>

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/shapes.h"
#include "sim/plan/schedules/zero3_memory.h"

namespace sluice {
namespace {

constexpr double kMostInHost = 1e9;           // max_in_cpu
constexpr std::int64_t kSmallest = kMiB / 2;  // elements: a tensor below 1 MiB is not swapped
constexpr int kFewestBuffers = 5;             // buffer_count's default

}  // namespace

InfinityLayout::InfinityLayout(const ModelSpec& model, const Zero3Modules& of_model,
                               double sub_group_size)
    : modules(&of_model), sub_groups(zero3_sub_groups(model, sub_group_size)) {
    largest_sub_group = *std::max_element(sub_groups.begin(), sub_groups.end());
    double on_host = 0;
    for (; sub_groups_on_host < sub_groups.size(); ++sub_groups_on_host) {
        const double with_next = on_host + sub_groups[sub_groups_on_host];
        if (with_next > kMostInHost) break;
        on_host = with_next;
    }
    const std::vector<std::int64_t>& elements = modules->elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto own = static_cast<double>(elements[i]);
        on_storage.push_back(elements[i] >= kSmallest && modules->elements_before()[i] >= on_host);
        if (on_storage.back()) elements_on_storage += own;
        largest_tensor = std::max(largest_tensor, own);
    }
    if (elements_on_storage == 0) return;
    for (parameter_buffers = kFewestBuffers;; ++parameter_buffers) {
        ParameterFetches trial = fetches(parameter_buffers);
        for (std::size_t call = 0; call < trial.calls() && !trial.out_of_buffers(); ++call)
            trial.next();
        if (!trial.out_of_buffers()) return;
    }
}

ParameterFetches InfinityLayout::fetches(int buffers) const {
    return ParameterFetches(modules->elements(), modules->step_calls(), {}, {on_storage, buffers});
}

void declare_infinity_memory(const ModelSpec& model, const MachineSpec& machine,
                             const InfinityLayout& layout, PlanBuilder& build) {
    using Kind = MemoryKind;
    const double all = all_parameters(model);
    const auto on_storage = [&](const char* name, Kind kind, double bytes) {
        build.standing(name, kind, Tier::storage, bytes);
    };
    on_storage("bf16 parameters on storage", Kind::weights, kBf16 * layout.elements_on_storage);
    on_storage("masters and moments on storage", Kind::optimizer_state, 3 * kFp32 * all);
    on_storage("fp32 gradients on storage", Kind::gradients, kFp32 * all);

    build.on_host("process", Kind::process, static_cast<double>(machine.host.process_base));
    build.on_host("Python modules", Kind::process, kPyTorchModules);
    const double gradients = pinned_bytes(kBf16 * all);
    const double flat = pinned_bytes(kBf16 * std::min(all, kMostInHost));
    build.on_host("pinned bf16 gradients", Kind::gradients, gradients);
    build.on_host("pinned bf16 parameters, max_in_cpu", Kind::weights, flat);
    build.on_host("tables of pinned pages", Kind::process, kTablesOfPinned * (gradients + flat));
    build.on_host("optimizer's buffers", Kind::pinned_buffers,
                  static_cast<double>(kOptimizerBuffers) * kFp32 * layout.largest_sub_group);
    if (layout.elements_on_storage == 0) return;
    build.on_host("parameter buffers", Kind::pinned_buffers,
                  layout.parameter_buffers * kBf16 * layout.largest_tensor);
    build.on_host("updated parameters of a sub-group", Kind::pinned_buffers,
                  kBf16 * layout.largest_sub_group);
}

void declare_infinity_moments(const InfinityLayout& layout, PlanBuilder& build) {
    const Bytes steady = build.host_peak();
    const auto of_group = static_cast<Bytes>(kFp32 * layout.largest_sub_group);
    build.moment("loading", steady + 2 * of_group,
                 "a sub-group's first masters, and a gradient of zeros");
    build.moment("first step", steady + 2 * of_group,
                 "a sub-group's first moments are not in a buffer yet");
    build.moment("steady", steady, "nothing is freed between steps");
    build.moment("saving", steady, "states are on storage already");
    build.resident_between_steps(steady);
}

}  // namespace sluice

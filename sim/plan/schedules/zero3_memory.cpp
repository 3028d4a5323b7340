#include "sim/plan/schedules/zero3_memory.h"

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/shapes.h"
#include "sim/plan/schedules/zero3_fetches.h"

namespace sluice {
namespace {

/// Every tensor in the model's order: embedding, layers, final norm, head.
std::vector<std::int64_t> all_tensors(const ModelSpec& model) {
    std::vector<std::int64_t> root = root_tensors(model);
    const auto after_layers = root.begin() + (model.learned_positions > 0 ? 2 : 1);
    std::vector<std::int64_t> all(root.begin(), after_layers);
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        const std::vector<std::int64_t> own = module_tensors(model, model.layer(layer));
        all.insert(all.end(), own.begin(), own.end());
    }
    all.insert(all.end(), after_layers, root.end());
    return all;
}

/// Each tensor is pinned by itself before it is copied into the flat buffer, which frees it; but
/// PyTorch's allocator keeps it.
double first_copies(const ModelSpec& model) {
    double bytes = 0;
    for (const std::int64_t elements : all_tensors(model)) {
        if (elements > FetchLimits{}.persistence_threshold)
            bytes += pinned_bytes(kBf16 * static_cast<double>(elements));
    }
    return bytes;
}

}  // namespace

std::vector<double> zero3_sub_groups(const ModelSpec& model, double sub_group_size) {
    std::vector<double> groups = {0};
    for (const std::int64_t elements : all_tensors(model)) {
        if (groups.back() >= sub_group_size) groups.push_back(0);
        groups.back() += static_cast<double>(elements);
    }
    return groups;
}

void declare_parameters_that_stay(const ModelSpec& model, const Zero3Modules& modules,
                                  PlanBuilder& build) {
    double persistent = all_parameters(model);
    for (const std::int64_t elements : modules.elements())
        persistent -= static_cast<double>(elements);
    build.on_device("parameters that stay", MemoryKind::weights, kBf16 * persistent);
}

double declare_zero3_host_memory(const ModelSpec& model, const MachineSpec& machine,
                                 const std::vector<double>& sub_groups, PlanBuilder& build) {
    using Kind = MemoryKind;
    const double all = all_parameters(model);
    build.on_host("process", Kind::process, static_cast<double>(machine.host.process_base));
    build.on_host("Python modules", Kind::process, kPyTorchModules);
    build.on_host("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * all);
    double pinned = 0;
    const auto pin = [&](const char* name, Kind kind, double bytes) {
        build.on_host(name, kind, bytes);
        pinned += bytes;
    };
    double of_sub_groups = 0;
    for (const double elements : sub_groups) of_sub_groups += pinned_bytes(kFp32 * elements);
    pin("pinned bf16 parameters", Kind::weights, pinned_bytes(kBf16 * all));
    pin("pinned bf16 gradients", Kind::gradients, pinned_bytes(kBf16 * all));
    pin("pinned fp32 gradients of sub-groups", Kind::gradients, of_sub_groups);
    pin("first pinned copies, kept by PyTorch", Kind::pinned_buffers, first_copies(model));
    build.on_host("tables of pinned pages", Kind::process, kTablesOfPinned * pinned);
    return kTablesOfPinned * pinned;
}

void declare_zero3_host_moments(const ModelSpec& model, double outside_process,
                                PlanBuilder& build) {
    const Bytes steady = build.host_peak();
    const auto moments = static_cast<Bytes>(2 * kFp32 * all_parameters(model));
    build.moment("loading", steady - moments, "plus the file's pages, if they are not dropped");
    build.moment("first step", steady, "moments appear at the first update");
    build.moment("steady", steady, "nothing is freed between steps");
    build.moment("saving", steady, "masters and moments are written as they are");
    build.resident_between_steps(steady - static_cast<Bytes>(outside_process));
}

}  // namespace sluice

// Which numbers does a candidate rest on, and where are they from?
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "sim/answers/decision/decision.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

/// Numbers of the machine that this step does not rest on.
bool concerns(const std::string& path, const TrainingSpec& training) {
    const bool between_gpus = path.starts_with("gpu_interconnect.") || path.starts_with("network.");
    if (between_gpus) return training.schedule->several_gpus;
    if (path.starts_with("storage.")) return training.schedule->needs_storage;
    return true;
}

std::set<std::string> paths_of(const Candidate& c) {
    std::set<std::string> out;
    for (const std::string& path : c.machine.inputs)
        if (concerns(path, c.report().asked.training)) out.insert(path);
    if (c.cost.energy)
        for (const Quantity& quantity : c.profile.quantities)
            if (quantity.path == "gpu.tdp_w" || quantity.path.starts_with("power."))
                out.insert(quantity.path);
    if (!c.cost.payment) return out;
    const std::string& name = c.cost.payment->name;
    out.insert("price.rent_usd_per_gpu_hour." + name);
    out.insert("price.ownership_usd_per_gpu_hour." + name);
    if (name != "bought" || !c.cost.payment->given.empty()) return out;
    const Quantity* const system = c.profile.find("price.system_usd");
    if (system != nullptr && system->value)
        out.insert({"price.system_usd", "price.system_gpus"});
    else
        out.insert("price.gpu_usd");
    return out;
}

/// `Entry`: a Quantity, a Curve or a KernelEntry.
template <typename Entry>
SourceRow row_of(const Entry& entry, std::string value) {
    return {entry.path, std::move(value), method_name(entry.method),        entry.source,
            entry.date, entry.note,       entry.method == Method::estimated};
}

std::string value_of(const Quantity& quantity) {
    if (!quantity.value) return "not known";
    if (!quantity.low) return fmt::format("{:.6g}", *quantity.value);
    return fmt::format("{:.6g} ({:.6g} to {:.6g})", *quantity.value, *quantity.low, *quantity.high);
}

}  // namespace

std::vector<SourceRow> sources(const Candidate& candidate) {
    const MachineProfile& profile = candidate.profile;
    const std::set<std::string> paths = paths_of(candidate);
    std::vector<SourceRow> out;
    for (const Quantity& quantity : profile.quantities)
        if (paths.contains(quantity.path)) out.push_back(row_of(quantity, value_of(quantity)));
    for (const Curve& curve : profile.curves)
        if (paths.contains(curve.path))
            out.push_back(row_of(curve, format_number_of(std::ssize(curve.points), "point")));
    for (const KernelEntry& kernel : profile.kernels)
        out.push_back(
            row_of(kernel, format_number_of(std::ssize(kernel.measured.points), "shape")));
    const auto& payment = candidate.cost.payment;
    const auto add_given = [&out](const std::string& flag, const std::string& value) {
        out.push_back({flag, value, "given", "command line", "", "", false});
    };
    if (payment && !payment->given.empty())
        add_given(payment->name == "bought" ? "--price-usd" : payment->name, payment->given);
    if (candidate.cost.energy && candidate.cost.power.host_given)
        add_given("--host-watts",
                  fmt::format("{:g} W beside each GPU", *candidate.cost.power.host_w));
    return out;
}

}  // namespace sluice

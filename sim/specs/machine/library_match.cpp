#include "sim/specs/machine/library_match.h"

#include <algorithm>
#include <cmath>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

/// Dates sort as text; empty if nothing was measured.
std::string last_measured(const MachineProfile& profile) {
    std::string last;
    for (const Quantity& quantity : profile.quantities)
        if (quantity.method == Method::measured) last = std::max(last, quantity.date);
    return last;
}

}  // namespace

std::optional<LibraryMatch> library_machine_with(const std::string& driver_name, double cores) {
    std::optional<LibraryMatch> best;
    double best_distance = 0;
    std::string best_date;
    for (const std::string& id : library_machines()) {
        const MachineProfile profile = read_machine_profile(id);
        const std::string name = profile.text("gpu.driver_name");
        if (name.empty() || name != driver_name) continue;
        const double its = profile.number("host.cores").value_or(1);
        const double distance = std::abs(std::log(its / std::max(1.0, cores)));
        const std::string date = last_measured(profile);
        if (best && (distance > best_distance || (distance == best_distance && date <= best_date)))
            continue;
        best = {id, its};
        best_distance = distance;
        best_date = date;
    }
    return best;
}

}  // namespace sluice

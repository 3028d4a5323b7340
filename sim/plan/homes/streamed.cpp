// All other sections are on the host. Weights of layers come to the device for each use, in places
// that they take in turn.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_streamed(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    std::int32_t before = 0;
    for (int section = 0; section < p.sections.count(); ++section) {
        if (p.is_resident(section)) continue;
        p.home(section, Plane::states) = {Tier::host};
        Home& weights = p.home(section, Plane::weights);
        weights = {Tier::host};
        if (!p.sections.is_layer(section)) continue;
        weights.device_places = static_cast<std::int32_t>(t.buffer_depth);
        weights.turn = before++;
    }
}

}  // namespace

HomeKind streamed_homes() { return {.place = place_streamed}; }

}  // namespace sluice

// Gradients of weights are summed on the device. They stay there for an update on the device, in a
// place of their own if it waits for the norm; else they leave for the host through places in turn.
// Those that wait on the host for the norm, or for the next forward, have a place of their own.
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

void place_gradients(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const std::int64_t host_slabs = host_gradient_slabs(t);
    std::int32_t in_turn = 0, host_places = 0;
    std::vector<std::int32_t> slabs;  // on the host
    for (int section = 0; section < p.sections.count(); ++section) {
        if (!p.is_trained(section)) continue;
        Updater& update = p.update(section);
        update.after_norm = t.updates_after_norm();
        update.may_be_ahead = t.clipping == Clipping::automatic && update.by == Updater::By::cpu &&
                              !update.beside_forward && section != p.sections.embedding() &&
                              !(section == p.sections.head() && model.tied_embeddings);
        Home& home = p.home(section, Plane::gradient);
        home.memory = update.by == Updater::By::gpu ? Tier::device : Tier::host;
        if (!p.sections.is_layer(section) || (home.on_device() && update.after_norm)) continue;
        home.device_places = static_cast<std::int32_t>(t.gradient_slabs);
        home.turn = section;
        if (home.on_device()) continue;
        const bool waits = update.after_norm || update.beside_forward;
        if (waits || in_turn < host_slabs) {
            home.host_place = host_places++;
            if (!waits) slabs.push_back(home.host_place);
        } else {
            home.host_place = slabs[static_cast<std::size_t>(in_turn % host_slabs)];
        }
        if (!waits) ++in_turn;
    }
}

}  // namespace

HomeKind gradients_homes() { return {.place = place_gradients}; }

}  // namespace sluice

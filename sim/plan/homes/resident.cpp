// The first layers, and head and embedding if asked for, whose weights and states stay on the
// device, which updates them. There is no copy on the host. The first layers are resident: their
// updates come last in backward and are needed first in the next forward, so that no other layers
// keep the GPU waiting as long.
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/nearest_fit.h"

namespace sluice {
namespace {

void place_resident(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const auto stays = [&](int section) {
        p.home(section, Plane::weights) = p.home(section, Plane::states) = {Tier::device};
        p.update(section).by = Updater::By::gpu;
    };
    for (int layer = 0; layer < t.resident_layers; ++layer) stays(layer);
    if (t.resident_head()) stays(p.sections.head());
    if (t.resident_embedding()) stays(p.sections.embedding());
}

std::vector<double> other_layers(const Asked& a) {
    std::vector<double> out = fewer(a.training.resident_layers);
    out.push_back(
        static_cast<double>(with_layers_off_host(a.model, a.machine, a.training).resident_layers));
    return out;
}

std::vector<double> other_tables(const Asked& a) {
    std::vector<double> out = {static_cast<double>(ResidentTables::none)};
    if (a.training.resident_embedding() && !a.model.tied_embeddings)
        out.insert(out.begin(), static_cast<double>(ResidentTables::head));
    const Fit fit = check_fit(plan_memory(a.model, a.machine, a.training), a.machine, a.training);
    if (fit.host().shortfall() > 0) out.push_back(static_cast<double>(ResidentTables::both));
    return out;
}

}  // namespace

HomeKind resident_homes() {
    return {.place = place_resident,
            .options = {layers_option<&TrainingSpec::resident_layers>(
                            "adam", "resident_layers",
                            "first layers that stay on the device, with their states",
                            "first layers whose weights and optimizer states stay in device "
                            "memory, where the GPU updates them"),
                        choice_option<&TrainingSpec::resident_tables>(
                            home_option("adam"), "resident_tables",
                            {{"none", ResidentTables::none},
                             {"head", ResidentTables::head},
                             {"both", ResidentTables::both}},
                            "head and embedding that stay on the device, with their states",
                            "further weights that stay in device memory and are updated there: the "
                            "output projection (head), or also the token embedding (both)")},
            .layers = &TrainingSpec::resident_layers,
            .updated_by_gpu = "resident",
            .moves = {{"resident_layers", "recompute", other_layers},
                      {"resident_tables", "recompute", other_tables}}};
}

}  // namespace sluice

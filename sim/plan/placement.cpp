#include "sim/plan/placement.h"

#include <fmt/format.h>

#include "sim/plan/homes/home_kind.h"
#include "sim/specs/model/adapters.h"

namespace sluice {

Recompute Placement::recompute(int layer) const {
    if (keeps_everything(layer)) return Recompute::none;
    return home(layer, Plane::kept_attention).exists() ? Recompute::keep_attention
                                                       : Recompute::full;
}

std::vector<bool> Placement::resident_sections() const {
    std::vector<bool> out;
    for (int section = 0; section < sections.count(); ++section)
        out.push_back(is_resident(section));
    return out;
}

Form Placement::coded_form() const {
    for (int layer = 0; layer < sections.layers; ++layer)
        if (is_coded(layer)) return weights(layer).form;
    return Form::bf16;
}

std::optional<KeptBesideVisit> Placement::kept_beside_visit(int layer) const {
    if (visits.layers == 0) return std::nullopt;
    const int from_end = sections.layers - 1 - layer;
    const int visit = visits.count - 1 - from_end / visits.layers;
    if (visit < 0 || !visits.first_kept[static_cast<std::size_t>(visit)]) return std::nullopt;
    return KeptBesideVisit{visit, visits.layers - 1 - from_end % visits.layers, visits.layers};
}

Placement placement_of(const ModelSpec& model, const TrainingSpec& training, Form activations) {
    Placement out(model.layer_count(), training.adapter_rank > 0);
    out.activations = activations;
    out.adapters = training.adapters();
    for (const HomeKind& kind : home_kinds()) kind.place(model, training, out);
    for (const HomeKind& kind : home_kinds())
        if (kind.finish != nullptr) kind.finish(model, training, out);
    return out;
}

std::optional<Refusal> home_refusal(const ModelSpec& model, const TrainingSpec& training) {
    for (const HomeKind& kind : home_kinds()) {
        if (kind.layers == nullptr) continue;
        const std::int64_t layers = training.*kind.layers;
        HomeKind::Most most{model.layer_count(),
                            fmt::format("the layers ({})", model.layer_count())};
        if (layers <= most.layers && kind.most != nullptr) most = kind.most(model, training);
        if (layers > most.layers)
            return refused(training, kind.field(), ", expected at most {}", most.words);
    }
    return std::nullopt;
}

KeptBytes kept_bytes(const ModelSpec& model, const Placement& placement, int layer) {
    const ActivationBytes a = activation_bytes_per_token(model, model.layer(layer));
    if (!placement.keeps_everything(layer))
        return {placement.home(layer, Plane::kept_attention).exists() ? a.attention_output : 0};
    const auto adapters = static_cast<double>(
        kBf16 * placement.adapters.rank * adapted_modules(model.layer(layer), placement.adapters));
    if (placement.home(layer, Plane::kept_feed_forward).form == Form::bf16)
        return {a.attention_kept, a.feed_forward_kept, a.feed_forward_kept, adapters};
    const double others = a.feed_forward_kept - a.gate_up;
    return {a.attention_kept, others + a.gate_up_8_bit, others, adapters};
}

}  // namespace sluice

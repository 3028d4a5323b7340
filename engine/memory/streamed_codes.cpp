#include "engine/memory/streamed_codes.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/layers/layer_form.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

constexpr std::int64_t kGrain = std::int64_t{1} << 16;

}  // namespace

WeightCoder frozen_coder(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes,
                         ThreadPool& pool, Device& device) {
    int last = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        if (plan.homes.is_resident(layer)) last = layer;
    // One for all layers: touching fresh memory for each would take longer than coding.
    const auto apart = std::make_shared<std::vector<char>>();
    return [&, last, apart](int section, const std::uint16_t* weights) {
        const LayerSpec& layer = model.layer(section);
        const LayerForm& form = layer_form(plan.homes.weights(section).form);
        const LayerLayout from = layer_layout(model, layer), to = form.layout(from);
        const bool resident = plan.homes.is_resident(section);
        if (resident) apart->resize(std::max(apart->size(), static_cast<std::size_t>(to.size)));
        char* const block =
            resident ? apart->data() : planes.part(plan.buffers.host.codes, section);
        const auto writer = form.writer({weights, from, to, block, pool});
        pool.parallel_for(from.size, kGrain,
                          [&](std::int64_t begin, std::int64_t end) { writer->after(begin, end); });
        writer->finish();
        if (!resident) return;
        char* const home = planes.part(plan.buffers.resident[static_cast<std::size_t>(section)]);
        char* const staging = planes.at(plan.buffers.host.staging);
        for (Bytes at = 0; at < to.size; at += kStaging) {
            const Bytes bytes = std::min(kStaging, to.size - at);
            std::memcpy(staging, block + at, static_cast<std::size_t>(bytes));
            device.copy(Work::host_to_device, home + at, staging, bytes);
            device.finish_all();
        }
        if (section == last) std::vector<char>().swap(*apart);
    };
}

StreamedCodes::StreamedCodes(const ModelSpec& model, const StreamedPlan& plan,
                             const PlaneStore& planes, const ParameterStore& store,
                             ThreadPool& pool)
    : store_(store), pool_(pool), layers_(static_cast<std::size_t>(store.sections())) {
    for (const LayerSpec& kind : model.kinds) {
        places_.push_back(layer_layout(model, kind));
        layouts_.push_back(layer_layout(model, kind, plan.homes.coded_form()));
    }
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        if (!plan.homes.arrives_as_codes(layer) || !plan.homes.has_bf16(layer)) continue;
        layers_[static_cast<std::size_t>(layer)] = {planes.part(plan.buffers.host.codes, layer),
                                                    kind_of(model, layer),
                                                    &layer_form(plan.homes.weights(layer).form)};
    }
}

void StreamedCodes::rewrite(int layer,
                            const std::function<void(const AfterUpdate& after)>& update) {
    const std::size_t kind = at(layer).kind;
    const auto writer = at(layer).form->writer(
        {store_.block(layer).high, places_[kind], layouts_[kind], at(layer).data, pool_});
    update([&](std::int64_t begin, std::int64_t end) { writer->after(begin, end); });
    writer->finish();
}

void StreamedCodes::follow_store() {
    if (writes_seen_ == store_.writes()) return;
    writes_seen_ = store_.writes();
    for (int layer = 0; layer < store_.layers(); ++layer)
        if (has(layer))
            rewrite(layer, [&](const AfterUpdate& after) {
                pool_.parallel_for(store_.block(layer).count, kGrain, after);
            });
}

}  // namespace sluice

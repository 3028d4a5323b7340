#include "engine/run/step_buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/arena_layout.h"

namespace sluice {
namespace {

/// A multiple of 16 bytes, as each tensor of a layout; of 256 with codes.
Bytes largest_slot(const ModelSpec& model, Compute form) {
    Bytes largest = 0;
    for (const LayerSpec& kind : model.kinds) {
        const LayerLayout layout = layer_layout(model, kind);
        largest = std::max(largest,
                           form == Compute::fp8 ? coded_layout(layout).size : kBf16 * layout.size);
    }
    return largest;
}

DType activation_type(const StreamedPlan& plan) {
    return plan.homes.activations == Form::fp32 ? DType::fp32 : DType::bf16;
}

}  // namespace

DeviceBuffers::DeviceBuffers(const ModelSpec& model, const TrainingSpec& training,
                             const StreamedPlan& plan, const PlaneStore& planes)
    : planes_(planes),
      ids_(plan.buffers),
      homes_(plan.homes),
      copies_(training),
      micro_batches_(training.micro_batches()),
      of_a_pass_(training.micro_batches_of_a_pass()),
      micro_tokens_(training.micro_batch_block().tokens()),
      hidden_(model.hidden),
      layers_(model.layer_count()),
      slot_bytes_(largest_slot(model, Compute::bf16)),
      weight_slot_bytes_(largest_slot(model, training.stream_weights)),
      type_(activation_type(plan)),
      fp8_layers_(training.compute == Compute::fp8),
      fp8_head_(training.head_gradients == Compute::fp8) {
    const auto state_bytes = static_cast<int>(training.state_bytes);
    const std::vector<std::int64_t> sizes = section_sizes(model);
    const auto block = [&](int layer, BufferId id) {
        return place_block(sizes[static_cast<std::size_t>(layer)], state_bytes, workspace(id));
    };
    Bytes slots = 0;
    for (int layer = 0; layer < layers_; ++layer) {
        if (homes_.is_visiting(layer)) visits_.push_back(block(layer, ids_.visits[visits_.size()]));
        if (!homes_.is_resident(layer))
            slots = std::max(slots, (homes_.home(layer, Plane::weights).device_place() + 1) *
                                        weight_slot_bytes_);
    }
    if (slots > bytes(ids_.weight_slots))
        throw InternalError(fmt::format("weights arrive in {} bytes, the plan has {}", slots,
                                        bytes(ids_.weight_slots)));
}

void* DeviceBuffers::weight_slot(int layer) const {
    if (homes_.is_resident(layer)) return at(ids_.resident[static_cast<std::size_t>(layer)]);
    return at(ids_.weight_slots) +
           homes_.home(layer, Plane::weights).device_place() * weight_slot_bytes_;
}

void* DeviceBuffers::gradient_slab(int layer) const {
    const auto index = static_cast<std::size_t>(layer);
    if (holds_gradient(layer)) return at(ids_.held_gradients[index]);
    return at(ids_.gradient_slabs) +
           homes_.home(layer, Plane::gradient).device_place() * slot_bytes_;
}

Matrix DeviceBuffers::whole_hidden(int layer) const {
    const BufferId id =
        layer == layers_ ? ids_.hidden_gradient : ids_.inputs[static_cast<std::size_t>(layer)];
    return {at(id), type_, micro_batches_ * micro_tokens_, hidden_};
}

Matrix DeviceBuffers::hidden(int layer, std::int64_t j) const {
    if (layer == 0 || layer == layers_)
        return whole_hidden(layer).row_range(j * micro_tokens_, micro_tokens_);
    const Matrix of_a_pass{at(ids_.inputs[static_cast<std::size_t>(layer)]), type_,
                           of_a_pass_ * micro_tokens_, hidden_};
    return of_a_pass.row_range(j % of_a_pass_ * micro_tokens_, micro_tokens_);
}

Matrix DeviceBuffers::coming_back(int layer, std::int64_t j) const {
    const std::int64_t turn = coming_back_turn(homes_, copies_, layer, j);
    const std::int64_t place = turn % 2 * copies_.largest() + copies_.place_of(j);
    const Matrix both{at(ids_.coming_back), type_, 2 * copies_.largest() * micro_tokens_, hidden_};
    return both.row_range(place * micro_tokens_, micro_tokens_);
}

Workspace DeviceBuffers::kept(Direction direction, int layer, std::int64_t j) const {
    if (homes_.keeps_on_host(layer)) {
        const std::int64_t turn = kept_turn(homes_, copies_, direction, layer, j);
        const BufferId id = ids_.kept_in_turn[static_cast<std::size_t>(turn % 2)];
        const Bytes part = bytes(id) / copies_.largest() / kPartAlignment * kPartAlignment;
        return {at(id) + copies_.place_of(j) * part, part};
    }
    const BufferId id = ids_.kept[static_cast<std::size_t>(layer)];
    if (id == kNoBuffer) return {nullptr, 0};
    const KeptBesideVisit place = homes_.kept_beside_visit(layer).value_or(KeptBesideVisit{});
    const Bytes part = bytes(id) / place.parts / of_a_pass_ / kPartAlignment * kPartAlignment;
    return {at(id) + (place.part * of_a_pass_ + j % of_a_pass_) * part, part};
}

HostBuffers::HostBuffers(const ModelSpec& model, const TrainingSpec& training,
                         const StreamedPlan& plan, const PlaneStore& planes)
    : planes_(planes),
      ids_(plan.buffers.host),
      tokens_(training.tokens()),
      hidden_(model.hidden),
      of_a_pass_(training.micro_batches_of_a_pass()),
      type_(activation_type(plan)) {
    const Bytes row_bytes = tokens_ * hidden_ * bytes_of(type_);
    const Placement& homes = plan.homes;
    BufferParts rows_of_batch(planes, ids_.rows, kPage),
        checkpoints(planes, ids_.checkpoints, kPage), kept(planes, ids_.kept, kPage),
        gradients(planes, ids_.gradients, kPage);
    if (ids_.rows != kNoBuffer) {
        rows_of_batch.take(row_bytes);
        rows_out_ = rows_of_batch.take(row_bytes);
    }
    const Bytes gradient_bytes = largest_slot(model, Compute::bf16);
    std::vector<char*> places;  // of gradients
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        checkpoints_.push_back(homes.input_leaves(layer) ? checkpoints.take(row_bytes)
                                                         : planes.at(ids_.rows));
        std::vector<char*>& of_layer = kept_.emplace_back();
        const Bytes bytes =
            static_cast<Bytes>(homes.activation_scale() * kept_bytes(model, homes, layer).all() *
                               static_cast<double>(training.micro_batch_block().tokens()));
        for (std::int64_t j = 0; homes.keeps_on_host(layer) && j < of_a_pass_; ++j)
            of_layer.push_back(kept.take(bytes + kRoomForParts));
        const Home& gradient = homes.home(layer, Plane::gradient);
        const auto place = static_cast<std::size_t>(gradient.host_place);
        if (gradient.on_host() && place == places.size())
            places.push_back(gradients.take(gradient_bytes));
        gradients_.push_back(gradient.on_host() ? places[place] : nullptr);
    }
    gradients_.push_back(planes.at(ids_.head_gradient));
}

void HostBuffers::write_token_index(std::span<const std::int32_t> inputs,
                                    const TokenRows& rows) const {
    const TokenIndex index(token_index(), tokens_);
    std::copy(inputs.begin(), inputs.end(), index.inputs);
    std::copy_n(rows.order, inputs.size(), index.order);
    std::copy_n(rows.rows, rows.count, index.rows);
}

char* HostBuffers::kept(int layer, std::int64_t j) const {
    return kept_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(j % of_a_pass_)];
}

}  // namespace sluice

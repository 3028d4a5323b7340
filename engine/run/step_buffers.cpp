#include "engine/run/step_buffers.h"

#include <algorithm>
#include <string>

#include "sim/base/input_error.h"

namespace sluice {

StepBuffers::StepBuffers(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes)
    : planes_(planes),
      ids_(plan.buffers),
      homes_(plan.homes),
      shape_(plan.shape),
      hidden_(model.hidden),
      type_(activation_type(plan)),
      has_experts_(has_experts(model)) {}

void* StepBuffers::weight_slot(int layer) const {
    if (homes_.is_resident(layer)) return at(ids_.resident[static_cast<std::size_t>(layer)]);
    return planes_.part(ids_.weight_slots, homes_.home(layer, Plane::weights).device_place());
}

void* StepBuffers::gradient_slab(int layer) const {
    if (holds_gradient(layer)) return at(ids_.held_gradients[static_cast<std::size_t>(layer)]);
    return planes_.part(ids_.gradient_slabs, homes_.home(layer, Plane::gradient).device_place());
}

Matrix StepBuffers::whole_hidden(int layer) const {
    return {at(input(layer)), type_, shape_.tokens(), hidden_};
}

Matrix StepBuffers::hidden(int layer, std::int64_t j) const {
    const bool of_batch = layer == 0 || layer == homes_.sections.layers;
    return micro_batch(planes_.part(input(layer), of_batch ? j : j % shape_.of_a_pass));
}

BufferBlock StepBuffers::in_turn(const Operation& op, std::array<BufferId, 2> of,
                                 std::int64_t j) const {
    for (const BufferUse& use : op.uses)
        if (use.buffer == of[0] || use.buffer == of[1])
            return planes_.parts().part(use.buffer,
                                        use.part)[static_cast<std::size_t>(j - op.micro_batch)];
    throw InternalError(std::string("no place in turn for ") + operation_name(op.kind));
}

Matrix StepBuffers::backward_input(const Operation& op, std::int64_t j) const {
    if (ids_.coming_back == kNoBuffer) return hidden(op.layer, j);
    return micro_batch(planes_.at(in_turn(op, {ids_.coming_back, ids_.coming_back}, j)));
}

Workspace StepBuffers::kept(const Operation& op, int layer, std::int64_t j) const {
    if (homes_.keeps_on_host(layer)) {
        const BufferBlock place = in_turn(op, ids_.kept_in_turn, j);
        return {planes_.at(place), place.bytes};
    }
    const BufferId id = ids_.kept[static_cast<std::size_t>(layer)];
    if (id == kNoBuffer) return {nullptr, 0};
    const KeptBesideVisit place = homes_.kept_beside_visit(layer).value_or(KeptBesideVisit{});
    const std::int64_t of_a_pass = shape_.of_a_pass;
    const Bytes part =
        planes_.bytes(id) / place.parts / of_a_pass / kPartAlignment * kPartAlignment;
    return {at(id) + (place.part * of_a_pass + j % of_a_pass) * part, part};
}

std::uint16_t* StepBuffers::host_gradients(int section) const {
    if (section == homes_.sections.head()) return at<std::uint16_t>(ids_.host.head_gradient);
    return reinterpret_cast<std::uint16_t*>(
        planes_.part(ids_.host.gradients, homes_.home(section, Plane::gradient).host_place));
}

void StepBuffers::write_token_index(std::span<const std::int32_t> inputs,
                                    const TokenRows& rows) const {
    const TokenIndex index(at(ids_.host.token_index), shape_.tokens());
    std::copy(inputs.begin(), inputs.end(), index.inputs);
    std::copy_n(rows.order, inputs.size(), index.order);
    std::copy_n(rows.rows, rows.count, index.rows);
}

}  // namespace sluice

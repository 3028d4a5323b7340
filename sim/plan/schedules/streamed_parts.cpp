#include "sim/plan/schedules/streamed_parts.h"

#include <algorithm>

#include "sim/plan/arena_layout.h"
#include "sim/plan/schedules/copies_of_a_pass.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr Bytes kTensor = 16;  ///< alignment of the tensors of a section

}  // namespace

StreamedParts::StreamedParts(const ModelSpec& model, const StreamedPlan& plan,
                             const StoredSizes& sizes)
    : parts_(plan.step.memory.buffers.size()), used_(parts_.size(), 0) {
    place_sections(plan, sizes);
    place_others(model, plan, sizes);
}

void StreamedParts::add(BufferId id, std::int64_t part, Bytes bytes, Bytes alignment) {
    if (id == kNoBuffer) return;
    std::vector<BufferBlocks>& parts = parts_[static_cast<std::size_t>(id)];
    parts.resize(std::max(parts.size(), static_cast<std::size_t>(part + 1)));
    Bytes& used = used_[static_cast<std::size_t>(id)];
    const Bytes offset = (used + alignment - 1) / alignment * alignment;
    parts[static_cast<std::size_t>(part)].push_back({id, offset, bytes});
    used = offset + bytes;
}

void StreamedParts::repeat(BufferId id, std::int64_t count, Bytes bytes, Bytes alignment,
                           std::int64_t blocks) {
    if (id == kNoBuffer) return;
    const std::int64_t first = std::ssize(parts_[static_cast<std::size_t>(id)]);
    for (std::int64_t i = 0; i < count * blocks; ++i) add(id, first + i / blocks, bytes, alignment);
}

void StreamedParts::place_sections(const StreamedPlan& plan, const StoredSizes& sizes) {
    const StreamedBuffers& ids = plan.buffers;
    const Placement& homes = plan.homes;
    for (int section = 0; section < homes.sections.count(); ++section) {
        const auto index = static_cast<std::size_t>(section);
        const auto place = [&](BufferId weights, int part, BufferId states, int part_of_states) {
            const std::int64_t count = sizes.parameters[index];
            if (!homes.has_bf16(section)) {
                if (homes.is_resident(section))
                    add(weights, part, sizes.codes[index], kPartAlignment);
                return;
            }
            add(weights, part, kBf16 * count, kPartAlignment);
            if (!homes.is_trained(section)) return;
            for (const Bytes bytes : state_precision(plan.shape.state_bytes).array_bytes(count))
                if (bytes > 0) add(states, part_of_states, bytes, kPartAlignment);
        };
        const auto on_device = [&](BufferId id) { place(id, 0, id, 1); };
        if (homes.is_visiting(section)) on_device(ids.visit(homes, section));
        if (homes.is_resident(section))
            on_device(ids.resident[index]);
        else
            place(ids.host_weights(homes, section), section, ids.host_states(homes, section),
                  section);
        if (homes.arrives_as_codes(section))
            add(ids.host.codes, section, sizes.codes[index], kPartAlignment);
    }
}

void StreamedParts::place_others(const ModelSpec& model, const StreamedPlan& plan,
                                 const StoredSizes& sizes) {
    const StreamedBuffers& ids = plan.buffers;
    const StepShape& shape = plan.shape;
    const auto layers = static_cast<std::size_t>(plan.homes.sections.layers);
    const Bytes hidden = shape.micro_batch.tokens() * model.hidden *
                         (plan.homes.activations == Form::fp32 ? kFp32 : kBf16);
    Bytes largest = 0, arriving = 0, leaving = 0;
    for (std::size_t index = 0; index < layers; ++index) {
        const int layer = static_cast<int>(index);
        const Bytes weights = kBf16 * sizes.parameters[index];
        largest = std::max(largest, weights);
        if (!plan.homes.is_resident(layer))
            arriving = std::max(arriving,
                                plan.homes.arrives_as_codes(layer) ? sizes.codes[index] : weights);
        const BufferId input = ids.inputs[index];
        if (used_[static_cast<std::size_t>(input)] == 0)
            repeat(input, layer == 0 ? shape.micro_batches : shape.of_a_pass, hidden);
        if (plan.homes.input_leaves(layer))
            repeat(ids.host.checkpoints, shape.micro_batches, hidden);
        if (!plan.homes.keeps_on_host(layer)) continue;
        leaving = std::max(leaving, sizes.kept[index]);
        repeat(ids.host.kept, shape.of_a_pass, sizes.kept[index], kPartAlignment);
    }
    // Places in turn: a layer uses only those for which the buffer has room.
    repeat(ids.weight_slots, plan.homes.sections.layers, arriving, kTensor);
    repeat(ids.gradient_slabs, plan.homes.sections.layers, largest, kTensor);
    repeat(ids.host.gradients, plan.homes.sections.layers, largest, kPartAlignment);
    for (const BufferId id : {ids.head_weights, ids.host.head_gradient}) {
        if (model.tied_embeddings) add(id, 0, kBf16 * sizes.parameters[layers + 1], kTensor);
        add(id, 0, kBf16 * sizes.parameters[layers], kTensor);
    }
    const std::int64_t copied = CopiesOfAPass(shape.of_a_pass).largest();
    for (const BufferId id : ids.kept_in_turn) repeat(id, 1, leaving, kPartAlignment, copied);
    repeat(ids.coming_back, 2, hidden, 1, copied);
    repeat(ids.hidden_gradient, shape.micro_batches, hidden);
    const bool rows_return = plan.homes.is_trained(plan.homes.sections.embedding());
    repeat(ids.host.rows, (rows_return ? 2 : 1) * shape.micro_batches, hidden);
    for (const BufferId id : {ids.token_index, ids.host.token_index, ids.targets,
                              ids.host.token_ids, ids.documents, ids.host.documents})
        if (id != kNoBuffer)
            add(id, 0, plan.step.memory.buffers[static_cast<std::size_t>(id)].bytes);
}

std::vector<BlockCopy> StreamedParts::copies(const Operation& operation) const {
    BufferBlocks from, to;
    for (const BufferUse& use : operation.uses) {
        if (use.as == BufferUse::As::holds || use.buffer < 0) continue;
        BufferBlocks& side = use.as == BufferUse::As::reads ? from : to;
        if (used_[static_cast<std::size_t>(use.buffer)] == 0) continue;
        for (std::int32_t i = use.part; i < use.part + use.parts; ++i)
            side.insert(side.end(), part(use.buffer, i).begin(), part(use.buffer, i).end());
    }
    std::vector<BlockCopy> out;
    const auto follows = [](const BufferBlock& block, const BufferBlock& next) {
        return block.buffer == next.buffer && block.offset + block.bytes == next.offset;
    };
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
        from[i].bytes = to[i].bytes = std::min(from[i].bytes, to[i].bytes);
        if (!out.empty() && follows(out.back().from, from[i]) && follows(out.back().to, to[i])) {
            out.back().from.bytes += from[i].bytes;
            out.back().to.bytes += from[i].bytes;
        } else {
            out.push_back({from[i], to[i]});
        }
    }
    return out;
}

}  // namespace sluice

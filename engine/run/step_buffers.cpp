#include "engine/run/step_buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/embedding_rows.h"
#include "sim/base/input_error.h"
#include "sim/plan/schedules/schedules.h"

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

}  // namespace

DeviceBuffers::DeviceBuffers(const ModelSpec& model, const TrainingSpec& training,
                             const StreamedPlan& plan, Device& device, DType activations)
    : ids_(plan.buffers),
      homes_(plan.homes),
      copies_(training),
      micro_batches_(training.micro_batches()),
      of_a_pass_(training.micro_batches_of_a_pass()),
      micro_tokens_(training.micro_batch_block().tokens()),
      hidden_(model.hidden),
      layers_(model.layer_count()),
      slot_bytes_(largest_slot(model, Compute::bf16)),
      weight_slot_bytes_(largest_slot(model, training.stream_weights)),
      type_(activations),
      fp8_layers_(training.compute == Compute::fp8),
      fp8_head_(training.head_gradients == Compute::fp8) {
    const int scale = activations == DType::fp32 ? 2 : 1;
    layout_ = layout_arena(plan.step.memory, scale);
    if (const auto meet = buffers_that_meet(plan.step.memory, layout_)) {
        const auto name = [&](BufferId id) {
            return plan.step.memory.buffers[static_cast<std::size_t>(id)].name;
        };
        throw InternalError(
            fmt::format("\"{}\" and \"{}\" share memory, and both are needed at once",
                        name(meet->first), name(meet->second)));
    }
    Bytes slots = 0;
    for (int layer = 0; layer < layers_; ++layer)
        if (!homes_.is_resident(layer))
            slots = std::max(slots, (homes_.home(layer, Plane::weights).device_place() + 1) *
                                        weight_slot_bytes_);
    if (slots > bytes(ids_.weight_slots))
        throw InternalError(fmt::format("weights arrive in {} bytes, the plan has {}", slots,
                                        bytes(ids_.weight_slots)));
    const std::vector<std::int64_t> sizes = section_sizes(model);
    const auto workspace = static_cast<std::size_t>(ids_.kernel_workspace);
    arena_ =
        device.allocate_arena(layout_.total, layout_.offset[workspace], layout_.bytes[workspace]);
    const auto block = [&](std::size_t section, BufferId id) {
        return id == kNoBuffer ? ParameterBlock{}
                               : place_block(sizes[section], static_cast<int>(training.state_bytes),
                                             {static_cast<char*>(at(id)), bytes(id)});
    };
    for (std::size_t section = 0; section < ids_.resident.size(); ++section)
        resident_.push_back(block(section, ids_.resident[section]));
    for (std::size_t visit = 0; visit < ids_.visits.size(); ++visit)
        visits_.push_back(
            block(static_cast<std::size_t>(homes_.visits.first) + visit, ids_.visits[visit]));
}

void* DeviceBuffers::weight_slot(int layer) const {
    const ParameterBlock& resident = resident_[static_cast<std::size_t>(layer)];
    if (resident.count > 0) return resident.high;
    return static_cast<char*>(at(ids_.weight_slots)) +
           homes_.home(layer, Plane::weights).device_place() * weight_slot_bytes_;
}

void* DeviceBuffers::gradient_slab(int layer) const {
    const auto index = static_cast<std::size_t>(layer);
    if (holds_gradient(layer)) return at(ids_.held_gradients[index]);
    return static_cast<char*>(at(ids_.gradient_slabs)) +
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
    const std::int64_t turn = (layers_ - 1 - layer) * copies_.count() + copies_.of(j);
    const std::int64_t place = turn % 2 * copies_.largest() + copies_.place_of(j);
    const Matrix both{at(ids_.coming_back), type_, 2 * copies_.largest() * micro_tokens_, hidden_};
    return both.row_range(place * micro_tokens_, micro_tokens_);
}

Workspace DeviceBuffers::kept(Direction direction, int layer, std::int64_t j) const {
    if (homes_.keeps_on_host(layer)) {
        const std::int64_t turn = kept_turn(homes_, copies_, direction, layer, j);
        const BufferId id = ids_.kept_in_turn[static_cast<std::size_t>(turn % 2)];
        const Bytes part = bytes(id) / copies_.largest() / kPartAlignment * kPartAlignment;
        return {static_cast<char*>(at(id)) + copies_.place_of(j) * part, part};
    }
    const BufferId id = ids_.kept[static_cast<std::size_t>(layer)];
    if (id == kNoBuffer) return {nullptr, 0};
    const KeptBesideVisit place =
        homes_.kept_beside_visit(layer).value_or(KeptBesideVisit{});
    const Bytes part = bytes(id) / place.parts / of_a_pass_ / kPartAlignment * kPartAlignment;
    return {static_cast<char*>(at(id)) + (place.part * of_a_pass_ + j % of_a_pass_) * part, part};
}

namespace {

/// Offsets of parts, one after another, each at a multiple of a page.
class Parts {
  public:
    Bytes add(Bytes bytes) {
        const Bytes here = end_;
        end_ += (bytes + kPage - 1) / kPage * kPage;
        return here;
    }
    Bytes end() const { return end_; }

  private:
    Bytes end_ = 0;
};

/// Where each section's gradients are: in its own place if its update waits, else in slabs in turn.
std::vector<Bytes> place_gradients(const Placement& homes, const ParameterStore& store,
                                   const ModelSpec& model, Parts& parts) {
    std::vector<Bytes> places, in_turn;
    Bytes largest = 0;
    for (int layer = 0; layer < store.layers(); ++layer)
        largest = std::max(largest, kBf16 * store.block(layer).count);
    for (int layer = 0; layer < store.layers(); ++layer) {
        const Home& home = homes.home(layer, Plane::gradient);
        if (home.on_device()) {
            places.push_back(0);  // never leaves it
        } else if (home.host_places == 0) {
            places.push_back(parts.add(largest));
        } else {
            const auto place = static_cast<std::size_t>(home.host_place());
            if (place == in_turn.size()) in_turn.push_back(parts.add(largest));
            places.push_back(in_turn[place]);
        }
    }
    // The device's head has an output projection even if it is the embedding.
    if (!homes.is_resident(homes.sections.head()))
        places.push_back(parts.add(kBf16 * HeadLoss(model, 1).elements()));
    return places;
}

}  // namespace

HostBuffers::HostBuffers(const ModelSpec& model, const TrainingSpec& training,
                         const Placement& homes, const ParameterStore& store, ThreadPool& pool,
                         Device& device, DType activations)
    : tokens_(training.tokens()),
      hidden_(model.hidden),
      of_a_pass_(training.micro_batches_of_a_pass()),
      type_(activations) {
    const Bytes row_bytes = tokens_ * hidden_ * bytes_of(type_);
    Parts parts;
    if (homes.is_resident(homes.sections.embedding())) {
        token_index_ = parts.add(static_cast<Bytes>(token_index_bytes(model, training)));
    } else {
        rows_in_ = parts.add(row_bytes);
        rows_out_ = parts.add(row_bytes);
    }
    targets_ = parts.add(tokens_ * static_cast<Bytes>(sizeof(std::int32_t)));
    if (training.within_documents()) documents_ = parts.add(document_begins_bytes(training));
    gradients_ = place_gradients(homes, store, model, parts);
    sums_ = parts.add(store.sections() * static_cast<Bytes>(sizeof(StepSums)));
    for (int layer = 0; layer < store.layers(); ++layer)
        checkpoints_.push_back(homes.input_leaves(layer) ? parts.add(row_bytes) : rows_in_);
    const int scale = activations == DType::fp32 ? 2 : 1;
    for (int layer = 0; layer < store.layers(); ++layer) {
        std::vector<Bytes>& of_layer = kept_.emplace_back();
        if (!homes.keeps_on_host(layer)) continue;
        const double bytes = kept_bytes(model, homes, layer).all() *
                             static_cast<double>(training.micro_batch_block().tokens());
        for (std::int64_t j = 0; j < of_a_pass_; ++j)
            of_layer.push_back(parts.add(scale * static_cast<Bytes>(bytes) + kRoomForParts));
    }
    pinned_ = HostRegion(parts.end(), "buffers of the link", pool, &device);
    if (homes.is_resident(homes.sections.embedding())) return;
    row_sums_ = HostRegion(EmbeddingRows::sum_elements(model.vocabulary, hidden_, tokens_) * kFp32,
                           "gradients of embedding rows", pool);
}

void HostBuffers::write_token_index(std::span<const std::int32_t> inputs,
                                    const TokenRows& rows) const {
    const TokenIndex index(token_index(), tokens_);
    std::copy(inputs.begin(), inputs.end(), index.inputs);
    std::copy_n(rows.order, inputs.size(), index.order);
    std::copy_n(rows.rows, rows.count, index.rows);
}

char* HostBuffers::kept(int layer, std::int64_t j) const {
    return pinned_.data() +
           kept_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(j % of_a_pass_)];
}

Matrix HostBuffers::checkpoint(int layer) const {
    return rows(checkpoints_[static_cast<std::size_t>(layer)]);
}

}  // namespace sluice

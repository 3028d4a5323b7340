// Which places in memory does each operation of the streamed schedule read and write? Written a
// second time, independently of the schedule, so that a race check does not rely on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/plan/schedules/streamed.h"
#include "tests/catch.h"

namespace sluice {

enum class Place : std::uint8_t {
    rows_in,  // token rows on the host, and their gradients
    rows_out,
    row_gradients,
    table,  // weights on the host
    host_head,
    host_layer,
    host_states,  // all but the weights
    slot,         // weights on the device
    device_head,
    input,
    hidden,
    coming_back,
    host_checkpoint,
    kept_in_turn,  // what leaves of kept tensors, on the device
    host_kept,
    gradient_sum,
    gradient_slab,
    host_slab,
    host_head_gradient,
    resident_layer,  // weights and states on the device
    held_gradient,
    visit,  // of a layer's states, and what last layers keep in between
    resident_head,
    resident_table,
    token_index,  // on the device, with the targets
    row_sums,     // gradients of the resident table
    norm,         // sums on the device
};

struct Access {
    Place place;
    std::int64_t index;  ///< which of its kind
    bool writes;
};

/// The accesses of the operations of one step; follows them in the program's order.
class Accesses {
  public:
    Accesses(const ModelSpec& model, const TrainingSpec& training)
        : t_(training), tied_(model.tied_embeddings), layers_(model.layer_count()) {
        if (const auto last = placement_of(model, training).kept_beside_visit(layers_ - 1))
            kept_a_visit_ = last->parts;
        const std::int64_t streamed = layers_ - t_.resident_layers;
        const std::int64_t slabs = t_.host_gradient_slabs == 0 ? 4 : t_.host_gradient_slabs;
        std::int64_t updated_at_once = 0;
        for (std::int64_t i = streamed; i-- > 0;) {
            // Bresenham's line: as many steps up as layers are deferred.
            const std::int64_t share = t_.deferred_layers;
            const bool waits = (i + 1) * share / streamed != i * share / streamed;
            const std::int64_t layer = t_.resident_layers + i;
            host_slabs_[layer] =
                waits ? slabs + layer : updated_at_once++ % slabs;  // its own, or one in turn
        }
    }

    std::vector<Access> of(const Operation& op) {
        accesses_.clear();
        layer_ = op.layer;
        j_ = op.micro_batch;
        if (op.kind == OperationKind::forward && layer_ == 0 && j_ == 0) writes(Place::norm);
        if (op.kind == OperationKind::forward || op.kind == OperationKind::backward)
            reads_weights(layer_);
        switch (op.kind) {
            case OperationKind::copy_weights_in:
            case OperationKind::copy_gradients_out:
            case OperationKind::update_ahead:
            case OperationKind::update:
            case OperationKind::update_moments:
                of_parameters(op.kind);
                break;
            case OperationKind::copy_states_in:
                reads(Place::host_layer, layer_), reads(Place::host_states, layer_);
                writes(Place::visit, layer_ - t_.resident_layers);
                break;
            case OperationKind::copy_weights_out:
                reads(Place::visit, layer_ - t_.resident_layers);
                writes(Place::host_layer, layer_);
                break;
            case OperationKind::copy_states_out:
                reads(Place::visit, layer_ - t_.resident_layers);
                writes(Place::host_states, layer_);
                break;
            default:
                of_micro_batches(op);
        }
        return accesses_;
    }

  private:
    /// An operation has one of two places in turn, which all of its micro-batches share.
    struct Turns {
        std::int64_t came_back = 0, forward_kept = 0, kept_came_back = 0, backward_kept = 0;
    };

    void of_micro_batches(const Operation& op) {
        const Turns before = turns_;
        of_activations(op.kind);
        const Turns after = turns_;
        while (++j_ < op.micro_batch + op.micro_batches) {
            turns_ = before;
            of_activations(op.kind);
        }
        turns_ = after;
    }

    void reads(Place place, std::int64_t index = 0) { accesses_.push_back({place, index, false}); }
    void writes(Place place, std::int64_t index = 0) { accesses_.push_back({place, index, true}); }

    void reads_weights(int layer) {
        if (layer < t_.resident_layers)
            reads(Place::resident_layer, layer);
        else
            reads(Place::slot, layer % t_.buffer_depth);
    }
    bool resident() const { return layer_ >= 0 && layer_ < t_.resident_layers; }
    bool visiting() const {
        return layer_ >= t_.resident_layers && layer_ < t_.resident_layers + t_.visiting_layers;
    }
    /// The layer keeps tensors for backward in the place of a visit, all layers of which fit.
    void touches_kept(bool writing) {
        if (kept_a_visit_ == 0) return;
        const std::int64_t from_end = (layers_ - 1 - layer_) / kept_a_visit_;
        if (from_end >= t_.visiting_layers || (from_end + 1) * kept_a_visit_ > layers_) return;
        accesses_.push_back({Place::visit, t_.visiting_layers - 1 - from_end, writing});
    }
    void touches_gradient(bool writing) {
        const bool held = (resident() || visiting()) && t_.updates_after_norm();
        accesses_.push_back({held ? Place::held_gradient : Place::gradient_slab,
                             held ? layer_ : in_turn(t_.gradient_slabs), writing});
    }
    bool on_host() const { return t_.checkpoints == CheckpointPlacement::host; }
    bool half() const { return t_.saved_inputs == SavedInputs::half; }
    std::int64_t input(std::int64_t layer, std::int64_t j) const {
        const std::int64_t in_pass = layer == 0 ? j : j % t_.micro_batches_of_a_pass();
        // All inputs that are computed again are in one place.
        const bool one = on_host() || (half() && layer % 2 == 1);
        return (one ? layer % 2 : layer) * t_.micro_batches() + in_pass;
    }
    std::int64_t in_turn(std::int64_t slabs) const { return (layers_ - 1 - layer_) % slabs; }
    std::int64_t host_slab() const {
        if (t_.updates_after_norm()) return layer_;  // gradients of all layers are held
        return host_slabs_.at(layer_);
    }

    void of_parameters(OperationKind kind) {
        if (layer_ == layers_) return of_head(kind);
        if (layer_ == kEmbeddingLayer) return of_embedding(kind);
        if (resident()) {
            CHECK(kind == OperationKind::update);
            touches_gradient(false);
            writes(Place::resident_layer, layer_);
        } else if (visiting() && kind == OperationKind::update) {
            touches_gradient(false);
            writes(Place::visit, layer_ - t_.resident_layers);
        } else if (kind == OperationKind::copy_weights_in) {
            reads(Place::host_layer, layer_);
            writes(Place::slot, layer_ % t_.buffer_depth);
        } else if (kind == OperationKind::copy_gradients_out) {
            reads(Place::gradient_slab, in_turn(t_.gradient_slabs));
            writes(Place::host_slab, host_slab());
        } else {
            reads(Place::host_slab, host_slab());
            of_host_state(kind, Place::host_layer);
        }
    }
    void of_host_state(OperationKind kind, Place weights) {
        if (kind != OperationKind::update_moments)
            writes(weights, weights == Place::host_head ? 0 : layer_);
        writes(Place::host_states, layer_);
    }
    void of_head(OperationKind kind) {
        if (t_.resident_head()) {
            CHECK(kind == OperationKind::update);
            reads(Place::device_head);
            writes(Place::resident_head);
        } else if (kind == OperationKind::copy_weights_in) {
            reads(tied_ ? Place::table : Place::host_head);
            writes(Place::device_head);
        } else if (kind == OperationKind::copy_gradients_out) {
            reads(Place::device_head);
            writes(Place::host_head_gradient);
        } else {
            reads(Place::host_head_gradient);
            of_host_state(kind, Place::host_head);
        }
    }
    void of_embedding(OperationKind kind) {
        if (kind == OperationKind::copy_gradients_out) {
            reads(Place::norm);
            if (t_.resident_embedding()) return;
            for (std::int64_t j = 0; j < t_.micro_batches(); ++j) reads(Place::hidden, j);
            writes(Place::rows_out);
        } else if (t_.resident_embedding()) {
            reads(Place::row_sums);
            if (tied_) reads(Place::device_head);
            writes(Place::resident_table);
        } else {
            reads(Place::row_gradients);
            if (tied_) reads(Place::host_head_gradient);
            writes(Place::table);
        }
    }
    /// Layer l of n others: the l-th share of the host-kept ones begins a new one.
    bool keeps_on_host() const {
        const std::int64_t others = layers_ - t_.keep_last_layers, kept = t_.host_kept_layers;
        if (layer_ >= others || kept == 0) return false;
        return layer_ == 0 || layer_ * kept / others != (layer_ - 1) * kept / others;
    }
    std::int64_t host_kept() const {
        const std::int64_t of_a_pass = t_.micro_batches_of_a_pass();
        return layer_ * of_a_pass + j_ % of_a_pass;
    }
    /// Writes the rows of all micro-batches.
    void writes_rows() {
        for (std::int64_t j = 0; j < t_.micro_batches(); ++j) writes(Place::input, input(0, j));
    }
    void of_activations(OperationKind kind) {
        switch (kind) {
            case OperationKind::clip_gradients:
                return;
            case OperationKind::embedding_backward:
                reads(Place::token_index);
                for (std::int64_t j = 0; j < t_.micro_batches(); ++j) reads(Place::hidden, j);
                if (tied_) reads(Place::device_head);
                writes(Place::norm);
                return writes(Place::row_sums);
            case OperationKind::gather_embeddings:
                if (t_.resident_embedding()) {
                    reads(Place::token_index);
                    reads(Place::resident_table);
                    return writes_rows();
                }
                reads(Place::table);
                return writes(Place::rows_in);
            case OperationKind::scatter_embeddings:
                reads(Place::rows_out);
                return writes(Place::row_gradients);
            case OperationKind::copy_embeddings_in:
                writes(Place::token_index);
                if (t_.resident_embedding()) return;
                reads(Place::rows_in);
                return writes_rows();
            case OperationKind::forward:
                reads(Place::input, input(layer_, j_));
                touches_kept(true);
                if (layer_ == 0 && j_ % t_.micro_batches_of_a_pass() == 0)
                    turns_.forward_kept = turns_.kept_came_back = turns_.backward_kept = 0;
                if (keeps_on_host()) writes(Place::kept_in_turn, turns_.forward_kept++ % 2);
                if (layer_ + 1 == layers_) return writes(Place::hidden, j_);
                return writes(Place::input, input(layer_ + 1, j_));
            case OperationKind::loss:
                reads(Place::token_index);
                if (t_.resident_head()) reads(Place::resident_head);
                if (t_.resident_embedding() && tied_) reads(Place::resident_table);
                writes(Place::device_head);  // its gradient overwrites it
                return writes(Place::hidden, j_);
            case OperationKind::copy_checkpoint_out:
                reads(Place::input, input(layer_, j_));
                return writes(Place::host_checkpoint, layer_ * t_.micro_batches() + j_);
            case OperationKind::copy_checkpoint_in:
                if (layer_ == 0 && !t_.resident_embedding())
                    reads(Place::rows_in);
                else
                    reads(Place::host_checkpoint, layer_ * t_.micro_batches() + j_);
                if (half()) return writes(Place::input, input(layer_, j_));
                return writes(Place::coming_back, turns_.came_back++ % 2);
            case OperationKind::copy_kept_out:
                reads(Place::kept_in_turn, (turns_.forward_kept - 1) % 2);
                return writes(Place::host_kept, host_kept());
            case OperationKind::copy_kept_in:
                reads(Place::host_kept, host_kept());
                return writes(Place::kept_in_turn, turns_.kept_came_back++ % 2);
            case OperationKind::backward:
                writes(Place::hidden, j_);
                touches_kept(false);
                if (keeps_on_host()) reads(Place::kept_in_turn, turns_.backward_kept++ % 2);
                writes(Place::gradient_sum, t_.passes == 1 ? 0 : layer_);
                if (j_ + 1 == t_.micro_batches()) touches_gradient(true);
                if (half() && layer_ % 2 == 1 && layer_ + 1 < layers_) {
                    reads_weights(layer_ - 1);
                    reads(Place::input, input(layer_ - 1, j_));
                    return writes(Place::input, input(layer_, j_));
                }
                if (on_host() && !half())
                    return reads(Place::coming_back, (turns_.came_back - 1) % 2);
                return reads(Place::input, input(layer_, j_));
            default:
                FAIL("an operation that the streamed schedule does not have");
        }
    }

    const TrainingSpec& t_;
    const bool tied_;
    const int layers_;
    std::int64_t kept_a_visit_ = 0;
    std::map<std::int64_t, std::int64_t> host_slabs_;  ///< of each layer on the host
    std::int64_t layer_ = 0, j_ = 0;
    Turns turns_;
    std::vector<Access> accesses_;
};

}  // namespace sluice

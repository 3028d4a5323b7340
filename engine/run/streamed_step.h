// How does a training step run by the streamed schedule's plan? Each of its operations is defined
// here.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "engine/memory/streamed_codes.h"
#include "engine/run/embedding_rows.h"
#include "engine/run/lane_runner.h"
#include "engine/run/resident_sections.h"
#include "engine/run/step_buffers.h"

namespace sluice {

/// Token ids of one step, (batch, sequence) each. A negative target does not count in the loss.
struct StepTokens {
    std::span<const std::int32_t> inputs, targets;
    /// Index of each document's first input, ascending; each sequence begins one. Read only if
    /// attention stays within documents.
    std::span<const std::int32_t> documents = {};
};

/// A step with a larger loss or norm of the gradient is skipped: nothing is updated.
struct StepLimits {
    double loss = std::numeric_limits<double>::infinity();
    double gradient_norm = std::numeric_limits<double>::infinity();
};

struct StepOutcome {
    double loss = 0;           ///< mean over the targets that count; 0 if none does
    double gradient_norm = 0;  ///< before clipping
    double clip_factor = 1;
    /// Tokens of the busiest expert over the mean, a mean over layers; 0: no layer has experts.
    double busiest_expert = 0;
    bool redone = false;     ///< speculative clipping had guessed another factor
    bool ahead = false;      ///< updates began before the norm was known
    bool corrected = false;  ///< then it clipped, so that they were taken back and done again
    bool skipped = false;    ///< beyond a limit
    /// Whether loss and gradients were finite. If not, the step has stopped. Nothing was updated if
    /// the loss was not finite or all updates wait for the norm; else layers above the one whose
    /// gradients were not may have been.
    bool finite = true;
};

class StreamedStep {
  public:
    /// All arguments must outlive it. `choose`: see LaneRunner.
    /// Adapters are scaled by `adapter_scale`.
    StreamedStep(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes,
                 ParameterStore& store, const StepBuffers& buffers, Device& device,
                 ThreadPool& pool, LaneChoice choose = {}, float adapter_scale = 1);

    /// One step on `now`; `next` are the tokens of the next step. Returns when loss and norm are
    /// known; updates may continue until the next call or finish(). adam.gradient_scale is set
    /// here. `limits` hold where all updates wait for the norm. With --clipping auto and `ahead`
    /// they do not, where the plan is ClippedStep::ahead: the step expects that nothing is clipped.
    StepOutcome run(StepTokens now, StepTokens next, const AdamWStep& adam, double max_norm,
                    const StepLimits& limits = {}, bool ahead = false);
    /// The loss on `now` (StepOutcome::loss); parameters and optimizer stay as they are. Otherwise
    /// as run(): `next` are the tokens of the next call.
    double evaluate(StepTokens now, StepTokens next);
    /// Continues from a step that was clipped by this factor.
    void set_last_clip_factor(double factor) { last_factor_ = factor; }
    void finish() { runner_.finish(); }
    /// `before` is called with a section on the host before a step first changes its parameters or
    /// moments, on the thread that uses the pool. Precondition: no step is at work.
    void before_update(std::function<void(int section)> before) { before_ = std::move(before); }
    /// Measured intervals of the step before the last; after it returned from run().
    std::vector<OperationInterval> intervals_of_step_before() {
        return runner_.intervals_of_step_before();
    }

  private:
    /// State that the operations of a step share. The last updates of a step run during the next
    /// step.
    struct State {
        StepTokens now, next;
        AdamWStep adam;
        float loss_scale = 1;  ///< of a target: 1 / those that count in the step
        UpdatePass pass = UpdatePass::update;
        std::vector<Documents> documents;  ///< of each micro-batch; empty: of none
        bool evaluates = false;            ///< without backward and update
        StepOutcome outcome;
    };

    void work(OperationId id, std::int64_t step);
    State& state(std::int64_t step) { return states_[static_cast<std::size_t>(step % 2)]; }
    std::atomic<bool>& finite(std::int64_t step) {
        return finite_[static_cast<std::size_t>(step % 2)];
    }
    bool updates(std::int64_t step) { return finite(step) && !state(step).outcome.skipped; }
    /// Does the step of `fresh` and returns its state once loss and norm are known.
    State& run(const State& fresh);
    /// The section of ParameterStore that an operation belongs to.
    int section_of(const Operation& op) const {
        return op.layer == kEmbeddingLayer ? store_.embedding() : op.layer;
    }
    bool resident_embedding() const { return resident_.has(store_.embedding()); }
    void copy(const Operation& op, std::int64_t step);
    // Each for micro-batch `j` of the step.
    void forward(const Operation& op, std::int64_t j, std::int64_t step);
    void loss(std::int64_t j, std::int64_t step);
    void backward(const Operation& op, std::int64_t j, std::int64_t step);
    void update_ahead(const Operation& op, std::int64_t step);
    void update(const Operation& op, OperationId id, std::int64_t step);
    /// Updates the moments of a section whose parameters were updated alone.
    void update_moments(const Operation& op, std::int64_t step);
    void update_on_host(int section, UpdatePass pass, const AdamWStep& step,
                        GradientRange gradient);
    /// Those that the plan can update before the norm is known.
    std::vector<bool> sections_ahead() const;
    template <class Use>
    static void each_pass(const State& state, bool was_ahead, const Use& use);
    /// The section was updated before the norm was known.
    bool was_ahead(const State& state, int section) const {
        return state.outcome.ahead && updates_ahead_[static_cast<std::size_t>(section)];
    }
    void gather_on_device();
    void sum_rows_on_device(std::int64_t step);
    /// Sums the rows' gradients on the host.
    void scatter(std::int64_t step);
    /// How often a step chooses experts.
    std::int64_t routed_passes() const;
    /// All of the gradient is known; rows_square: of its square what the host summed.
    void learn_norm(std::int64_t step, double rows_square);
    HeadWeights head_weights() const;
    const AdapterLayout* adapter_layout_of(int layer) const;  ///< null: there are none
    LayerAdapters adapters(int layer, std::int64_t j, std::int64_t step) const;
    Dropout dropout(int layer, std::int64_t j, std::int64_t step) const;
    void finish_gradients(void* out, void* sums, std::int64_t elements);
    GradientTarget gradient_target(int layer, std::int64_t j) const;
    LayerActivations kept(const Operation& op, int layer, std::int64_t j, std::int64_t step) const;
    /// Writes where the documents of each micro-batch begin, for their copy to the device.
    std::vector<Documents> write_documents(std::span<const std::int32_t> begins) const;
    const TransformerLayer& layer(int index) const;
    const std::uint16_t* tied_gradient() const;
    /// Whether everything that left the device with these gradients is finite; if not, the step
    /// stops here.
    bool still_finite(std::int64_t step, const StepSums& sums);
    void announce(int section) const {
        if (before_) before_(section);
    }
    StepOutcome redo(const State& clipped);

    const ModelSpec& model_;
    const StepShape& shape_;
    const StepProgram& program_;
    const Placement& homes_;
    const PlaneStore& planes_;
    ParameterStore& store_;
    Device& device_;
    ThreadPool& pool_;
    std::vector<TransformerLayer> kinds_;
    float adapter_scale_;
    std::vector<AdapterLayout> adapter_kinds_;  ///< one a kind of layer; empty: there are none
    std::vector<std::int64_t> adapter_begins_;
    HeadLoss head_;
    const StepBuffers& buffers_;
    StreamedCodes codes_;
    ResidentSections resident_;
    EmbeddingRows rows_;
    OperationId norm_known_ = 0, first_rows_ = 0;
    std::vector<bool> updates_ahead_;
    /// Whether the plan updates rows that the next batch does not use in a separate operation; not
    /// if a batch may use all rows.
    bool other_rows_later_ = true;

    std::array<State, 2> states_;
    /// Lanes that do not wait for each other write and read whether a step's sums are.
    std::array<std::atomic<bool>, 2> finite_;
    std::function<void(int section)> before_;
    double max_norm_ = std::numeric_limits<double>::infinity();  ///< of the last run()
    StepLimits limits_;
    double last_factor_ = 1;  ///< of clipping: the guess for the next step
    bool gathered_ = false;   ///< the rows of the next step are in buffers_.rows_in()

    LaneRunner runner_;  ///< last: its threads use all of the above
};

}  // namespace sluice

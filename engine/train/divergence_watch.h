// Since which step do loss and gradients say that the weights have become worse, so that
// checkpoints are suspect?
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

/// Loss and norm of a step.
struct RecentStep {
    double loss = 0, gradient_norm = 0;
    bool operator==(const RecentStep&) const = default;
};

/// Steps in a row that look worse than those before.
struct WorseSteps {
    std::optional<std::int64_t> since;  ///< the first one; empty: the last step looked well
    bool is_sure = false;               ///< one of them was far worse
    bool operator==(const WorseSteps&) const = default;
};

/// Facts known from the steps so far. A checkpoint keeps them, so that a run that goes on judges
/// its first step as it would have without the end between.
struct DivergenceMemory {
    std::int64_t steps = 0;              ///< that are in the numbers below
    double norm_log = 0;                 ///< typical logarithm of the norm
    double loss = 0, loss_variance = 0;  ///< typical
    double last_loss = 0;                ///< that entered them
    double lowest_loss = 0;              ///< that was ever typical
    double worse_loss = 0;  ///< of the last step in loss_rise, if it enters the numbers
    WorseSteps norm, loss_rise, no_gradient;
    bool operator==(const DivergenceMemory&) const = default;

    /// The first step that looks worse, of those that last until now. The weights that it began
    /// with, those of the step before, are the first that are in doubt.
    std::optional<std::int64_t> worse_since() const;
    /// The same, but empty while none was far worse.
    std::optional<std::int64_t> far_worse_since() const;
};

/// Typical is the mean over all steps at first, then mostly over the last 50. Three things look
/// worse:
/// - a norm above twice the typical one; far worse: above four times it. The typical one follows,
///   since norms change their size in a run that is well.
/// - a loss above the lowest typical one, by 3 standard deviations and 5% of it and more; far
///   worse: by twice that, or about the logarithm of the vocabulary, which is the loss of a model
///   that knows nothing. It stays so until a later loss is as good. The last of these
///   losses, lowered to the limit of far worse, then enters mean and deviation: batches vary so.
///   The deviation is that of differences between steps.
/// - a norm of 0 after others, as of a model whose units are all off.
class DivergenceWatch {
  public:
    explicit DivergenceWatch(std::int64_t vocabulary);

    /// Each step in turn: its loss, its norm before clipping, and the targets that count. A number
    /// that is not finite is far worse.
    void add(std::int64_t step, double loss, double norm, std::int64_t targets);

    /// Whether the last steps, and not one batch among good ones, say that the model is lost.
    bool has_diverged() const { return has_diverged_; }

    const DivergenceMemory& memory() const { return memory_; }
    /// An older version saved no memory. `recent`, its last steps, are then learned from, without a
    /// verdict on them.
    void continue_from(const DivergenceMemory& memory, std::span<const RecentStep> recent = {});

  private:
    void judge_norm(std::int64_t step, double norm);
    void judge_loss(std::int64_t step, double loss);
    void learn(double loss);

    double guess_;  ///< about the loss of a model that knows nothing
    DivergenceMemory memory_;
    bool has_diverged_ = false;
};

}  // namespace sluice

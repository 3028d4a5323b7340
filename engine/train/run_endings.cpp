#include "engine/train/run_endings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/machine/health_watch.h"
#include "sim/base/format.h"

namespace sluice {

std::string divergence_words(const StepRecord& record) {
    return fmt::format(
        "step {}: {} is not finite, so training stopped; a lower --learning-rate or a longer "
        "--warmup-steps may help",
        record.step, std::isfinite(record.outcome.loss) ? "the gradient" : "the loss");
}

std::string diverged_words(const StepRecord& record, const DivergenceMemory& memory) {
    if (memory.no_gradient.since)
        return fmt::format(
            "the run has diverged: since step {} the gradient is 0, so that the model learns "
            "nothing "
            "more, with a loss of {:.4f} in step {} and {:.4f} before; a lower --learning-rate may "
            "help",
            *memory.no_gradient.since, record.outcome.loss, record.step, memory.loss);
    return fmt::format(
        "the run has diverged: the loss is {:.4f} in step {}, and was {:.4f} before step {}; a "
        "lower "
        "--learning-rate may help",
        record.outcome.loss, record.step, memory.loss, *memory.loss_rise.since);
}

std::string spike_words(const StepRecord& record, double deviations) {
    return fmt::format(
        "step {} is a spike{}: its loss of {:.4f} or its gradient's norm of {:.3f} is more than "
        "{:g} standard deviations above those of the steps before",
        record.step, record.outcome.skipped ? " and changed nothing" : "", record.outcome.loss,
        record.outcome.gradient_norm, deviations);
}

std::string grace_words(const TrainSettings& settings, Seconds save, Seconds step,
                        std::optional<std::int64_t> newest) {
    const std::string takes =
        fmt::format("a checkpoint takes about {}{}", format_seconds(save),
                    step > 0 ? fmt::format(" after a step of {}", format_seconds(step)) : "");
    if (save + step <= *settings.grace)
        return fmt::format("{}, within --grace {:g} s{}", takes, *settings.grace,
                           step > 0 ? ""
                                    : fmt::format(" if the step before it takes less than {}",
                                                  format_seconds(*settings.grace - save)));
    std::string after;
    if (settings.save_every > 0)
        after = fmt::format("up to {} steps are done again, those since the last --save-every",
                            settings.save_every);
    else if (newest)
        after = fmt::format("all steps after step {} are done again; give --save-every", *newest);
    else
        after = "it is tried, since there is no other, and may be lost; give --save-every";
    return fmt::format("{}, longer than --grace {:g} s: after a signal {}", takes, *settings.grace,
                       after);
}

std::string unsaved_words(const TrainSettings& settings, const StepRecord& record,
                          std::int64_t newest, Seconds save, Seconds left) {
    const std::int64_t again = record.step - newest;
    // As often as one is written by the time that the next begins.
    const auto every = static_cast<std::int64_t>(std::ceil(save / record.seconds));
    const bool helps = settings.save_every == 0 || every < settings.save_every;
    return fmt::format(
        "step {} is not saved: that takes about {}, and {}; --resume goes on from step {} and does "
        "{} step{} again{}",
        record.step, format_seconds(save),
        left > 0 ? fmt::format("{} of --grace are left", format_seconds(left)) : "--grace is over",
        newest, again, again == 1 ? "" : "s",
        helps ? fmt::format(", --save-every {} would leave fewer", every) : "");
}

std::string driver_words(const Nvml* gpu) {
    constexpr Seconds kPatience = 0.5;
    const auto xid = gpu == nullptr ? std::nullopt : gpu->fault(kPatience);
    return xid ? "; the driver reports " + xid_words(*xid) : "";
}

}  // namespace sluice

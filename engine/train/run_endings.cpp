#include "engine/train/run_endings.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/machine/health_watch.h"

namespace sluice {

std::string divergence_words(const StepRecord& record) {
    return fmt::format(
        "step {}: {} is not finite, so training stopped; a lower --learning-rate or a longer "
        "--warmup-steps may help",
        record.step, std::isfinite(record.outcome.loss) ? "the gradient" : "the loss");
}

std::string spike_words(const StepRecord& record, double deviations) {
    return fmt::format(
        "step {} is a spike{}: its loss of {:.4f} or its gradient's norm of {:.3f} is more than "
        "{:g} standard deviations above those of the steps before",
        record.step, record.outcome.skipped ? " and changed nothing" : "", record.outcome.loss,
        record.outcome.gradient_norm, deviations);
}

std::string driver_words(const Nvml* gpu) {
    constexpr Seconds kPatience = 0.5;
    const auto xid = gpu == nullptr ? std::nullopt : gpu->fault(kPatience);
    return xid ? "; the driver reports " + xid_words(*xid) : "";
}

}  // namespace sluice

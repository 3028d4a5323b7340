#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "sim/answers/audit/audit.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/predict/predict.h"
#include "sim/answers/predict/prediction_band.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

constexpr std::int64_t kLargestBatch = 1024;

struct FittingStep {
    Prediction report;
    std::vector<Setting> changes;
};

std::string changes_words(const std::vector<Setting>& changes) {
    return changes.empty() ? "" : " with " + setting_flags(changes);
}

std::optional<FittingStep> fitting_step(const Claim& claim, TrainingSpec training, bool with_band) {
    try {
        const auto fitting = fitting_training(claim.model, claim.machine, training, true);
        if (!fitting) return std::nullopt;
        const Wanted wanted{.band = with_band ? Wanted::Band::always : Wanted::Band::none};
        return FittingStep{predict(claim.model, claim.machine, *fitting, wanted),
                           changed_settings(training, *fitting)};
    } catch (const InputError&) {
        return std::nullopt;  // model, machine and schedule are not valid together
    }
}

/// The claimed batch, or all batches to try.
std::vector<std::int64_t> batches(const Claim& claim) {
    if (claim.batch_given) return {claim.training.batch};
    std::vector<std::int64_t> out;
    for (std::int64_t part = 1; part <= kLargestBatch; part *= 2)
        out.push_back(part * claim.training.gpus);  // the same for each GPU
    return out;
}

/// The step with states on storage; empty if it does not fit either.
std::optional<TrainingSpec> states_on_storage(const Claim& claim) {
    if (claim.storage_gb == 0 || !claim.machine.storage.known()) return std::nullopt;
    try {
        TrainingSpec training = claim.training;
        training.batch = batches(claim).front();
        training = training_of(schedule_with(&ScheduleRecord::needs_storage), training);
        if (fitting_step(claim, training, false)) return training;
    } catch (const InputError&) {
        // the claimed options are not valid with that schedule
    }
    return std::nullopt;
}

/// The settings with the largest states that fit at the smallest batch: in memory, else on storage,
/// else in memory with a master of less than 32 bits; empty if none fit.
std::optional<TrainingSpec> fitting_states(const Claim& claim) {
    bool is_master_whole = true;
    for (const StatePrecision& precision : kStatePrecisions) {
        TrainingSpec training = claim.training;
        if (precision.bytes > training.state_bytes || !precision.takes_hidden(claim.model.hidden))
            continue;
        if (is_master_whole && precision.low_bytes < 2) {
            is_master_whole = false;
            if (const auto stored = states_on_storage(claim)) return stored;
        }
        training.state_bytes = precision.bytes;
        training.batch = batches(claim).front();
        if (fitting_step(claim, training, false)) return training;
        if (!has_option(training.schedule, "state_bytes")) break;
    }
    return is_master_whole ? states_on_storage(claim) : std::nullopt;
}

std::string states_words(const TrainingSpec& training) {
    if (training.schedule->needs_storage)
        return fmt::format(" (states on storage, as by {})", training.schedule->measured_system);
    return training.state_bytes == 12
               ? ""
               : fmt::format(" ({} bytes a parameter)", training.state_bytes);
}

std::string speed_words(const Prediction& r) {
    const Banded speed = r.speed();
    return fmt::format("{} tokens/s (5 to 95%: {} to {}) at {} x {} tokens",
                       format_thousands(speed.value), format_thousands(speed.low),
                       format_thousands(speed.high), r.asked.training.batch,
                       format_thousands(r.asked.training.sequence));
}

Finding fits_finding(const Claim& claim, const std::optional<TrainingSpec>& training) {
    if (training) {
        const FittingStep step = *fitting_step(claim, *training, false);
        return {training->state_bytes == 12 ? Verdict::possible : Verdict::doubtful, "simulated",
                fmt::format("fits{}{}: device {}, host {}", states_words(*training),
                            changes_words(step.changes),
                            format_bytes(step.report.plan.fit.device().peak.bytes),
                            format_bytes(step.report.plan.fit.host().peak.bytes)),
                training->state_bytes == 12 ? "" : "smaller states than fp32 moments"};
    }
    TrainingSpec asked = claim.training;
    asked.batch = batches(claim).front();
    Prediction r;
    try {
        r = predict(claim.model, claim.machine, asked);
    } catch (const InputError& error) {
        return {Verdict::doubtful, "simulated", error.what(), "settings that are valid together"};
    }
    std::string words;
    for (const std::string& one : shortages(r.plan)) words += (words.empty() ? "" : "; ") + one;
    return {claim.storage_gb > 0 ? Verdict::doubtful : Verdict::impossible, "simulated",
            "does not fit, nor with the nearest settings: " + words,
            claim.storage_gb > 0 ? "states on storage" : "more memory"};
}

Finding speed_finding(const Claim& claim, const TrainingSpec& training) {
    const double claimed = *claim.tokens_per_s;
    std::optional<FittingStep> best, reaches;
    for (const std::int64_t batch : batches(claim)) {
        TrainingSpec one = training;
        one.batch = batch;
        auto step = fitting_step(claim, one, true);
        if (!step) continue;
        if (!reaches && step->report.tokens_per_s() >= claimed) reaches = step;
        if (!best || step->report.tokens_per_s() > best->report.tokens_per_s()) best = step;
    }
    const Prediction& r = best->report;
    if (reaches)
        return {Verdict::possible, "simulated",
                fmt::format("reached by a batch of {}: {}; the highest speed is {}",
                            reaches->report.asked.training.batch, speed_words(reaches->report),
                            speed_words(r)),
                ""};
    const bool within = claimed <= r.speed().high;
    return {
        Verdict::doubtful, "simulated",
        fmt::format("the highest speed is {}; {} is {}", speed_words(r), format_thousands(claimed),
                    within ? "within its band" : "beyond its band"),
        within ? "a machine at the upper end of published results of its kind"
               : "rates above all published results of such a machine: " + bottleneck_text(r.step)};
}

Finding speedup_finding(const Claim& claim) {
    double least = 0, most = 0;
    std::string where_least, where_most;
    for (const std::int64_t batch : batches(claim)) {
        TrainingSpec ours = claim.training, other;
        ours.batch = other.batch = batch;
        other.sequence = ours.sequence;
        other.schedule = claim.speedup->over;
        const auto a = fitting_step(claim, ours, false), b = fitting_step(claim, other, false);
        if (!a || !b) continue;
        const double times = b->report.step.seconds / a->report.step.seconds;
        const std::string where = fmt::format("{:.2f} at a batch of {}", times, batch);
        if (least == 0 || times < least) std::tie(least, where_least) = std::pair(times, where);
        if (times > most) std::tie(most, where_most) = std::pair(times, where);
    }
    if (least == 0)
        return {Verdict::doubtful, "simulated", "the two systems do not both fit with any batch",
                "more host memory"};
    Finding finding{Verdict::possible, "simulated",
                    fmt::format("speedup: {} to {}", where_least, where_most), ""};
    // Both systems are predicted for one machine, so errors of rates are common to both; errors of
    // the two models are not.
    const double room = 1 + 2 * kStructuralError;
    if (claim.speedup->times < least / room || claim.speedup->times > most * room) {
        finding.verdict = Verdict::doubtful;
        finding.would_need = claim.speedup->times > most
                                 ? "the other system with slower settings than its best"
                                 : "a slower implementation than the plan";
    }
    return finding;
}

/// Judges by the two resources that double buffering lets overlap, copies and compute.
std::optional<Finding> overlap_finding(const Claim& claim) {
    if (claim.busy.size() < 2) return std::nullopt;
    const BusyClaim &without = claim.busy.front(), &with = claim.busy.back();
    const double most = most_busy_overlapped(without.high);
    if (with.low <= most)
        return Finding{Verdict::possible, "overlap",
                       fmt::format("overlap can raise {} to {}", format_percent(without.high),
                                   format_percent(most)),
                       ""};
    return Finding{
        Verdict::doubtful, "overlap",
        fmt::format("a GPU that computes for {} of a step and else waits for one kind of copy "
                    "computes for at most {} with overlap, not for {}",
                    format_percent(without.high), format_percent(most), format_percent(with.low)),
        "waits for gradients and the optimizer, not only for weights, that the settings remove"};
}

/// One batch, and the distance of its busy shares from the claimed ones.
struct BusyAt {
    std::int64_t batch = 0;
    double miss = 0;
    std::string shares;
};

std::optional<BusyAt> busy_at(const Claim& claim, std::int64_t batch) {
    BusyAt out{batch, 0, ""};
    for (const BusyClaim& busy : claim.busy) {
        TrainingSpec training = busy.training;
        training.batch = batch;
        const auto step = fitting_step(claim, training, false);
        if (!step) return std::nullopt;
        const Prediction& r = step->report;
        const double share = r.step.lane(Work::compute).busy / r.step.seconds;
        out.miss += std::max({0.0, busy.low - share, share - busy.high});
        out.shares += fmt::format("{}{}{}{}", out.shares.empty() ? "" : ", ", format_percent(share),
                                  busy.settings.empty() ? "" : " with ", busy.settings);
    }
    return out;
}

std::optional<Finding> busy_finding(const Claim& claim) {
    if (claim.busy.empty()) return std::nullopt;
    std::optional<BusyAt> nearest;
    for (const std::int64_t batch : batches(claim)) {
        const auto at = busy_at(claim, batch);
        if (at && (!nearest || at->miss < nearest->miss)) nearest = at;
    }
    if (!nearest)
        return Finding{Verdict::doubtful, "simulated", "no batch fits with those settings", ""};
    Finding finding{Verdict::possible, "simulated",
                    fmt::format("nearest at a batch of {}: the GPU computes {} of the step",
                                nearest->batch, nearest->shares),
                    ""};
    if (nearest->miss > kStructuralError * static_cast<double>(claim.busy.size())) {
        finding.verdict = Verdict::doubtful;
        finding.would_need = "longer waits of the GPU than the named settings cause";
    }
    return finding;
}

}  // namespace

std::vector<Finding> check_simulated(const Claim& claim) {
    const std::optional<TrainingSpec> training = fitting_states(claim);
    std::vector<Finding> out = {fits_finding(claim, training)};
    if (claim.tokens_per_s && training) out.push_back(speed_finding(claim, *training));
    if (claim.speedup) out.push_back(speedup_finding(claim));
    for (const auto& finding : {overlap_finding(claim), busy_finding(claim)})
        if (finding) out.push_back(*finding);
    return out;
}

}  // namespace sluice

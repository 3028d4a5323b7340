#include "engine/train/run_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/train/run_setup.h"
#include "sim/report/report.h"
#include "sim/report/timeline_picture.h"

namespace sluice {
namespace {

constexpr std::int64_t kWarmUp = 3;  // the first steps build plans and fill caches

RunFacts facts_of(const TrainSettings& settings, const ReportedRun& run) {
    const PlannedStep& plan = run.plan;
    RunFacts facts{
        run.asked.model_name,       run.device,  settings.steps, plan.fit.device().peak.bytes,
        plan.fit.host().peak.bytes, std::nullopt};
    facts.settings = run.facts;
    facts.hyperparameters = nlohmann::ordered_json::parse(run.settings);
    if (settings.expected) {
        facts.expected_step = settings.expected->step;
        facts.expected_step_ahead = settings.expected->step_ahead;
    }
    return facts;
}

}  // namespace

RunReports::RunReports(const TrainSettings& settings, ReportedRun run, bool measures,
                       std::int64_t done, HealthWatch health)
    : settings_(settings),
      run_(std::move(run)),
      measures_(measures || settings.watch),
      done_(done),
      progress_(settings.steps, settings.log),
      health_(std::move(health)) {
    if (settings.watch)
        watch_.emplace(*settings.watch, facts_of(settings, run_), done, settings.log,
                       [](const std::string& sentence) {
                           say_on_stderr(fmt::format("sluice-train: {}\n", sentence));
                       });
}

void RunReports::add(const StepRecord& record, std::int64_t distinct_tokens, StreamedStep& step,
                     const StepWatch& watch) {
    progress_.report(record);
    redone_ += record.outcome.redone ? 1 : 0;
    most_device_ = std::max(most_device_, record.device);
    most_host_ = std::max(most_host_, record.host);
    const StepOutcome& outcome = record.outcome;
    const bool disturbs =
        record.validation || record.saving || outcome.skipped || outcome.corrected;
    const bool counts = measures_ && outcome.finite && record.step > done_ + kWarmUp &&
                        !outcome.redone && !disturbs && !disturbed_ &&
                        outcome.ahead == ahead_before_;
    // The previous step is the one that is measured.
    if (counts)
        measured_[outcome.ahead ? 1 : 0].add(run_.plan.program,
                                             {step.intervals_of_step_before(), distinct_before_});
    else
        pause();
    ++steps_;
    disturbed_steps_ += disturbs || outcome.redone ? 1 : 0;
    disturbed_ = disturbs;
    ahead_before_ = outcome.ahead;
    distinct_before_ = distinct_tokens;
    if (watch_) watch_->add(record);
    look_at_machine();
    if (watch_ && watch_->is_due())
        watch_->write(progress_.state(), run_.newest_checkpoint(), measured_parts(watch));
}

void RunReports::note(const std::string& sentence) {
    say(fmt::format("note: {}\n", sentence));
    if (watch_) watch_->note(sentence);
}

void RunReports::look_at_machine() {
    constexpr Seconds kBetween = 10;
    if (host_seconds() - looked_at_ < kBetween) return;
    looked_at_ = host_seconds();
    for (const std::string& warning : health_.news()) note(warning);
}

std::optional<TimedPlan> RunReports::measured(const StepWatch& watch) const {
    const auto& [waited, ahead] = measured_;
    if (waited.empty() && ahead.empty()) return std::nullopt;
    const auto count = [](const MeasuredSteps& of) { return of.empty() ? 0 : of.count(); };
    RunMeasurements run{run_.activations, most_device_, most_host_, redone_, watch.gpu_watts()};
    run.ahead = count(ahead) > count(waited);
    run.host_rates = run_.host_rates;
    if (settings_.expected) run.expected = settings_.expected->of(run.ahead).rates;
    return measured_report(run_.asked, run_.plan, run.ahead ? ahead : waited, run);
}

TimedPlan RunReports::not_measured() const {
    TimedPlan out{run_.asked, run_.plan, {}};
    out.step.measured = Measurement{most_device_, most_host_};
    if (run_.activations == DType::fp32) out.step.measured->activations = Precision::fp32;
    return out;
}

std::string RunReports::why_not_measured() const {
    return fmt::format(
        "no step was measured: that takes two of one kind in a row after the first {}; of {} done, "
        "{} were redone, corrected, skipped, saved or validated; give --steps {} or more",
        kWarmUp, steps_, disturbed_steps_, std::max(steps_, kWarmUp) + 2);
}

std::optional<MeasuredParts> RunReports::measured_parts(const StepWatch& watch) const {
    const std::optional<TimedPlan> timed = measured(watch);
    if (!timed) return std::nullopt;
    MeasuredParts parts;
    parts.step = step_picture(*timed);
    if (settings_.expected) {
        const ExpectedStep expected = settings_.expected->of(timed->step.measured->ahead);
        parts.against_plan = against_plan(expected, *timed);
        parts.comparison = expected_table(expected, *timed);
    } else {
        parts.comparison = lanes_table(timed->step);
    }
    return parts;
}

void RunReports::end(const std::string& how, const StepWatch& watch, bool well) {
    if (watch_) watch_->end(how, run_.newest_checkpoint(), measured_parts(watch), well);
}

}  // namespace sluice

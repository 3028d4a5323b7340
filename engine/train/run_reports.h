// How does a run report while it trains: lines and logs, the page of --watch, warnings about the
// machine, and the measured step?
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "engine/machine/health_watch.h"
#include "engine/train/measured_report.h"
#include "engine/train/progress.h"
#include "engine/train/run_settings.h"
#include "engine/train/step_watch.h"
#include "engine/watch/run_watch.h"

namespace sluice {

/// The run that is reported.
struct ReportedRun {
    AskedStep asked;
    PlannedStep plan;
    std::string device;
    DType activations = DType::bf16;
    HostRates host_rates;                                    ///< at its start
    std::vector<std::pair<std::string, std::string>> facts;  ///< run_facts()
    std::string settings;                                    ///< settings_record()
    std::function<std::string()> newest_checkpoint;          ///< its folder, or ""
};

class RunReports {
  public:
    /// `measures`: steps are measured. `done`: steps of earlier runs. Throws InputError if a file
    /// cannot be written.
    RunReports(const TrainSettings& settings, ReportedRun run, bool measures, std::int64_t done,
               HealthWatch health);

    /// Reports a step that is done; `distinct_tokens` of its batch.
    void add(const StepRecord& record, std::int64_t distinct_tokens, StreamedStep& step,
             const StepWatch& watch);
    /// A held-out loss that was found before any step of this run.
    void add_validation(std::int64_t step, const ValidationLoss& loss) {
        progress_.report_validation(step, loss);
    }
    /// Something else than a step follows the last one.
    void pause() {
        for (MeasuredSteps& steps : measured_) steps.pause();
    }
    /// A sentence for people: on standard output and on the page.
    void note(const std::string& sentence);
    /// The measured step; empty if no step could be measured.
    std::optional<TimedPlan> measured(const StepWatch& watch) const;
    /// Then: the plan that ran and its memory, and why its step was not measured, a sentence.
    TimedPlan not_measured() const;
    std::string why_not_measured() const;
    /// How the run ended, a sentence. `well`: not by a fault.
    void end(const std::string& how, const StepWatch& watch, bool well = false);

  private:
    std::optional<MeasuredParts> measured_parts(const StepWatch& watch) const;
    void look_at_machine();

    const TrainSettings& settings_;
    ReportedRun run_;
    bool measures_;
    std::int64_t done_;
    Progress progress_;
    std::optional<RunWatch> watch_;  ///< with --watch
    HealthWatch health_;
    Seconds looked_at_ = 0;
    /// Those whose updates waited for the norm, and began before it was known.
    std::array<MeasuredSteps, 2> measured_;
    bool disturbed_ = false;     ///< the last step, by other work
    bool ahead_before_ = false;  ///< the last step
    std::int64_t steps_ = 0, disturbed_steps_ = 0;
    std::int64_t distinct_before_ = 0;  ///< of the last step
    std::int64_t redone_ = 0;
    Bytes most_device_ = 0, most_host_ = 0;
};

}  // namespace sluice

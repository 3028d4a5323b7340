// Which predictions are under way, off the GUI thread, and what came back?
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <array>
#include <memory>
#include <stop_token>

#include "planner-gui/session/prediction.h"
#include "planner-gui/session/session_jobs.h"
#include "sim/answers/compare/comparison.h"
#include "sim/answers/decision/decision.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

/// Answers on threads of its own, a verdict on one and the jobs one after another on another;
/// signals come on the thread that it lives on.
class PlannerSession : public QObject {
    Q_OBJECT
  public:
    explicit PlannerSession(QObject* parent = nullptr);
    /// Stops all and waits for it.
    ~PlannerSession() override;

    /// A verdict: predicted() three times, one a stage, or refused(). Supersedes the one before.
    void request(const PlannedScenario& planned);

    /// Every system on the machine, beside a cluster that the scenario is of: compared().
    void compare(const PlannedScenario& planned);
    /// sensitivityFound().
    void findSensitivity(const PlannedScenario& planned);
    /// Every combination of two axes: explored() for each, row by row.
    void explore(const PlannedScenario& planned, const ExploredAxis& x, const ExploredAxis& y);
    /// Each machine with each schedule, with its band where it fits: machineFound() for each.
    void tryMachines(const PlannedScenario& planned, const std::vector<std::string>& machines,
                     const std::vector<std::string>& schedules);
    /// Each with its band: scenarioPredicted(); those that are refused are passed over.
    void predictAll(const std::vector<PlannedScenario>& scenarios);
    /// Measured runs of files and folders against the scenario's machine: validated().
    void validate(const PlannedScenario& planned, const QStringList& files);
    /// One measured run with the prediction of its own settings on the scenario's machine:
    /// overlaid().
    void overlay(const PlannedScenario& planned, const QString& file);
    /// The page of `sluice report` for its machine and those of these: decided().
    void decide(const PlannedScenario& planned, const std::vector<PlannedScenario>& others);
    void cancel(JobKind kind);
    /// Returns when all that was asked for is done or stopped; its signals may still be under way.
    void wait();

  Q_SIGNALS:
    void predicted(std::shared_ptr<const sluice::ScenarioAnswer> prediction);
    /// `field` as in InputError.
    void refused(QString sentence, QString field);

    void compared(std::shared_ptr<const sluice::Comparison> comparison);
    void sensitivityFound(std::shared_ptr<const sluice::Sensitivity> sensitivity);
    void explored(std::shared_ptr<const sluice::ExploredCell> cell);
    void machineFound(std::shared_ptr<const sluice::MachineSystem> row);
    void scenarioPredicted(std::shared_ptr<const sluice::ScenarioAnswer> prediction);
    void validated(std::shared_ptr<const sluice::Validation> validation);
    void overlaid(std::shared_ptr<const sluice::RunComparison> run);
    void decided(std::shared_ptr<const sluice::Decision> decision);
    void progress(sluice::JobKind kind, int done, int all);
    /// A job cannot be done: the sentence. finished() does not follow.
    void failed(sluice::JobKind kind, QString sentence);
    void finished(sluice::JobKind kind);

  private:
    /// What a job may tell: nothing arrives once a newer one of its kind was asked for.
    class Teller;
    /// Stops what a kind has under way or waiting, and its answers; the newer one's teller.
    Teller supersede(std::size_t kind);
    void post_job(JobKind kind, std::function<void(const Teller&)> work);

    static constexpr std::size_t kVerdict = kJobKinds;
    std::array<std::stop_source, kJobKinds + 1> newest_;  ///< by kind
    QThreadPool verdicts_, jobs_;                         ///< of one thread each
};

}  // namespace sluice

// Which predictions run off the GUI thread, and which results have arrived?
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
#include "sim/answers/search/run_question.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/answers/validate/validation.h"

namespace sluice {

/// Computes verdicts on one thread, and jobs one after another on a second one. Signals arrive on
/// the thread that the session lives on.
class PlannerSession : public QObject {
    Q_OBJECT
  public:
    explicit PlannerSession(QObject* parent = nullptr);
    /// Stops all work and waits for it to end.
    ~PlannerSession() override;

    /// Requests a verdict: predicted() once for each of three stages, or refused(). Replaces the
    /// earlier request.
    void request(const PlannedScenario& planned);

    /// Every system on the machine, and the cluster if the scenario is of one, each with its
    /// fastest plan or as its users run it: compared().
    void compare(const PlannedScenario& planned, bool as_users_run = false);
    /// Gains of more hardware: sensitivityFound().
    void findSensitivity(const PlannedScenario& planned);
    /// Every combination of two axes: explored() for each, row by row.
    void explore(const PlannedScenario& planned, const ExploredMap& map);
    /// Each way, with a band if it fits: machineFound() for each.
    void tryMachines(const PlannedScenario& planned, const std::vector<MachineWay>& ways);
    /// Each scenario with its band: outlined(); refused ones are skipped.
    void predictAll(const std::vector<PlannedScenario>& scenarios);
    /// Compares measured runs in files and folders with predictions for the scenario's machine:
    /// validated().
    void validate(const PlannedScenario& planned, const QStringList& files);
    /// Compares one measured run with a prediction of its own settings on the scenario's machine:
    /// overlaid().
    void overlay(const PlannedScenario& planned, const QString& file);
    /// The page of `sluice report` for the scenario's machine and those of the others: decided().
    /// With a run that was asked, also the ways that were found for it, predicted again.
    void decide(const PlannedScenario& planned, const std::vector<PlannedScenario>& others,
                const std::optional<FoundWays>& found = std::nullopt);
    /// Every machine for the question of the start page: startTried() for each.
    void tryStart(const RunQuestion& question);
    /// The ways of an earlier answer, predicted again: startTried() for each.
    void answerStart(const FoundWays& found);
    void cancel(JobKind kind);
    /// Returns when all requests are done or stopped; their signals may arrive later.
    void wait();

  Q_SIGNALS:
    void predicted(std::shared_ptr<const sluice::ScenarioAnswer> prediction);
    /// `field` as in InputError.
    void refused(QString sentence, QString field);

    void compared(std::shared_ptr<const sluice::Comparison> comparison);
    void sensitivityFound(std::shared_ptr<const sluice::Sensitivity> sensitivity);
    void explored(std::shared_ptr<const sluice::ExploredCell> cell);
    void machineFound(std::shared_ptr<const sluice::MachineSystem> row);
    /// A prediction with its band, of request() or predictAll(), without operations: see
    /// forget_operations().
    void outlined(std::shared_ptr<const sluice::ScenarioAnswer> prediction);
    void validated(std::shared_ptr<const sluice::Validation> validation);
    void overlaid(std::shared_ptr<const sluice::RunComparison> run);
    void decided(std::shared_ptr<const sluice::Decision> decision);
    void startTried(std::shared_ptr<const sluice::RunWay> candidate);
    void progress(sluice::JobKind kind, int done, int all);
    /// A sentence why a job failed. finished() does not follow.
    void failed(sluice::JobKind kind, QString sentence);
    void finished(sluice::JobKind kind);

  private:
    /// Forwards a job's results; none arrive after a newer request of its kind.
    class Teller;
    /// Stops the running and waiting jobs of a kind and their results; returns the sink of the new
    /// job.
    Teller supersede(std::size_t kind);
    void post_job(JobKind kind, std::function<void(const Teller&)> work);

    static constexpr std::size_t kVerdict = kJobKinds;
    std::array<std::stop_source, kJobKinds + 1> newest_;  ///< by kind
    QThreadPool verdicts_, jobs_;                         ///< with one thread each
};

}  // namespace sluice

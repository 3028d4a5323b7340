#include "planner-gui/session/planner_session.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "planner-gui/session/memory_returned.h"
#include "sim/answers/predict/outline.h"
#include "sim/answers/validate/measured_runs.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

std::size_t index(JobKind kind) { return static_cast<std::size_t>(kind); }

QString sentence_of(const std::exception& error) {
    const QString sentence = QString::fromUtf8(error.what());
    return dynamic_cast<const std::logic_error*>(&error) == nullptr
               ? sentence
               : QStringLiteral("internal error: %1; please report it with the scenario")
                     .arg(sentence);
}

ScenarioAnswer outline_of(ScenarioAnswer answer) {
    forget_operations(answer.prediction);
    return answer;
}

}  // namespace

class PlannerSession::Teller {
  public:
    Teller(PlannerSession& session, std::size_t kind, std::stop_token stop)
        : session_(session), kind_(kind), stop_(std::move(stop)) {}

    /// Calls `tell` on the session's thread, unless a newer request has arrived by then.
    template <typename Tell>
    void operator()(Tell tell) const {
        QMetaObject::invokeMethod(
            &session_,
            [&session = session_, stop = stop_, tell = std::move(tell)] {
                if (!stop.stop_requested()) tell(session);
            },
            Qt::QueuedConnection);
    }
    template <typename Signal, typename Value>
    void send(Signal signal, Value value) const {
        (*this)([signal, shared = std::make_shared<const Value>(std::move(value))](
                    PlannerSession& session) {
            Q_EMIT(session.*signal)
            (shared);
        });
    }
    /// Sends value(i) of each and how many are done. They are told in their order, though two are
    /// computed at a time.
    template <typename Signal, typename Value>
    void each(std::size_t all, Signal signal, Value value) const {
        std::vector<std::optional<decltype(value(all))>> found(all);
        std::size_t told = 0;
        std::mutex telling;
        in_threads(all, [&](std::size_t i) {
            auto one = value(i);
            const std::lock_guard lock(telling);
            found[i] = std::move(one);
            for (; told < all && found[told]; ++told) {
                send(signal, *std::move(found[told]));
                progress(told + 1, all);
            }
        });
    }
    const std::stop_token& stop() const { return stop_; }
    void progress(std::size_t done, std::size_t all) const {
        (*this)([kind = static_cast<JobKind>(kind_), done, all](PlannerSession& session) {
            Q_EMIT session.progress(kind, static_cast<int>(done), static_cast<int>(all));
        });
    }

  private:
    PlannerSession& session_;
    std::size_t kind_;
    std::stop_token stop_;
};

PlannerSession::PlannerSession(QObject* parent) : QObject(parent) {
    verdicts_.setMaxThreadCount(1);
    jobs_.setMaxThreadCount(1);
}

PlannerSession::~PlannerSession() {
    for (std::stop_source& stop : newest_) stop.request_stop();
    wait();
}

void PlannerSession::wait() {
    verdicts_.waitForDone();
    jobs_.waitForDone();
}

PlannerSession::Teller PlannerSession::supersede(std::size_t kind) {
    newest_[kind].request_stop();
    newest_[kind] = std::stop_source();
    return {*this, kind, newest_[kind].get_token()};
}

void PlannerSession::request(const PlannedScenario& planned) {
    const Teller tell = supersede(kVerdict);
    verdicts_.start([tell, planned] {
        const SimulationScope scope(tell.stop(), Urgency::now);
        const auto tell_stage = [&tell](const ScenarioAnswer& prediction) {
            tell.send(&PlannerSession::predicted, prediction);
            if (prediction.stage != PredictionStage::step)
                tell.send(&PlannerSession::outlined, outline_of(prediction));
        };
        const auto refuse = [&tell](const std::exception& error, const std::string& field) {
            tell([sentence = sentence_of(error), name = QString::fromStdString(field)](
                     PlannerSession& session) { Q_EMIT session.refused(sentence, name); });
        };
        try {
            begin_simulation();
            answer_scenario(planned, kWholePrediction, tell_stage);
        } catch (const Cancelled&) {
            // A newer request has arrived.
        } catch (const InputError& error) {
            refuse(error, error.field());
        } catch (const std::exception& error) {
            refuse(error, "");
        }
    });
}

void PlannerSession::post_job(JobKind kind, std::function<void(const Teller&)> work) {
    const Teller tell = supersede(index(kind));
    jobs_.start([tell, kind, work = std::move(work)] {
        const SimulationScope scope(tell.stop(), Urgency::later);
        const MemoryReturned returned;
        try {
            begin_simulation();
            work(tell);
            tell([kind](PlannerSession& session) { Q_EMIT session.finished(kind); });
        } catch (const Cancelled&) {
            // A newer request has arrived, or all requests were cancelled.
        } catch (const std::exception& error) {
            tell([kind, sentence = sentence_of(error)](PlannerSession& session) {
                Q_EMIT session.failed(kind, sentence);
            });
        }
    });
}

void PlannerSession::cancel(JobKind kind) { newest_[index(kind)].request_stop(); }

void PlannerSession::compare(const PlannedScenario& planned, bool as_users_run) {
    post_job(JobKind::compare, [planned, as_users_run](const Teller& tell) {
        Scenario s = resolve(planned);
        const PriceList prices = prices_to_choose_by(s.profile, s.money);
        std::vector<ClusterToCompare> others;
        if (s.training.schedule->several_gpus)  // along with the systems of one of its GPUs
            others.push_back(
                {s.machine, std::exchange(s.training.gpus, TrainingSpec{}.gpus), prices});
        s.training.schedule = Schedule();
        const std::set<std::string> given = given_options(planned);
        Comparison out = sluice::compare(s.model, s.machine, s.training,
                                         compared_schedules(s.machine, s.training), others, prices,
                                         &given, as_users_run);
        for (ComparedSystem& system : out.systems) forget_operations(system.report);
        tell.send(&PlannerSession::compared, std::move(out));
    });
}

void PlannerSession::findSensitivity(const PlannedScenario& planned) {
    post_job(JobKind::sensitivity, [planned](const Teller& tell) {
        const Scenario s = resolve(planned);
        Sensitivity found = sensitivity(s.model, s.profile, s.machine, s.training, "");
        forget_operations(found.base);
        for (Upgrade& upgrade : found.upgrades) forget_operations(upgrade.report);
        tell.send(&PlannerSession::sensitivityFound, std::move(found));
    });
}

void PlannerSession::explore(const PlannedScenario& planned, const ExploredMap& map) {
    post_job(JobKind::explore, [planned, map](const Teller& tell) {
        resolve(planned);  // a mistake outside the axes gives one sentence, not one per cell
        const std::size_t columns = map.x.values.size();
        tell.each(map.size(), &PlannerSession::explored, [&](std::size_t i) {
            return ExploredCell{i % columns, i / columns,
                                value_at_point(planned, map.point(i), map.settings)};
        });
    });
}

void PlannerSession::tryMachines(const PlannedScenario& planned,
                                 const std::vector<MachineWay>& ways) {
    post_job(JobKind::machines, [planned, ways](const Teller& tell) {
        resolve(planned);  // a mistake gives one sentence, not one for each machine
        tell.each(ways.size(), &PlannerSession::machineFound, [&](std::size_t i) {
            return MachineSystem{ways[i].machine, ways[i].schedule, value_of_way(planned, ways[i])};
        });
    });
}

void PlannerSession::predictAll(const std::vector<PlannedScenario>& scenarios) {
    post_job(JobKind::scenarios, [scenarios](const Teller& tell) {
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            try {
                tell.send(&PlannerSession::outlined,
                          outline_of(answer_scenario(
                              scenarios[i], {.band = Wanted::Band::always, .suggestions = true})));
            } catch (const InputError&) {
                // Its own verdict says why.
            }
            tell.progress(i + 1, scenarios.size());
        }
    });
}

void PlannerSession::validate(const PlannedScenario& planned, const QStringList& files) {
    post_job(JobKind::validate, [planned, files](const Teller& tell) {
        std::vector<std::string> paths;
        for (const QString& file : files) paths.push_back(file.toStdString());
        const MachineSpec machine = read_machine(planned.machine).spec;
        tell.send(&PlannerSession::validated,
                  sluice::validate(read_measured_runs(paths, std::nullopt), machine));
    });
}

void PlannerSession::overlay(const PlannedScenario& planned, const QString& file) {
    post_job(JobKind::overlay, [planned, file = file.toStdString()](const Teller& tell) {
        const MachineSpec machine = read_machine(planned.machine).spec;
        RunComparison run =
            compare_run(read_measured_runs({file}, std::nullopt).runs.front(), machine);
        if (!run.measured)
            throw InputError(file +
                             ": operations is missing, so no lanes can be shown; measure again "
                             "with this version of sluice-train");
        tell.send(&PlannerSession::overlaid, std::move(run));
    });
}

void PlannerSession::decide(const PlannedScenario& planned,
                            const std::vector<PlannedScenario>& others,
                            const std::optional<FoundWays>& found) {
    post_job(JobKind::decide, [planned, others, found](const Teller& tell) {
        Decision out = sluice::decide(decision_request(planned, others));
        if (found) {
            RankedRun& ranked = out.ranked.emplace();
            ranked.question = found->question;
            std::mutex adding;
            predict_again(*found, [&](RunWay way) {
                const std::lock_guard lock(adding);
                ranked.ways.push_back(std::move(way));
            });
            rank(ranked.ways);
        }
        tell.send(&PlannerSession::decided, std::move(out));
    });
}

void PlannerSession::tryStart(const RunQuestion& question) {
    post_job(JobKind::start, [question](const Teller& tell) {
        try_ways(
            question,
            [&tell](RunWay one) { tell.send(&PlannerSession::startTried, std::move(one)); },
            [&tell](std::size_t done, std::size_t all) { tell.progress(done, all); });
    });
}

void PlannerSession::answerStart(const FoundWays& found) {
    post_job(JobKind::start, [found](const Teller& tell) {
        std::atomic<std::size_t> done = 0;
        predict_again(
            found, [&tell](RunWay way) { tell.send(&PlannerSession::startTried, std::move(way)); },
            [&] { tell.progress(++done, found.ways.size()); });
    });
}

}  // namespace sluice

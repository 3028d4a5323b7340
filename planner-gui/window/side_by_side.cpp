#include "planner-gui/window/side_by_side.h"

#include <algorithm>
#include <chrono>

#include "planner-gui/pages/compare_page.h"

namespace sluice {
namespace {

/// Predictions that arrive within this time appear together, since each update makes all columns
/// again.
constexpr std::chrono::milliseconds kShownTogether{100};

}  // namespace

SideBySide::SideBySide(ScenarioStack& stack, PlannerSession& session, ComparePage& page)
    : QObject(&page), stack_(stack), session_(session), page_(page) {
    shown_soon_.setSingleShot(true);
    shown_soon_.setInterval(kShownTogether);
    connect(&shown_soon_, &QTimer::timeout, this, &SideBySide::show);
    connect(&stack_, &ScenarioStack::listChanged, this, &SideBySide::show);
    connect(&session_, &PlannerSession::outlined, this, &SideBySide::take);
    connect(&page_.scenarios(), &ScenariosPart::scenarioActivated, this,
            [this](int column) { stack_.setCurrent(columns_[static_cast<std::size_t>(column)]); });
}

void SideBySide::take(const std::shared_ptr<const ScenarioAnswer>& prediction) {
    cache_.add(prediction);
    std::erase(asked_, Asked{prediction->planned, prediction->files});
    if (!shown_soon_.isActive()) shown_soon_.start();
}

void SideBySide::show() {
    if (page_.isHidden()) return;
    cache_.keep(static_cast<std::size_t>(stack_.count()));
    std::vector<ComparedScenario> known;
    std::vector<Asked> missing;
    columns_.clear();
    for (int i = 0; i < stack_.count(); ++i) {
        const PlannedScenario& one = stack_.project().scenarios[static_cast<std::size_t>(i)];
        if (const auto prediction = cache_.find(one)) {
            const CostAnswer& cost = prediction->cost;
            known.push_back(
                {qtext(one.name), shared_report(prediction), cost.run, cost.payment.has_value()});
            columns_.push_back(i);                // refused scenarios have none
        } else if (i != stack_.currentIndex()) {  // its verdict brings the prediction
            missing.push_back({one, read_named_files(one)});
        }
    }
    page_.scenarios().setScenarios(std::move(known));
    predict(std::move(missing));
}

void SideBySide::predict(std::vector<Asked> missing) {
    const bool more = std::any_of(missing.begin(), missing.end(), [this](const Asked& one) {
        return std::find(asked_.begin(), asked_.end(), one) == asked_.end();
    });
    if (!more) return;
    std::vector<PlannedScenario> scenarios;
    for (const Asked& one : missing) scenarios.push_back(one.planned);
    asked_ = std::move(missing);
    page_.scenarios().setBusy(true);
    session_.predictAll(scenarios);
}

}  // namespace sluice

#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/decision/decision.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

/// A price of one machine, and what quotes said about it, as an amount: who opens the page has
/// neither the flag nor the file.
void set_amount(PlannedScenario& planned, const AskedMachine& asked, const Candidate& candidate) {
    const bool quoted = planned.money.contains("quotes");
    if (!asked.usd_per_hour && !quoted) return;
    for (const char* const field :
         {"quotes", "offer", "ownership", "price_usd", "node_usd", "usd_per_hour"})
        planned.money.erase(field);
    const auto& payment = candidate.cost.payment;
    if (!payment) return;
    const bool bought = payment->price_usd > 0;
    planned.money[bought ? "price_usd" : "usd_per_hour"] =
        fmt::format("{}", bought ? payment->price_usd : payment->usd_per_hour);
}

PlannedScenario answered(const AskedMachine& asked, const Candidate& candidate) {
    PlannedScenario out = asked.planned;
    if (!asked.training) {  // it was chosen
        out.training.clear();
        out = with_settings(std::move(out),
                            changed_settings(TrainingSpec{}, candidate.report().asked.training));
    }
    set_amount(out, asked, candidate);
    if (out.name.empty()) out.name = candidate.full_name;
    return out;
}

}  // namespace

std::optional<Project> decision_project(const Decision& decision) {
    const std::vector<AskedMachine>& asked = decision.request.machines;
    if (asked.size() != decision.candidates.size() ||
        std::ranges::any_of(asked, [](auto& one) { return one.planned.model.model.empty(); }))
        return std::nullopt;
    Project out;
    for (std::size_t i = 0; i < decision.candidates.size(); ++i)
        out.scenarios.push_back(answered(asked[i], decision.candidates[i]));
    out.current = decision.chosen.value_or(0);
    return out;
}

}  // namespace sluice

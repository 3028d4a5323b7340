// The question that a decision asks.
#include <fmt/format.h>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/decision/decision.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {

std::string tokens_words(const Decision& decision) {
    return format_short_count(decision.request.money.tokens);
}

std::string question(const Decision& decision) {
    const Prediction& r = decision.candidates.front().report();
    const std::size_t count = decision.candidates.size();
    const TrainingSpec& t = r.asked.training;
    const std::string how =
        decision.request.advise ? "with the best settings of each machine"
        : decision.request.has_own_settings()
            ? "with the settings of each scenario"
            : fmt::format("with batch {} x {} tokens", t.batch, format_thousands(t.sequence));
    const std::string what =
        fmt::format("train {} ({} parameters, {}) on {} tokens{}", r.asked.model_name,
                    format_count(r.asked.parameters), format_number_of(r.asked.layers, "layer"),
                    tokens_words(decision), limits_words(decision.request.money.limits));
    return count == 1 ? fmt::format("Should {} {} {}?", decision.candidates.front().name, what, how)
                      : fmt::format("Which of {} machines should {} {}?", count, what, how);
}

}  // namespace sluice

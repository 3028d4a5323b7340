#include "sim/answers/validate/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace sluice {
namespace {

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// What a batch's different tokens are, the data decides.
bool is_choice(const Option& option) { return std::string_view(option.field) != "distinct_tokens"; }

/// All but the value of one option, as text.
std::string settings_without(const MeasuredRun& run, const Option& left_out) {
    std::string key = fmt::format("{} {} {} {}", run.model.name, run.model.layer_count(),
                                  run.model.tied_embeddings, precision_name(run.precision));
    for (const Option& option : training_options())
        if (option.field != left_out.field && is_choice(option))
            key += " " + option_text(run.training, option);
    return key;
}

const RunComparison* fastest(const std::vector<const RunComparison*>& runs,
                             double (*tokens_per_s)(const RunComparison&)) {
    return *std::max_element(runs.begin(), runs.end(),
                             [&](const RunComparison* a, const RunComparison* b) {
                                 return tokens_per_s(*a) < tokens_per_s(*b);
                             });
}

}  // namespace

std::optional<double> kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b) {
    double balance = 0, untied_a = 0, untied_b = 0;  // of pairs
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const int in_a = sign(a[i] - a[j]), in_b = sign(b[i] - b[j]);
            balance += in_a * in_b;
            untied_a += std::abs(in_a);
            untied_b += std::abs(in_b);
        }
    }
    if (untied_a == 0 || untied_b == 0) return std::nullopt;
    return balance / std::sqrt(untied_a * untied_b);
}

std::vector<OptionSet> option_sets(const std::vector<RunComparison>& runs) {
    std::vector<OptionSet> sets;
    for (const Option& option : training_options()) {
        if (!is_choice(option)) continue;
        std::map<std::string, std::vector<const RunComparison*>> alike;
        for (const RunComparison& comparison : runs)
            alike[settings_without(comparison.run, option)].push_back(&comparison);
        for (auto& [settings, members] : alike) {
            const auto value = [&](const RunComparison* c) { return option.get(c->run.training); };
            std::stable_sort(members.begin(), members.end(),
                             [&](const auto* x, const auto* y) { return value(x) < value(y); });
            // The same settings measured twice differ in nothing.
            if (value(members.front()) == value(members.back())) continue;
            OptionSet set{option.field, members, nullptr, nullptr};
            set.measured_best =
                fastest(members, [](const RunComparison& c) { return c.run.tokens_per_s(); });
            set.predicted_best =
                fastest(members, [](const RunComparison& c) { return c.predicted.tokens_per_s(); });
            sets.push_back(std::move(set));
        }
    }
    return sets;
}

}  // namespace sluice

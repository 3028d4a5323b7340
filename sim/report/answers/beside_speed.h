// Which facts stand beside every speed? The program that trains this way today, its precision and
// the tokens of a step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/step.h"
#include "sim/report/table.h"

namespace sluice {

/// Precisions in which a parameter is kept, in words: "fp32", "24-bit", "bf16" or "8-bit".
struct KeptStates {
    const char *master, *moments;
};
KeptStates kept_states(const TrainingSpec& training);

/// "fp32+fp32", parameters and moments; programs read states_of().
Cell states_cell(const TrainingSpec& training);

/// "in 97 of 100 cases".
std::string cases_words(double share);

/// The program, or "NO" with the reason as tooltip.
Cell runs_today_cell(const RunsToday& today);

/// "mi300x, mi355x (sluice-train is known to run on NVIDIA GPUs only)", by reason; leaves out what
/// runs. Empty: all run.
using NamedToday = std::pair<std::string, const RunsToday*>;
std::string not_today_words(const std::vector<NamedToday>& all);

/// Inserts the columns after the one with that key. `asked` gives an item's step, or null.
template <typename Item, typename Asked>
void add_beside_speed(std::vector<ColumnOf<Item>>& columns, std::string_view after, Asked asked) {
    const auto of = [asked](auto cell) {
        return [asked, cell](const Item& item) {
            const AskedStep* const step = asked(item);
            return step == nullptr ? Cell() : Cell(cell(*step));
        };
    };
    const auto today = [of](std::string RunsToday::*text) {
        return of([text](const AskedStep& step) {
            const std::string& words = step.runs_today.*text;
            return words.empty() ? Cell() : Cell(words);
        });
    };
    const auto place = std::ranges::find_if(
        columns, [after](const ColumnOf<Item>& one) { return one.column.key == after; });
    columns.insert(std::next(place),
                   {{"runs_today.runs", "runs today", Unit::flag,
                     of([](const AskedStep& step) { return runs_today_cell(step.runs_today); }),
                     "program that trains this model on this machine today"},
                    {"runs_today.program", "", today(&RunsToday::program)},
                    {"runs_today.why_not", "", today(&RunsToday::why_not)},
                    {"runs_today.source", "", today(&RunsToday::source)},
                    ColumnOf<Item>("states", "states", of([](const AskedStep& step) {
                                       return states_cell(step.training);
                                   }),
                                   "precision of the parameters and of the moments that are kept")
                        .once_if_equal(),
                    ColumnOf<Item>("products", "products", of([](const AskedStep& step) {
                                       return std::string(products_name(step.training));
                                   }),
                                   "precision of the layers' matrix products")
                        .once_if_equal(),
                    ColumnOf<Item>("tokens_a_step", "tokens a step", Unit::whole,
                                   of([](const AskedStep& step) { return step.training.tokens(); }),
                                   "batch x sequence")
                        .once_if_equal()});
}

}  // namespace sluice

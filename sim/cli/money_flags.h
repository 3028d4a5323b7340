// What does a command line say about money and energy?
#pragma once

#include <string>

#include "sim/cost/cost_query.h"

namespace CLI {
class App;
}

namespace sluice {

/// Numbers are checked by check_money_flags().
void add_money_flags(CLI::App& command, CostQuery& query);
/// Throws InputError: the flag, its value, what is expected.
void check_money_flags(const CostQuery& query);
/// Throws InputError where one price is given for several machines; `words` say which, and what to
/// give instead.
void refuse_one_price(const CostQuery& query, const std::string& words);

}  // namespace sluice

// What can be said about money and energy? Each number is declared once: flags, project files and
// forms derive from this list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/scenario/price.h"

namespace sluice {

/// What the user says about money. At most one of offer, usd_per_hour and buy.
struct CostQuery {
    double tokens = 1e9;
    std::optional<std::string> offer;                  ///< by name
    std::optional<double> usd_per_hour;                ///< paid an hour, electricity included
    std::string usd_per_hour_flag = "--usd-per-hour";  ///< by which it was given
    bool buy = false;                                  ///< as an owner
    std::optional<double> price_usd;                   ///< of the whole machine, bought
    std::optional<double> host_w;                      ///< beside each GPU
    /// GPUs of rented nodes that are paid for, as rents are for one GPU; nothing: those that train.
    std::optional<double> gpus_paid;
    OwnerTerms terms;
};

/// `usd_per_hour`, `--usd-per-hour`.
struct MoneyOption {
    enum class Kind { number, text, flag };
    const char* field;
    const char* unit;
    Kind kind;
    double low, high;  ///< of a number
    const char* help;
    std::string standard;  ///< the default, in words
    void (*set)(CostQuery&, double number, const std::string& text);
};

const std::vector<MoneyOption>& money_options();
std::string money_flag(const MoneyOption& option);
/// What it says, its range and default, in a line.
std::string money_help(const MoneyOption& option);

/// Sets one from text, a flag from "1" or "0"; `where` is the name in messages. Throws InputError.
void set_money(CostQuery& query, const MoneyOption& option, const std::string& text,
               std::string_view where);

/// Throws InputError where there are two ways to pay.
void check_money(const CostQuery& query);
/// Throws InputError where one price is given for several machines; `words` say which, and what to
/// give instead.
void refuse_one_price(const CostQuery& query, const std::string& words);

}  // namespace sluice

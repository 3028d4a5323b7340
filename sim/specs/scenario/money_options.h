// Which options are about money and energy? Each is declared once: flags, project files and forms
// derive from this list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/scenario/quotes.h"

namespace sluice {

/// Limits that a person sets to a run.
struct RunLimits {
    std::optional<double> days, usd;  ///< the deadline, the budget

    bool any() const { return days || usd; }
    bool operator==(const RunLimits&) const = default;
};

/// The user's options about money. At most one of offer, usd_per_hour and price_usd.
struct CostQuery {
    double tokens = 1e9;
    RunLimits limits;
    std::optional<std::string> offer;                  ///< by name
    std::vector<Quote> quotes;                         ///< of any machines
    std::optional<double> usd_per_hour;                ///< paid an hour, electricity included
    std::string usd_per_hour_flag = "--usd-per-hour";  ///< the field that gave it
    /// Empty: rented, or bought where no rent is known.
    std::optional<Ownership> ownership;
    std::optional<double> price_usd;          ///< of all that is bought
    std::optional<double> node_usd;           ///< of a node with its host memory, without GPUs
    std::optional<double> memory_usd_per_gb;  ///< of host memory beyond that of a system as sold
    std::optional<double> host_w;             ///< for each GPU
    /// GPUs of rented nodes that are paid for, since rents are for one GPU; empty: the plan's
    /// share. For a machine that is owned, or bought in parts or at price_usd: those that it
    /// has; empty: all of the nodes.
    std::optional<double> gpus_paid;
    OwnerTerms terms;

    bool buys() const { return ownership == Ownership::buy || price_usd; }
    bool owns() const { return ownership == Ownership::own; }
};

/// The prices by which plans are chosen: the machine's, with the quotes for it; of rents the named
/// offer alone, if one is named. They know whether the machine is the user's own. Throws InputError
/// where the machine has no such offer.
PriceList prices_to_choose_by(const MachineProfile& profile, const CostQuery& query);

/// `usd_per_hour`, `--usd-per-hour`.
struct MoneyOption {
    enum class Kind { number, text, choice };
    const char* field;
    const char* unit;
    Kind kind;
    double low, high;  ///< of a number
    const char* help;
    std::string standard;  ///< the default, in words
    /// `number`: the value, or the place of the choice.
    void (*set)(CostQuery&, double number, const std::string& text);
    std::vector<std::string> choices = {};  ///< the default first
    const char* brief = "";                 ///< the meaning, for one line of --help; "": help
    const char* value_name = "";            ///< of a text, in --help
};

const std::vector<MoneyOption>& money_options();
/// Precondition: there is one of this name.
const MoneyOption& money_option(std::string_view field);
std::string money_flag(const MoneyOption& option);
/// Meaning, range and default in one line.
std::string money_help(const MoneyOption& option);
/// The brief meaning with the default in brackets.
std::string money_brief(const MoneyOption& option);
/// The form of a value: N, FILE, {rent,own}.
std::string money_value(const MoneyOption& option);

/// Sets one option from text; `where` is the name in messages. Throws InputError.
void set_money(CostQuery& query, const MoneyOption& option, const std::string& text,
               std::string_view where);

/// Throws InputError if two ways to pay are given.
void check_money(const CostQuery& query);
/// Throws InputError if one price is given for several machines; `words` name the machines and the
/// remedy.
void refuse_one_price(const CostQuery& query, const std::string& words);

}  // namespace sluice

#include "sim/specs/scenario/field_label.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

/// Fields whose name contains the unit or is too short to be understood.
const std::map<std::string, std::string, std::less<>>& special_labels() {
    static const std::map<std::string, std::string, std::less<>> out = {
        {"schedule", "System"},
        {"seq", "Sequence"},
        {"buffer_depth", "Weight slots"},
        {"gradient_slabs", "Waiting gradients"},
        {"host_gradient_slabs", "Waiting on the host"},
        {"keep_last_layers", "Last layers kept"},
        {"gpus", "GPUs"},
        {"untied", "Output projection of its own"},
        {"set", "Numbers of the machine"},
        {"tokens", "Tokens of the run"},
        {"days", "Deadline of the run"},
        {"budget_usd", "Budget of the run"},
        {"usd_per_hour", "Rent"},
        {"price_usd", "Purchase price"},
        {"node_usd", "Node price"},
        {"memory_usd_per_gb", "Price of more host memory"},
        {"years", "Years of use"},
        {"residual_share", "Residual value"},
        {"electricity_usd_per_kwh", "Electricity"},
        {"host_watts", "Power of the host"},
        {"gpus_paid", "GPUs paid"}};
    return out;
}

const std::set<std::string>& all_fields() {
    static const std::set<std::string> out = [] {
        std::set<std::string> fields = {"model",   "layers",      "untied", "vocabulary",
                                        "machine", "host_memory", "set"};
        for (const Option& option : training_options()) fields.insert(option.field);
        for (const MoneyOption& option : money_options()) fields.insert(option.field);
        return fields;
    }();
    return out;
}

bool is_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }

/// The end of the flag that begins at `at`, or `at`.
std::size_t end_of_flag(std::string_view words, std::size_t at) {
    if (words.substr(at, 2) != "--" || (at > 0 && is_of_a_word(words[at - 1]))) return at;
    std::size_t end = at + 2;
    while (end < words.size() && (std::islower(static_cast<unsigned char>(words[end])) != 0 ||
                                  (words[end] == '-' && words[end - 1] != '-')))
        ++end;
    return end > at + 2 && words[at + 2] != '-' && words[end - 1] != '-' ? end : at;
}

}  // namespace

std::string field_label(std::string_view field) {
    if (const auto found = special_labels().find(field); found != special_labels().end())
        return found->second;
    std::string out(field);
    std::ranges::replace(out, '_', ' ');
    out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    return out;
}

std::string fields_for_flags(std::string_view words) {
    std::string out;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = end_of_flag(words, at);
        if (end == at) {
            out += words[at++];
            continue;
        }
        std::string name(words.substr(at + 2, end - at - 2));
        std::ranges::replace(name, '-', '_');
        if (all_fields().contains(name)) {
            out += '"' + field_label(name) + '"';
        } else {
            std::ranges::replace(name, '_', ' ');
            out += name;
        }
        at = end;
    }
    return out;
}

}  // namespace sluice

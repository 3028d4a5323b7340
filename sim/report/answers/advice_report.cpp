#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/answers/search/advise.h"
#include "sim/base/json_text.h"
#include "sim/plan/step.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

bool is_simulated(const SearchRow& row) { return row.state == RowState::simulated; }

std::string change_words(Bytes change) {
    if (change == 0) return "-";
    return (change < 0 ? "-" : "+") + format_bytes(std::abs(change));
}

/// "device 1.2 GB, host 30.1 GB"
std::string short_words(const SearchRow& row) {
    std::string out;
    for (const auto& [name, bytes] :
         {std::pair("device", row.device_short), std::pair("host", row.host_short),
          std::pair("storage", row.storage_short)})
        if (bytes > 0)
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, format_bytes(bytes));
    return out;
}

/// How much memory a row lacks that does not fit.
auto if_short(Bytes SearchRow::*member) {
    return [member](auto& one) { return is_simulated(one.row) ? Cell() : Cell(one.row.*member); };
}

/// One row per setting; the column "of best" compares with `best`, if that is not null.
Table settings_table(const std::vector<AdvisedSettings>& settings, const AdvisedSettings* best) {
    using One = AdvisedSettings;
    const auto if_simulated = [](auto value) {
        return
            [value](const One& one) { return is_simulated(one.row) ? Cell(value(one)) : Cell(); };
    };
    const auto band = [](auto value) {
        return [value](const One& one) {
            return one.row.has_band() ? Cell(value(one, static_cast<double>(one.training.tokens())))
                                      : Cell();
        };
    };
    return table_of<One>(
        settings,
        {{"", "batch", Unit::whole, [](auto& one) { return one.training.batch; }},
         {"flags", "", [](auto& one) { return settings_flags(one.training); }},
         {"step_s", "", Unit::seconds, if_simulated([](auto& one) { return one.row.step; })},
         {"step_{}_percent_s", "", Unit::seconds, band([](auto& one, double) {
              return Range{one.row.step_low, one.row.step_high};
          })},
         {"tokens_per_s", "tokens/s", Unit::whole,
          if_simulated([](auto& one) { return one.tokens_per_s(); })},
         {"tokens_per_s_{}_percent", "", Unit::whole, band([](auto& one, double tokens) {
              return Range{tokens / one.row.step_high, tokens / one.row.step_low};
          })},
         {"", "of best", Unit::share,
          [&](auto& one) {
              return best == nullptr ? Cell() : Cell(one.tokens_per_s() / best->tokens_per_s());
          }},
         {"device_peak_bytes", "device", Unit::bytes,
          [](auto& one) { return one.row.device_peak; }},
         {"host_peak_bytes", "host", Unit::bytes, [](auto& one) { return one.row.host_peak; }},
         {"device_short_bytes", "", Unit::bytes, if_short(&SearchRow::device_short)},
         {"host_short_bytes", "", Unit::bytes, if_short(&SearchRow::host_short)},
         {"bottleneck", "",
          if_simulated([](auto& one) { return bottleneck_name(one.row.bottleneck); })},
         {"", "best settings of the batch",
          [](auto& one) { return settings_flags(one.training); }}});
}

Table neighbours_table(const std::vector<Neighbour>& neighbours) {
    const auto change = [](Bytes Neighbour::*bytes) {
        return [bytes](const Neighbour& n) {
            return is_simulated(n.row) ? Cell(n.*bytes).shown_as(change_words(n.*bytes)) : Cell();
        };
    };
    return table_of<Neighbour>(
        neighbours,
        {{"option", "one choice changed", &Neighbour::option},
         {"chosen", "best", &Neighbour::chosen},
         {"instead", "instead", &Neighbour::instead},
         {"state", "", [](auto& n) { return row_state_name(n.row.state); }},
         {"tokens_per_s_change_share", "tokens/s", Unit::change,
          [](auto& n) { return is_simulated(n.row) ? Cell(n.speed_change) : Cell(); }},
         {"lead_smaller_than_band", " ",
          [](auto& n) {
              return is_simulated(n.row) ? Cell(n.within_band).shown_as(n.within_band ? "~" : " ")
                                         : Cell().shown_as(" ");
          }},
         {"device_peak_change_bytes", "device", Unit::bytes, change(&Neighbour::device_change)},
         {"host_peak_change_bytes", "host", Unit::bytes, change(&Neighbour::host_change)},
         {"device_short_bytes", "", Unit::bytes, if_short(&SearchRow::device_short)},
         {"host_short_bytes", "", Unit::bytes, if_short(&SearchRow::host_short)},
         {"storage_short_bytes", "", Unit::bytes, if_short(&SearchRow::storage_short)},
         {"", " ", [](auto& n) {
              return n.row.state == RowState::too_large
                         ? "does not fit: short of " + short_words(n.row)
                         : "";
          }}});
}

/// Why a machine cannot be chosen, or "".
std::string why_not(const MachineAdvice& one) {
    if (!one.left_out.empty()) return one.left_out;
    if (one.is_choice()) return "";
    if (one.advice->best) return "too slow";
    return one.advice->nearest ? "nothing fits" : "left out by rules";
}

Table machines_table(const std::vector<MachineAdvice>& machines) {
    std::vector<ColumnOf<MachineAdvice>> columns = {
        {"machine", "machine", &MachineAdvice::machine},
        {"tokens_per_s", "tokens/s", Unit::whole,
         [](auto& one) {
             return one.advice && one.advice->best ? Cell(one.advice->best->tokens_per_s())
                                                   : Cell();
         }},
        {"usd_per_hour", "an hour", Unit::usd,
         [](auto& one) { return one.price ? Cell(one.price->usd_per_hour) : Cell(); }},
        {"price_source", "",
         [](auto& one) { return one.price ? Cell(payment_words(*one.price)) : Cell(); }},
        {"usd_per_million_tokens", "a million", Unit::usd, &MachineAdvice::usd_per_million_tokens},
        {"", " ", why_not},
        {"left_out", "",
         [](auto& one) { return one.left_out.empty() ? Cell() : Cell(one.left_out); }}};
    add_beside_speed(columns, "tokens_per_s",
                     [](const MachineAdvice& one) { return one.asked ? &*one.asked : nullptr; });
    return table_of<MachineAdvice>(machines, columns);
}

std::string advised_text(const char* name, const AdvisedSettings& one) {
    const auto tokens = static_cast<double>(one.training.tokens());
    const std::string band =
        one.row.has_band()
            ? fmt::format(" (5 to 95%: {} to {})", format_thousands(tokens / one.row.step_high),
                          format_thousands(tokens / one.row.step_low))
            : "";
    return fmt::format("{:<12} {}\n{:12} {} tokens/s{}\n{:12} device {}, host {}; bound by {}\n",
                       name, settings_flags(one.training), "", format_thousands(one.tokens_per_s()),
                       band, "", format_bytes(one.row.device_peak), format_bytes(one.row.host_peak),
                       bottleneck_name(one.row.bottleneck));
}

std::string knee_text(const AdvisedSettings& knee, const AdvisedSettings& best) {
    return advised_text("knee", knee) +
           fmt::format("{:12} a batch of {} instead of {}: {} tokens/s, device {}, host {}\n", "",
                       knee.training.batch, best.training.batch,
                       format_error(knee.tokens_per_s() / best.tokens_per_s() - 1),
                       change_words(knee.row.device_peak - best.row.device_peak),
                       change_words(knee.row.host_peak - best.row.host_peak));
}

std::string neighbours_text(const Advice& advice) {
    if (advice.neighbours.empty()) return "";
    std::string out = "\n" + to_text(neighbours_table(advice.neighbours));
    if (std::any_of(advice.neighbours.begin(), advice.neighbours.end(),
                    [](const Neighbour& n) { return n.within_band; }))
        out += "~ the lead is smaller than the band: a measurement could reverse it\n";
    return out;
}

std::string counts_text(const Advice& advice) {
    const auto count = [](std::size_t n) { return format_thousands(n); };
    std::string out = fmt::format(
        "\n{}: {} simulated, {} bounded (cannot be the best of their batch, could be better by at "
        "most {:.1f}%, or have a batch that is too slow), {} too large\n",
        format_number_of(static_cast<std::int64_t>(advice.combinations), "combination"),
        count(advice.simulated), count(advice.bounded), 100 * kIndifferent,
        count(advice.too_large));
    for (const LeftOut& left_out : advice.left_out)
        out += fmt::format("  {} left out, for example: {}\n", count(left_out.count),
                           left_out.example);
    return out;
}

/// Why there are no best settings: all need too much memory, or rules leave all of them out.
std::string nothing_text(const Advice& advice) {
    if (advice.nearest)
        return fmt::format("no settings fit; nearest are {}: short of {}\n",
                           settings_flags(advice.nearest->training),
                           short_words(advice.nearest->row));
    std::string rules;
    for (const LeftOut& left_out : advice.left_out)
        rules += (rules.empty() ? "" : "; ") + left_out.example;
    return "nothing was tried, since rules leave out every combination: " + rules + "\n";
}

std::string advice_text_of(const Advice& advice, const AdviceRequest& request) {
    std::string out = fmt::format("{} ({}) on {}\n\n", advice.model_name,
                                  format_number_of(advice.layers, "layer"), advice.machine_id);
    if (!advice.best) return out + nothing_text(advice) + counts_text(advice);
    if (!advice.reaches_least)
        out += fmt::format("no settings reach {} tokens/s\n",
                           format_thousands(request.least_tokens_per_s));
    out += advised_text("best", *advice.best);
    if (advice.knee) out += knee_text(*advice.knee, *advice.best);
    out += neighbours_text(advice);
    if (advice.by_batch.size() > 1)
        out += "\n" + to_text(settings_table(advice.by_batch, &*advice.best));
    return out + counts_text(advice);
}

std::string choice_text(const std::vector<MachineAdvice>& machines, const AdviceRequest& request) {
    const MachineAdvice *const best = best_machine(machines), *const cheapest =
                                                                  cheapest_machine(machines);
    std::string out = to_text(machines_table(machines)) + "best machine, the fastest";
    if (const double least = request.least_tokens_per_s; least > 0)
        out += fmt::format(" with at least {} tokens/s", format_thousands(least));
    out += fmt::format(": {}\n", best == nullptr ? "none" : best->machine);
    if (cheapest != nullptr)
        out += cheapest == best
                   ? "it is also the cheapest per million tokens, of the machines with a price\n"
                   : fmt::format("cheapest per million tokens: {}, {}\n", cheapest->machine,
                                 format_usd(*cheapest->usd_per_million_tokens()));
    const std::vector<std::string> near = near_best_machine(machines);
    if (!near.empty())
        out += fmt::format(
            "its lead is smaller than the bands of: {}; a measurement could reverse it\n",
            fmt::join(near, ", "));
    return out;
}

Json settings_json_of(const std::vector<AdvisedSettings>& settings) {
    Json out = to_json(settings_table(settings, nullptr), true);
    for (std::size_t i = 0; i < settings.size(); ++i)
        out[i]["settings"] = training_json(settings[i].training, true);
    return out;
}

Json settings_json_of(const std::optional<AdvisedSettings>& one) {
    return one ? settings_json_of(std::vector{*one}).front() : Json();
}

Json advice_json_of(const Advice& advice) {
    return {{"model", advice.model_name},
            {"layers", advice.layers},
            {"fits", advice.best.has_value()},
            {"reaches_least_tokens_per_s", advice.best && advice.reaches_least},
            {"best", settings_json_of(advice.best)},
            {"knee", settings_json_of(advice.knee)},
            {"nearest", settings_json_of(advice.nearest)},
            {"neighbours", to_json(neighbours_table(advice.neighbours), true)},
            {"by_batch", settings_json_of(advice.by_batch)},
            {"combinations", advice.combinations},
            {"simulated", advice.simulated},
            {"bounded", advice.bounded},
            {"does_not_fit", advice.too_large},
            {"left_out", to_json(table_of<LeftOut>(advice.left_out,
                                                   {{"count", "", Unit::whole, &LeftOut::count},
                                                    {"field", "", &LeftOut::field},
                                                    {"example", "", &LeftOut::example}}))}};
}

}  // namespace

std::string advice_text(const std::vector<MachineAdvice>& machines, const AdviceRequest& request) {
    std::string out;
    for (const MachineAdvice& one : machines) {
        if (one.advice) out += advice_text_of(*one.advice, request);
        if (one.advice && machines.size() > 1) out += "\n";
    }
    const MachineAdvice& first = machines.front();
    if (machines.size() > 1) return out + choice_text(machines, request);
    if (!first.left_out.empty()) return out + first.machine + " " + first.left_out + "\n";
    if (const auto usd = first.usd_per_million_tokens())
        out += fmt::format("{} an hour ({}), {} a million tokens\n",
                           format_usd(first.price->usd_per_hour), payment_words(*first.price),
                           format_usd(*usd));
    return out;
}

std::string advice_json(const std::vector<MachineAdvice>& machines, const AdviceRequest& request) {
    const auto name = [](const MachineAdvice* machine) {
        return machine == nullptr ? Json() : Json(machine->machine);
    };
    Json out = {{"best_machine", name(best_machine(machines))},
                {"best_machine_by", "tokens_per_s"},
                {"cheapest_machine", name(cheapest_machine(machines))},
                {"best_machine_within_bands_of", near_best_machine(machines)},
                {"least_tokens_per_s", request.least_tokens_per_s},
                {"knee_share", request.knee},
                {"machines", to_json(machines_table(machines), true)}};
    for (std::size_t i = 0; i < machines.size(); ++i)
        if (machines[i].advice) out["machines"][i]["advice"] = advice_json_of(*machines[i].advice);
    return readable_json(out);
}

}  // namespace sluice

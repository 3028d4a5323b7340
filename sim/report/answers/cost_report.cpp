#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/answers/cost/full_node.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::pair<const char*, double>> energy_kinds(const StepEnergy& e) {
    return {{"idle", e.idle},
            {"products", e.products},
            {"attention", e.attention},
            {"elementwise", e.elementwise},
            {"copies", e.copies},
            {"computing", e.busy},
            {"host", e.host}};
}

void append_money(std::string& out, const CostAnswer& answer) {
    if (!answer.payment) {
        out += fmt::format(
            "money    {}: give --quotes, --usd-per-hour or --price-usd\n",
            answer.no_rent.empty() ? "no price is known for this machine" : answer.no_rent);
        return;
    }
    const RunCost& cost = answer.run;
    const Payment& payment = *answer.payment;
    out += fmt::format("money    {} a million tokens, at {} an hour\n",
                       format_usd(cost.usd_per_million_tokens), format_usd(cost.usd_per_hour));
    if (payment.paid) out += fmt::format("         {}\n", paid_words(*payment.paid));
    out += fmt::format("         {}\n", offer_words(payment));
    out += fmt::format("run      {} tokens: {}, {}\n", format_count(cost.tokens),
                       format_usd(cost.usd), format_days(cost.days));
}

void append_energy(std::string& out, const CostAnswer& answer, const RunCost& cost) {
    const StepEnergy& e = *answer.energy;
    out += fmt::format("energy   {} tokens: {}, {} W{}{}\n", format_count(cost.tokens),
                       format_kwh(cost), format_thousands(*cost.mean_w),
                       energy_terms(cost.kwh_scope).power,
                       e.at_limit ? ", the GPU at its power limit" : "");
    out += fmt::format("         {:.2f} tokens/s a watt, {:.0f} useful TFLOPS a kW; {}\n",
                       *cost.tokens_per_joule, *cost.tflops_per_kw,
                       answer.power.calibrated ? "from the measured energy of each kind of work"
                                               : "from datasheet power, not measured");
    std::string kinds;
    for (const auto& [name, joules] : energy_kinds(e))
        if (joules > 0)
            kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", name,
                                 format_percent(joules / e.total()));
    out += fmt::format("         {} J a step: {}\n", format_thousands(e.total()), kinds);
}

/// Nothing is judged that does not fit.
RunLimits judged_limits(const CostAnswer& answer, const Prediction& r) {
    return r.plan.fit.fits() ? answer.limits : RunLimits{};
}

/// Does the run meet the limits that were given?
void append_limits(std::string& out, const CostAnswer& answer, const Prediction& r) {
    if (!judged_limits(answer, r).any()) return;
    std::vector<std::string> sentences = limit_warnings(answer);
    if (sentences.empty()) sentences = {fmt::format("It meets {}.", limits_name(answer.limits))};
    out += fmt::format("limits   {}\n", fmt::join(sentences, " "));
}

void append_offers(std::string& out, const CostAnswer& answer) {
    if (answer.rents && answer.rents->high > answer.rents->low)
        out += fmt::format("rents    {} to {} a million tokens, by offer\n",
                           format_usd(answer.rents->low), format_usd(answer.rents->high));
    if (answer.can_break_even())
        out += fmt::format("buying   {}\n", buying_words(answer));
    else if (!answer.missing.empty())
        out += fmt::format("buying   {}\n", answer.missing);
}

void append_side_by_side(std::string& out, const std::optional<FullNode>& together) {
    if (!together) return;
    const char* const limit = node_part_name(together->limit);
    if (together->jobs < 2) {
        out += fmt::format("node     no second such job fits beside it: {}", limit);
    } else {
        out += fmt::format("node     {:g} such jobs side by side, limited by {}", together->jobs,
                           limit);
        out += fmt::format("; each {} tokens/s, {} of one alone",
                           format_thousands(together->tokens_per_s),
                           format_percent(together->of_alone));
        if (together->paid)
            out += fmt::format("\n         {} a million tokens, at {} an hour for each",
                               format_usd(together->paid->run.usd_per_million_tokens),
                               format_usd(together->paid->run.usd_per_hour));
    }
    out += "\n";
}

/// A purchase or a contract meets a budget if all that is committed is within it.
Table payments_table(const std::vector<PaidRun>& payments, const RunLimits& limits) {
    const auto origin = [](const PaidRun& one) { return one.payment.origin; };
    const std::vector<ColumnOf<PaidRun>> columns = {
        {"name", "other ways to pay", [](auto& one) { return one.payment.name; }},
        {"origin", "", origin},
        {"gpus_paid", "GPUs paid", Unit::whole,
         [](auto& one) { return one.payment.paid ? Cell(one.payment.paid->gpus) : Cell(); }},
        {"tokens_per_s", "", Unit::whole, [](auto& one) { return one.run.tokens_per_s; }},
        {"usd_per_hour", "$ an hour", Unit::usd, [](auto& one) { return one.run.usd_per_hour; }},
        {"usd_per_million_tokens.value", "$ a million", Unit::usd,
         [](auto& one) { return one.run.usd_per_million_tokens.value; }},
        {"usd_per_million_tokens.{}_percent", "", Unit::usd,
         [](auto& one) { return range_of(one.run.usd_per_million_tokens); }},
        {"run_usd.value", "$ the run", Unit::usd, [](auto& one) { return one.run.usd.value; }},
        {"run_usd.{}_percent", "", Unit::usd, [](auto& one) { return range_of(one.run.usd); }},
        {"committed_usd", "$ you commit to", Unit::usd, &PaidRun::committed_usd},
        {"meets", "meets limits", Unit::flag,
         [&](auto& one) { return meets_cell(limits, one.run, true); }},
        {"", "price is", origin}};
    return table_of<PaidRun>(payments, columns);
}

Json banded_json(const Banded& number) {
    Json out = {{"value", number.value}};
    if (number.high > 0) {
        out["5_percent"] = number.low;
        out["95_percent"] = number.high;
    }
    return out;
}

Json energy_json(const CostAnswer& answer, const RunCost& cost) {
    const StepEnergy& e = *answer.energy;
    Json step_j;
    for (const auto& [name, joules] : energy_kinds(e)) step_j[name] = joules;
    return {{"calibrated", answer.power.calibrated},
            {"counts", energy_terms(cost.kwh_scope).counts},
            {"run_kwh",
             {{"value", cost.kwh->value},
              {"least", cost.kwh->low},
              {"most", cost.kwh->high},
              {"range", energy_terms(cost.kwh_scope).range}}},
            {"mean_w", *cost.mean_w},
            {"tokens_per_s_per_w", *cost.tokens_per_joule},
            {"model_tflops_per_s_per_kw", *cost.tflops_per_kw},
            {"gpu_at_power_limit", e.at_limit},
            {"step_j", step_j}};
}

Json full_node_json(const FullNode& together, const RunLimits& limits) {
    Json out = {{"jobs", together.jobs},
                {"limited_by", node_part_name(together.limit)},
                {"tokens_per_s_of_each", together.tokens_per_s},
                {"speed_of_one_alone", together.of_alone}};
    out["payment_of_each"] =
        together.paid ? to_json(payments_table({*together.paid}, limits)).front() : Json();
    return out;
}

}  // namespace

Cell meets_cell(const RunLimits& limits, const RunCost& run, bool priced) {
    return limits.any() ? Cell(meets(limits, run, priced)) : Cell();
}

std::string cost_text(const CostAnswer& answer, const Prediction& r,
                      const std::optional<FullNode>& together) {
    std::string out = fmt::format("{} on {}: {}\n", r.asked.model_name, r.asked.gpus_and_machine(),
                                  speed_text(r));
    for (const std::string& words : shortages(r.plan))
        out += fmt::format("DOES NOT FIT: {}; the costs below assume that it fits\n", words);
    for (const std::string& words : fitting_words(r.advice)) out += fmt::format("  {}\n", words);
    if (const RunsToday& today = r.asked.runs_today; !today.runs())
        out += fmt::format("NO PROGRAM RUNS THIS TODAY: {}\n", today.why_not);
    append_money(out, answer);
    const RunCost& cost = answer.run;
    if (!answer.payment) out += fmt::format("run      {}\n", format_days(cost.days));
    append_limits(out, answer, r);
    append_offers(out, answer);
    append_side_by_side(out, together);
    if (answer.energy)
        append_energy(out, answer, cost);
    else
        out +=
            "energy   not known: the profile has neither calibrated energy nor the GPU's power\n";
    const RunLimits limits = judged_limits(answer, r);
    if (!answer.others.empty()) out += "\n" + to_text(payments_table(answer.others, limits));
    out += "\nassumed:\n";
    for (const std::string& assumption : answer.assumptions)
        out += fmt::format("  {}\n", assumption);
    return out;
}

std::string cost_json(const CostAnswer& answer, const Prediction& r,
                      const std::optional<FullNode>& together) {
    const bool fits = r.plan.fit.fits();
    const RunLimits limits = judged_limits(answer, r);
    Json out;
    out["model"] = r.asked.model_name;
    out["machine"] = {{"id", r.asked.machine_id}, {"changes", r.asked.machine_changes}};
    out["fits"] = fits;
    add_speed_json(out, r, r.band);
    out["tokens"] = answer.tokens;
    const RunCost& cost = answer.run;
    out["days"] = banded_json(cost.days);
    const auto limit = [](const std::optional<double>& one) { return one ? Json(*one) : Json(); };
    // Here alone of this payment, since a deadline is met or missed without a price, too.
    out["limits"] = {{"meets", answer.limits.any() ? Json(fits && meets(answer)) : Json()},
                     {"deadline_days", limit(answer.limits.days)},
                     {"budget_usd", limit(answer.limits.usd)}};
    out["payment"] = Json();
    if (answer.payment) {
        const PaidRun paid{*answer.payment, answer.run};
        out["payment"] = to_json(payments_table({paid}, limits)).front();
        out["payment"].erase("meets");
    }
    out["energy"] = answer.energy ? energy_json(answer, cost) : Json();
    out["other_payments"] = to_json(payments_table(answer.others, limits));
    out["rents_usd_per_million_tokens"] = answer.rents ? Json{{"taken", answer.rents->value},
                                                              {"least", answer.rents->low},
                                                              {"most", answer.rents->high}}
                                                       : Json();
    out["break_even"] = answer.break_even ? Json{{"months", answer.break_even->months},
                                                 {"training_hours", answer.break_even->hours}}
                                          : Json();
    out["purchase_missing"] = answer.missing.empty() ? Json() : Json(answer.missing);
    out["side_by_side"] = together ? full_node_json(*together, limits) : Json();
    out["owner"] = {{"years", answer.terms.years},
                    {"utilization", answer.terms.utilization},
                    {"interest", answer.terms.interest},
                    {"residual_share", answer.terms.residual_share},
                    {"electricity_usd_per_kwh", answer.terms.electricity_usd_per_kwh},
                    {"power_usage_effectiveness", answer.terms.power_usage_effectiveness}};
    out["assumptions"] = answer.assumptions;
    return readable_json(out);
}

std::string cost_csv(const CostAnswer& answer, const Prediction& r,
                     const std::optional<FullNode>& together) {
    std::vector<PaidRun> all = answer.others;
    if (answer.payment) all.insert(all.begin(), {*answer.payment, answer.run});
    if (together && together->jobs > 1 && together->paid) all.push_back(*together->paid);
    return to_csv(payments_table(all, judged_limits(answer, r)));
}

}  // namespace sluice

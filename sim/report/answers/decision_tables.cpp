// Tables of a decision.
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/decision/decision.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// "29.1", "1,208".
Cell days_or_kwh(const Banded& number) {
    return Cell(number.value)
        .shown_as(number.value >= 100 ? format_thousands(number.value)
                                      : fmt::format("{:.3g}", number.value));
}

/// "8 of 8 GPUs: host memory".
Cell paid_cell(const PaidGpus& paid) {
    const std::string of = paid.of > 0 ? fmt::format(" of {:g}", paid.of) : "";
    const bool is_why = paid.part != NodePart::gpus && paid.gpus <= paid.needed;
    const std::string part = is_why ? fmt::format(": {}", node_part_name(paid.part)) : "";
    return Cell(paid_words(paid)).shown_as(fmt::format("{:g}{} GPUs{}", paid.gpus, of, part));
}

/// Says where it counts other parts than those of other candidates.
Cell kwh_cell(const CostAnswer& cost) {
    const RunCost& run = cost.run;
    if (!run.kwh) return {};
    const Cell out = days_or_kwh(*run.kwh);
    return Cell(run.kwh->value)
        .shown_as(out.shown + energy_terms(run.kwh_scope).energy)
        .with_tooltip(format_kwh(run));
}

/// A candidate that does not fit has neither speed nor cost.
template <typename Value>
std::function<Cell(const Candidate&)> if_fits(Value value) {
    return [value](const Candidate& c) { return c.fits() ? Cell(value(c)) : Cell(); };
}

template <typename Value>
std::function<Cell(const Candidate&)> if_paid(Value value) {
    return [value](const Candidate& c) {
        return c.fits() && c.cost.payment ? Cell(value(c.cost.run)) : Cell();
    };
}

}  // namespace

Table decision_machines_table(const Decision& decision) {
    const std::string run = tokens_words(decision) + " tokens";
    std::vector<ColumnOf<Candidate>> columns = {
        {"machine", "machine", &Candidate::name},
        {"", "machine ",
         [&](auto& c) {
             return Cell(c.name + (&c == decision.best() ? " (chosen)" : ""))
                 .with_tooltip(c.full_name == c.name ? "" : c.full_name);
         }},
        {"fits", "fits", Unit::flag, [](auto& c) { return Cell(c.fits()).with_mark(!c.fits()); }},
        {"meets", "meets limits", Unit::flag, if_fits([](auto& c) {
             return meets_cell(c.cost.limits, c.cost.run, c.cost.payment.has_value());
         })},
        {"tokens_per_s", "tokens/s", Unit::whole,
         if_fits([](auto& c) { return c.report().tokens_per_s(); })},
        {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole,
         if_fits([](auto& c) { return range_of(c.report().speed()); })},
        {"bottleneck", "bound by", if_fits([](auto& c) {
             const auto [lane, share] = bound_of(c.report());
             return fmt::format("{} {}", lane_label(lane), format_percent(share));
         })},
        {"device_peak_bytes", "device", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.device().peak.bytes; }},
        {"device_usable_bytes", "of", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.device().usable; }},
        {"host_peak_bytes", "host", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.host().peak.bytes; }},
        {"host_usable_bytes", "of", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.host().usable; }},
        {"paid_for", "paid for",
         [](auto& c) {
             return c.fits() && c.cost.payment && c.cost.payment->paid
                        ? paid_cell(*c.cost.payment->paid)
                        : Cell();
         }},
        {"usd_per_hour", "$ an hour", Unit::usd, if_paid([](auto& c) { return c.usd_per_hour; })},
        {"usd_per_million_tokens", "$ a million", Unit::usd,
         if_paid([](auto& c) { return c.usd_per_million_tokens.value; })},
        {"usd_per_million_tokens_{}_percent", "5 to 95%", Unit::usd,
         if_paid([](auto& c) { return range_of(c.usd_per_million_tokens); })},
        {"usd_per_million_tokens_of_a_full_node", "$ a million, node full", Unit::usd,
         [](auto& c) {
             return c.together && c.together->jobs > 1 && c.together->paid
                        ? Cell(c.together->paid->run.usd_per_million_tokens.value)
                        : Cell();
         }},
        {"days", "days", Unit::number,
         if_fits([](auto& c) { return days_or_kwh(c.cost.run.days); })},
        {"run_usd", "$ for " + run, Unit::usd, if_paid([](auto& c) { return c.usd.value; })},
        {"spent_usd", "$ you spend", Unit::usd, if_paid([](auto& c) { return c.spent.value; }),
         "the whole price of what is bought, and the run's electricity; else as for the run"},
        {"run_kwh", "kWh for " + run, Unit::number,
         if_fits([](auto& c) { return kwh_cell(c.cost); }),
         "GPU and its part of the host, which is left out where its power is not known"},
        ColumnOf<Candidate>("confidence", "confidence",
                            [](auto& c) { return confidence_name(c.report().plan.confidence); })
            .once_if_equal(),
        {"", "short", [](auto& c) { return short_by(c.report()); }}};
    add_beside_speed(columns, "tokens_per_s_{}_percent",
                     [](const Candidate& c) { return &c.report().asked; });
    Table out = table_of<Candidate>(decision.candidates, columns);
    if (decision.chosen) out.rows[*decision.chosen].marked = true;
    return out;
}

Table decision_settings_table(const Decision& decision) {
    return table_of<Candidate>(
        decision.candidates,
        {{"machine", "machine", &Candidate::name},
         {"", "settings",
          [](auto& c) {
              return setting_words(settings_beside_defaults(c.report().asked.training));
          }},
         {"flags", "flags", [](auto& c) { return settings_flags(c.report().asked.training); }}});
}

}  // namespace sluice

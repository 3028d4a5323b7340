#include <fmt/format.h>

#include <functional>

#include "sim/answers/predict/lead.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

struct Compared {
    const Comparison* in;
    const ComparedSystem* system;

    const ComparedSystem& operator*() const { return *system; }
    const Prediction& report() const { return system->report; }
    bool fits() const { return system->fits(); }
    /// Empty if no settings were found that fit.
    const Suggestion* suggestion() const {
        return report().advice.suggestions.empty() ? nullptr : &report().advice.suggestions.front();
    }
};

template <typename Member>
std::function<Cell(const Compared&)> of_suggestion(Member member) {
    return [member](const Compared& c) {
        return c.suggestion() == nullptr ? Cell() : Cell(std::invoke(member, *c.suggestion()));
    };
}

/// People see no speed for a system that does not fit; programs read the speed without the memory
/// limit.
template <typename Value>
std::function<Cell(const Compared&)> where_it_fits(Value value) {
    return [value](const Compared& c) { return Cell(value(c)).hidden_if(!c.fits()); };
}

/// The share of cases in which a system is faster than ours.
Cell faster_than_ours(const Compared& c) {
    const ComparedSystem* const ours = c.in->ours();
    if (ours == nullptr || ours == c.system || !c.fits() || !c.report().band || !ours->report.band)
        return {};
    return Cell(lead_holds(c.report().tokens_per_s() / ours->report.tokens_per_s(), c.report(),
                           ours->report));
}

std::string tooltip(const ComparedSystem& system) {
    const Prediction& r = system.report;
    const std::string cut = micro_batch_words(system);
    return fmt::format("{}: {} a step\n{}\n{}{}{}", system.name, format_seconds(r.step.seconds),
                       memory_text(r), settings_text(shown_settings(r)), cut.empty() ? "" : "\n",
                       cut);
}

Bar bar_of(const Comparison& c, const ComparedSystem& system) {
    const Prediction& r = system.report;
    const auto relative = relative_speed(c, system);
    return {
        system.name,
        r.tokens_per_s(),
        r.speed().low,
        r.speed().high,
        format_thousands(r.tokens_per_s()) + (relative ? fmt::format(" ({:.2f}x)", *relative) : ""),
        system.fits() ? "" : short_by(r),
        paint(r.asked.training.schedule->ours ? Role::pointed_out : Role::other),
        tooltip(system)};
}

std::string note(std::span<const Comparison> comparisons) {
    bool fits = false, misfit = false, relative = false, cut = false;
    for (const Comparison& c : comparisons) {
        relative = relative || c.ours() != nullptr;
        for (const ComparedSystem& system : c.systems) {
            (system.fits() ? fits : misfit) = true;
            cut = cut || system.short_of_whole_batch > 0;
        }
    }
    std::string words;
    if (fits) words += "Thin line: nine of ten steps should lie there. ";
    if (relative) words += fmt::format("In brackets: as a multiple of {}. ", Schedule()->name);
    if (cut) words += "A batch that does not fit is split into the largest micro-batches that do. ";
    if (misfit) words += "Grey: does not fit; the length is the speed without that limit.";
    if (words.ends_with(' ')) words.pop_back();
    return words;
}

}  // namespace

Table systems_table(std::span<const Comparison> comparisons, const BytesText& bytes) {
    std::vector<Compared> systems;
    for (const Comparison& c : comparisons)
        for (const ComparedSystem& system : c.systems) systems.push_back({&c, &system});
    const auto memory = [&](Memory of) {
        return [&bytes, of](const Compared& c) {
            const Fit::OfMemory& one = c.report().plan.fit.of(of);
            return Cell(one.peak.bytes)
                .with_mark(one.shortfall() > 0)
                .with_tooltip("of " + bytes(one.usable));
        };
    };
    const auto asked = [](auto member) {
        return [member](const Compared& c) { return Cell(c.report().asked.*member); };
    };
    std::vector<ColumnOf<Compared>> columns = {
        {"model", "", asked(&AskedStep::model_name), "", Programs::csv},
        {"layers", "", Unit::whole, asked(&AskedStep::layers), "", Programs::csv},
        {"machine", "", asked(&AskedStep::machine_id)},
        {"gpus", "", Unit::whole, [](auto& c) { return c.report().asked.training.gpus; }},
        {"batch", "", Unit::whole, [](auto& c) { return c.report().asked.training.batch; }, "",
         Programs::csv},
        {"seq", "", Unit::whole, [](auto& c) { return c.report().asked.training.sequence; }, "",
         Programs::csv},
        {"system", "system",
         [](auto& c) {
             return Cell((*c).name).with_tooltip(
                 fmt::format("keeps {}\n{}", states_of(c.report().asked.training),
                             settings_text(shown_settings(c.report()))));
         },
         "system whose order of operations is planned"},
        ColumnOf<Compared>(
            "plan", "settings",
            [](auto& c) {
                const SettingsName& name = settings_name(c.report().settings_of);
                return Cell(name.plan).shown_as(name.words);
            },
            "whose settings each system has: its fastest plan's, those of its users, "
            "or the given ones")
            .once_if_equal(),
        {"settings", "",
         [](auto& c) { return settings_text(own_settings(c.report().asked.training)); }, "",
         Programs::csv},
        {"short_of_whole_batch_bytes", "", Unit::bytes,
         [](auto& c) { return (*c).short_of_whole_batch; }},
        {"whole_batch_note", "",
         [](auto& c) -> Cell {
             const std::string words = micro_batch_words(*c);
             return words.empty() ? Cell() : Cell(words);
         }},
        {"fits", "fits", Unit::flag,
         [&](auto& c) {
             return Cell(c.fits()).with_mark(!c.fits()).with_tooltip(
                 c.fits() ? ""
                          : fmt::format("{}", fmt::join(misfit_words(*c.in, *c, bytes), "\n")));
         }},
        {"fits_with", "", of_suggestion([](auto& one) { return setting_flags(one.settings); }), "",
         Programs::csv},
        {"fits_with.flags", "",
         of_suggestion([](auto& one) { return setting_flags(one.settings); }), "", Programs::json},
        {"fits_with.device_peak_bytes", "", Unit::bytes, of_suggestion(&Suggestion::device_peak),
         "", Programs::json},
        {"fits_with.host_peak_bytes", "", Unit::bytes, of_suggestion(&Suggestion::host_peak), "",
         Programs::json},
        {"fits_with.tokens_per_s", "", Unit::whole,
         [](auto& c) { return (*c).suggested_tokens_per_s; }, "", Programs::json},
        {"tokens_per_s", "tokens/s", Unit::whole,
         where_it_fits([](auto& c) { return c.report().tokens_per_s(); }),
         "batch x sequence / step"},
        {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole,
         where_it_fits([](auto& c) { return range_of(c.report().speed()); }),
         "nine of ten measured steps should lie there"},
        {"relative_speed", "speed", Unit::ratio, [](auto& c) { return relative_speed(*c.in, *c); },
         "tokens/s as a multiple of streamed's"},
        {"share_of_cases_faster_than_streamed", "chance to\nbe faster", Unit::share,
         faster_than_ours,
         "share of cases in which it is faster than streamed; errors that both share cancel"},
        {"step_s", "step", Unit::seconds,
         where_it_fits([](auto& c) { return c.report().step.seconds; })},
        {"device.peak_bytes", "device", Unit::bytes, memory(Tier::device),
         "most bytes at once on the device"},
        {"device.usable_bytes", "", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.device().usable; }},
        {"device.short_bytes", "", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.device().shortfall(); }},
        {"host.peak_bytes", "host", Unit::bytes, memory(Tier::host),
         "most bytes at once on the host"},
        {"host.usable_bytes", "", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.host().usable; }},
        {"host.short_bytes", "", Unit::bytes,
         [](auto& c) { return c.report().plan.fit.host().shortfall(); }},
        {"bottleneck", "bound by", where_it_fits([](auto& c) {
             const auto [lane, share] = bound_of(c.report());
             return Cell(bottleneck_name(c.report().step.bottleneck()))
                 .shown_as(fmt::format("{} {}", lane_label(lane), format_percent(share)))
                 .with_tooltip(bottleneck_text(c.report().step));
         }),
         "lane with the largest share of the step's critical path"},
        {"bottleneck_share_of_critical_path", "", Unit::share,
         [](auto& c) { return bound_of(c.report()).second; }},
        {"usd_per_million_tokens", "$ a million", Unit::usd, where_it_fits([](auto& c) -> Cell {
             const Prediction& r = c.report();
             return r.has_rent() ? Cell(r.usd_per_million_tokens_at(r.step.seconds)) : Cell();
         }),
         "at the typical rent of its GPUs"},
        ColumnOf<Compared>("confidence", "confidence", [](auto& c) {
            return confidence_name(c.report().plan.confidence);
        }).once_if_equal()};
    add_beside_speed(columns, "tokens_per_s_{}_percent",
                     [](const Compared& c) { return &c.report().asked; });
    return table_of<Compared>(systems, columns);
}

BarChart comparison_bars(std::span<const Comparison> comparisons) {
    const bool several = comparisons.size() > 1;
    const Prediction& r = comparisons.back().shared();
    BarChart chart;
    chart.title = r.asked.model_name + " on " + r.asked.machine_name;
    chart.subtitle =
        fmt::format("predicted tokens/s, batch {} x {} tokens{}", r.asked.training.batch,
                    format_thousands(r.asked.training.sequence),
                    several ? "" : ", " + format_number_of(r.asked.layers, "layer"));
    chart.note = note(comparisons);
    for (const Comparison& c : comparisons) {
        BarGroup group;
        if (several)
            group.heading =
                fmt::format("{}, {} parameters", format_number_of(c.shared().asked.layers, "layer"),
                            format_count(c.shared().asked.parameters));
        for (const ComparedSystem& system : c.systems) group.bars.push_back(bar_of(c, system));
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

}  // namespace sluice

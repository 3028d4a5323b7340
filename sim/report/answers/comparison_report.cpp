#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestLine = 116;

std::string heading(const Prediction& r, bool one_count) {
    const std::string size =
        one_count ? fmt::format(" ({} parameters, {})", format_count(r.asked.parameters),
                                format_number_of(r.asked.layers, "layer"))
                  : "";
    std::string out =
        fmt::format("{}{} on {}\nbatch {}, seq {}\n", r.asked.model_name, size, r.asked.machine_id,
                    r.asked.training.batch, r.asked.training.sequence);
    if (!r.asked.machine_changes.empty())
        out += fmt::format("what-if: {}\n", fmt::join(r.asked.machine_changes, " "));
    return out + "\n";
}

/// Clusters are other machines with several GPUs: their memory is given for a GPU and a node.
std::string about_clusters(const Comparison& c) {
    std::string out;
    for (const ComparedSystem& system : c.systems) {
        if (!system.report.asked.training.schedule->several_gpus) continue;
        const Fit& fit = system.report.plan.fit;
        out += fmt::format(
            "{}: tokens/s of all GPUs together; each GPU has {}, the host of a node {}\n",
            system.name, format_bytes(fit.device().usable), format_bytes(fit.host().usable));
    }
    return out;
}

std::string about_micro_batches(std::span<const Comparison> comparisons) {
    std::string out;
    for (const Comparison& c : comparisons)
        for (const ComparedSystem& system : c.systems) {
            const std::string words = micro_batch_words(system);
            if (words.empty()) continue;
            if (comparisons.size() > 1)
                out += format_number_of(c.shared().asked.layers, "layer") + ", ";
            out += words + "\n";
        }
    return out;
}

/// One row per number of layers, two columns per system.
std::string trend_text(std::span<const Comparison> comparisons) {
    std::vector<ColumnOf<Comparison>> columns = {
        {"layers", "layers", Unit::whole, [](auto& c) { return c.shared().asked.layers; }},
        {"parameters", "parameters", Unit::count,
         [](auto& c) { return c.shared().asked.parameters; }}};
    const std::vector<ComparedSystem>& systems = comparisons.front().systems;
    Row confidence{{"", "confidence"}};
    for (std::size_t i = 0; i < systems.size(); ++i) {
        columns.push_back(
            {"", systems[i].name, Unit::whole, [i](auto& c) {
                 const ComparedSystem& system = c.systems[i];
                 const double speed = system.report.tokens_per_s();
                 return Cell(speed).shown_as(
                     system.fits() ? fmt::format("{} {:>6}", format_thousands(speed),
                                                 cell_text(relative_speed(c, system), Unit::ratio))
                                   : short_by(system.report));
             }});
        confidence.cells.emplace_back(confidence_name(systems[i].report.plan.confidence));
    }
    Table table = table_of<Comparison>(comparisons, columns);
    table.rows.push_back(std::move(confidence));
    return fmt::format("tokens/s and speed as a multiple of {}'s\n", Schedule()->name) +
           to_text(table);
}

/// Items separated by commas, in lines that begin with spaces after the first line.
std::string wrapped(const std::string& name, std::size_t width, const Settings& settings) {
    std::string out, line = fmt::format("  {:<{}}", name, width);
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const bool last = i + 1 == settings.size();
        const std::string item =
            fmt::format(" {} {}{}", settings[i].first, settings[i].second, last ? "" : ",");
        if (line.size() + item.size() > kLongestLine) {
            out += line + "\n";
            line = fmt::format("  {:<{}}", "", width);
        }
        line += item;
    }
    return out + line + "\n";
}

std::string settings_block(const Comparison& c) {
    std::size_t width = 0;
    for (const ComparedSystem& system : c.systems) width = std::max(width, system.name.size());
    const auto all_are = [&](SettingsOf of) {
        return std::ranges::all_of(c.systems, [of](const ComparedSystem& system) {
            return system.report.settings_of == of || !system.fits();
        });
    };
    const bool all_chosen = all_are(SettingsOf::planner), all_users = all_are(SettingsOf::users);
    std::string out = fmt::format(
        "\nsettings of each{}:\n",
        all_chosen  ? ", chosen for its fastest step (--plan auto), where they differ from the "
                      "defaults"
        : all_users ? ", as its users run it (--plan users)"
                    : ", where they differ from the defaults");
    for (const ComparedSystem& system : c.systems) {
        const Prediction& r = system.report;
        Settings settings = shown_settings(r);
        settings.insert(settings.begin(), {"keeps", states_of(r.asked.training)});
        if (r.settings_of != SettingsOf::schedule && !all_chosen && !all_users)
            settings.insert(settings.begin(), {"plan", settings_name(r.settings_of).plan});
        out += wrapped(system.name, width, settings);
    }
    return out;
}

/// Sentences that apply to the same systems are printed together.
std::string assumptions_block(const Comparison& c) {
    std::string out;
    for (const auto& [systems, sentences] : grouped_assumptions(c))
        out += fmt::format("\nassumed for {}:\n{}",
                           systems.size() == c.systems.size()
                               ? "all"
                               : fmt::format("{}", fmt::join(systems, ", ")),
                           assumption_lines(sentences));
    return out;
}

std::string misfits(const Comparison& c) {
    std::string out;
    for (const ComparedSystem& system : c.systems)
        if (!system.fits())
            out += fmt::format("\n{} does not fit\n  {}\n", system.name,
                               fmt::join(misfit_words(c, system), "\n  "));
    return out;
}

/// The offers behind the column of dollars: provider, price an hour.
std::string prices(const Comparison& c) {
    std::vector<std::pair<std::string, std::vector<std::string>>> systems_at;
    for (const ComparedSystem& system : c.systems) {
        const Prediction& r = system.report;
        if (!system.fits() || !r.has_rent()) continue;
        const auto& paid = r.cost->paid;
        const std::string price = fmt::format(
            "{} an hour{} ({})", format_usd(r.cost->usd_per_hour),
            paid ? fmt::format(" for {:g} of {:g} GPUs", paid->gpus, std::max(paid->gpus, paid->of))
                 : "",
            offer_words(*r.cost));
        if (systems_at.empty() || systems_at.back().first != price)
            systems_at.push_back({price, {}});
        systems_at.back().second.push_back(system.name);
    }
    std::string out;
    for (const auto& [price, systems] : systems_at)
        out += fmt::format(
            "$ a million tokens at {}{}\n", price,
            systems_at.size() == 1 ? "" : fmt::format(": {}", fmt::join(systems, ", ")));
    return out;
}

std::string lines(const std::vector<std::string>& sentences) {
    return sentences.empty() ? "" : fmt::format("\n{}\n", fmt::join(sentences, "\n"));
}

}  // namespace

Table systems_and_memory(const Comparison& c) {
    Table table = systems_table({&c, 1});
    Row& there_is = table.rows.emplace_back();
    for (const Column& column : table.columns)
        there_is.cells.push_back(
            column.key == "system"              ? Cell("there is")
            : column.key == "device.peak_bytes" ? Cell(c.shared().plan.fit.device().usable)
            : column.key == "host.peak_bytes"   ? Cell(c.shared().plan.fit.host().usable)
                                                : Cell(""));
    return table;
}

std::string comparison_text(std::span<const Comparison> comparisons) {
    const Comparison& last = comparisons.back();
    const bool one = comparisons.size() == 1;
    std::string out = heading(last.shared(), one);
    out += one ? to_text(systems_and_memory(last)) : trend_text(comparisons);
    out += about_clusters(last) + about_micro_batches(comparisons);
    if (one) out += prices(last) + misfits(last);
    out += settings_block(last) + assumptions_block(last) + lines(last.left_out);
    std::vector<std::string> findings = one ? verdict(last) : trend(comparisons);
    if (!one && !not_today(last).empty()) findings.push_back(not_today(last));
    if (!not_today(last).empty()) findings.back() += "; --planned-too counts them";
    return out + lines(findings);
}

std::string comparison_json(std::span<const Comparison> comparisons) {
    const Comparison& last = comparisons.back();
    const Prediction& shared = last.shared();
    Json out = {{"model", {{"name", shared.asked.model_name}}},
                {"machine",
                 {{"id", shared.asked.machine_id},
                  {"name", shared.asked.machine_name},
                  {"changes", shared.asked.machine_changes}}},
                {"batch", shared.asked.training.batch},
                {"seq", shared.asked.training.sequence},
                {"relative_speed_formula", "tokens_per_s / tokens_per_s of streamed"}};
    out["comparisons"] = Json::array();
    for (const Comparison& c : comparisons) {
        Json systems = to_json(systems_table({&c, 1}));
        for (std::size_t i = 0; i < systems.size(); ++i)
            systems[i]["settings"] = training_json(c.systems[i].report.asked.training, true);
        out["comparisons"].push_back({{"layers", c.shared().asked.layers},
                                      {"parameters", c.shared().asked.parameters},
                                      {"systems", std::move(systems)},
                                      {"verdict", verdict(c)}});
    }
    if (comparisons.size() > 1) out["trend"] = trend(comparisons);
    out["planned_too"] = last.planned_too;
    out["left_out"] = last.left_out;
    out["assumptions"] = Json::array();
    for (const SharedAssumption& one : shared_assumptions(last))
        out["assumptions"].push_back({{"sentence", one.sentence}, {"systems", one.systems}});
    return readable_json(out);
}

std::string comparison_csv(std::span<const Comparison> comparisons) {
    return to_csv(systems_table(comparisons));
}

}  // namespace sluice

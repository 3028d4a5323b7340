#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/compare/comparison_report.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

constexpr std::size_t kLongestLine = 116;
constexpr std::size_t kMostAssumptions = 6;  // of those that the same systems rest on

std::string bytes_text(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string relative_text(const std::optional<double>& relative) {
    return relative ? fmt::format("{:.2f}x", *relative) : "-";
}

std::string heading(const Prediction& r, bool one_count) {
    const std::string size =
        one_count ? fmt::format(" ({} parameters, {})",
                                format_count(static_cast<double>(r.asked.parameters)),
                                format_number_of(r.asked.layers, "layer"))
                  : "";
    std::string out =
        fmt::format("{}{} on {}\nbatch {}, seq {}\n", r.asked.model_name, size, r.asked.machine_id,
                    r.asked.training.batch, r.asked.training.sequence);
    if (!r.asked.machine_changes.empty())
        out += fmt::format("what-if: {}\n", fmt::join(r.asked.machine_changes, " "));
    return out + "\n";
}

std::size_t name_width(const Comparison& c) {
    std::size_t width = 6;
    for (const ComparedSystem& system : c.systems) width = std::max(width, system.name.size());
    return width;
}

std::string band_text(const Prediction& r) {
    return fmt::format("{} to {}", format_thousands(r.tokens_per_s_at(r.band->high)),
                       format_thousands(r.tokens_per_s_at(r.band->low)));
}

std::string system_row(const Comparison& c, const ComparedSystem& system) {
    const Prediction& r = system.report;
    const auto [lane, share] = bound_of(r);
    const bool fits = system.fits();
    return fmt::format(
        "{:<{}}  {:<4} {:>9} {:>18} {:>6} {:>9} {:>9} {:>9}  {:<14} {}\n", system.name,
        name_width(c), fits ? "yes" : "NO", fits ? format_thousands(r.tokens_per_s()) : "-",
        fits ? band_text(r) : "-", relative_text(relative_speed(c, system)),
        fits ? format_seconds(r.step.seconds) : "-", bytes_text(r.plan.fit.device.peak.bytes),
        bytes_text(r.plan.fit.host.peak.bytes),
        fits ? fmt::format("{} {}", lane_label(lane), format_percent(share)) : "-",
        confidence_name(r.plan.confidence));
}

std::string table(const Comparison& c) {
    std::string out = fmt::format("{:<{}}  {:<4} {:>9} {:>18} {:>6} {:>9} {:>9} {:>9}  {:<14} {}\n",
                                  "system", name_width(c), "fits", "tokens/s", "5 to 95%", "speed",
                                  "step", "device", "host", "bound by", "confidence");
    for (const ComparedSystem& system : c.systems) out += system_row(c, system);
    const Fit& fit = c.shared().plan.fit;
    return out + fmt::format("{:<{}}  {:<4} {:>9} {:>18} {:>6} {:>9} {:>9} {:>9}\n", "there is",
                             name_width(c), "", "", "", "", "", bytes_text(fit.device.usable),
                             bytes_text(fit.host.usable));
}

/// Rows of clusters are of other machines, and of several GPUs.
std::string about_clusters(const Comparison& c) {
    std::string out;
    for (const ComparedSystem& system : c.systems) {
        if (!system.report.asked.training.schedule->several_gpus) continue;
        const Fit& fit = system.report.plan.fit;
        out += fmt::format(
            "{}: tokens/s of all GPUs together; there is {} in each, and {} on the host of a "
            "node\n",
            system.name, bytes_text(fit.device.usable), bytes_text(fit.host.usable));
    }
    return out;
}

std::string about_micro_batches(std::span<const Comparison> comparisons) {
    std::string out;
    for (const Comparison& c : comparisons) {
        for (const ComparedSystem& system : c.systems) {
            const std::string words = micro_batch_words(system);
            if (words.empty()) continue;
            out += comparisons.size() > 1
                       ? fmt::format("{}, {}\n", format_number_of(c.shared().asked.layers, "layer"),
                                     words)
                       : words + "\n";
        }
    }
    return out;
}

constexpr std::size_t kCell = 18;

std::string cell(const Comparison& c, const ComparedSystem& system) {
    if (!system.fits()) return short_by(system.report);
    return fmt::format("{} {:>6}", format_thousands(system.report.tokens_per_s()),
                       relative_text(relative_speed(c, system)));
}

/// As wide as the widest cell of each system, its name included.
std::vector<std::size_t> column_widths(std::span<const Comparison> comparisons) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < comparisons.front().systems.size(); ++i) {
        std::size_t width = std::max(kCell, comparisons.front().systems[i].name.size());
        for (const Comparison& c : comparisons)
            width = std::max(width, cell(c, c.systems[i]).size());
        widths.push_back(width);
    }
    return widths;
}

std::string trend_table(std::span<const Comparison> comparisons) {
    const std::vector<std::size_t> widths = column_widths(comparisons);
    const std::vector<ComparedSystem>& systems = comparisons.front().systems;
    std::string out = fmt::format("tokens/s and speed as a multiple of {}'s\n{:>6} {:>10}",
                                  Schedule()->name, "layers", "parameters");
    for (std::size_t i = 0; i < systems.size(); ++i)
        out += fmt::format("  {:>{}}", systems[i].name, widths[i]);
    out += "\n";
    for (const Comparison& c : comparisons) {
        out += fmt::format("{:>6} {:>10}", c.shared().asked.layers,
                           format_count(static_cast<double>(c.shared().asked.parameters)));
        for (std::size_t i = 0; i < systems.size(); ++i)
            out += fmt::format("  {:>{}}", cell(c, c.systems[i]), widths[i]);
        out += "\n";
    }
    out += fmt::format("{:>17}", "confidence");
    for (std::size_t i = 0; i < systems.size(); ++i)
        out +=
            fmt::format("  {:>{}}", confidence_name(systems[i].report.plan.confidence), widths[i]);
    return out + "\n";
}

/// Items separated by commas, on lines that begin with spaces after the first.
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

std::string settings_lines(const TrainingSpec& training, const std::string& name,
                           std::size_t width) {
    Settings settings = own_settings(training);
    settings.insert(settings.begin(), {"keeps", states_of(training)});
    return wrapped(name, width, settings);
}

std::string settings_block(const Comparison& c) {
    std::string out = "\nsettings of each:\n";
    for (const ComparedSystem& system : c.systems)
        out += settings_lines(system.report.asked.training, system.name, name_width(c));
    return out;
}

std::string cut(const std::string& sentence) {
    return sentence.size() <= kLongestLine ? sentence
                                           : sentence.substr(0, kLongestLine - 3) + "...";
}

/// The sentences that rest on the same systems stand together.
std::string assumptions_block(const Comparison& c) {
    std::vector<SharedAssumption> left = shared_assumptions(c);
    std::string out;
    while (!left.empty()) {
        const std::vector<std::string> systems = left.front().systems;
        const auto others = std::stable_partition(
            left.begin(), left.end(),
            [&](const SharedAssumption& assumption) { return assumption.systems == systems; });
        const bool all = systems.size() == c.systems.size();
        out += fmt::format("\nassumed for {}:\n",
                           all ? "all" : fmt::format("{}", fmt::join(systems, ", ")));
        const auto count = static_cast<std::size_t>(others - left.begin());
        for (std::size_t i = 0; i < std::min(count, kMostAssumptions); ++i)
            out += fmt::format("  {}\n", cut(left[i].sentence));
        if (count > kMostAssumptions)
            out += fmt::format("  and {} more, whole in --json\n", count - kMostAssumptions);
        left.erase(left.begin(), others);
    }
    return out;
}

std::string misfits(const Comparison& c) {
    std::string out;
    for (const ComparedSystem& system : c.systems) {
        if (system.fits()) continue;
        out += fmt::format("\n{} does not fit\n  {}\n", system.name,
                           fmt::join(misfit_words(c, system), "\n  "));
    }
    return out;
}

/// Of those that fit, where a price is known; systems of one price together.
std::string money(const Comparison& c) {
    std::string out, price;
    for (const ComparedSystem& system : c.systems) {
        const Prediction& r = system.report;
        if (!system.fits() || !r.cost) continue;
        const std::string at = fmt::format("at {} an hour ({})", format_usd(r.cost->usd_per_hour),
                                           hourly_cost_origin(*r.cost));
        out += at == price ? ", " : fmt::format("\na million tokens {}:\n  ", at);
        price = at;
        out += fmt::format("{} {}", system.name,
                           format_usd(r.usd_per_million_tokens_at(r.step.seconds)));
    }
    return out.empty() ? "" : out + "\n";
}

std::string lines(const std::vector<std::string>& sentences) {
    return sentences.empty() ? "" : fmt::format("\n{}\n", fmt::join(sentences, "\n"));
}

}  // namespace

std::string comparison_text(std::span<const Comparison> comparisons) {
    const Comparison& last = comparisons.back();
    const bool one = comparisons.size() == 1;
    std::string out = heading(last.shared(), one);
    out += one ? table(last) : trend_table(comparisons);
    out += about_clusters(last) + about_micro_batches(comparisons);
    if (one) out += money(last);
    if (one) out += misfits(last);
    out += settings_block(last) + assumptions_block(last) + lines(last.left_out);
    return out + lines(one ? verdict(last) : trend(comparisons));
}

}  // namespace sluice

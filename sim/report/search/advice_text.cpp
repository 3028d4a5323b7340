#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/answers/cost/run_cost.h"
#include "sim/base/format.h"
#include "sim/plan/step.h"
#include "sim/report/search/advice_report.h"

namespace sluice {
namespace {

std::string speed_text(const AdvisedSettings& settings) {
    const SearchRow& row = settings.row;
    const auto tokens = static_cast<double>(settings.training.tokens());
    std::string out = format_thousands(settings.tokens_per_s()) + " tokens/s";
    if (row.has_band())
        out += fmt::format(" (5 to 95%: {} to {})", format_thousands(tokens / row.step_high),
                           format_thousands(tokens / row.step_low));
    return out;
}

std::string memory_text(const SearchRow& row) {
    return fmt::format("device {}, host {}", format_bytes(static_cast<double>(row.device_peak)),
                       format_bytes(static_cast<double>(row.host_peak)));
}

std::string change_text(Bytes change) {
    if (change == 0) return "-";
    const std::string size = format_bytes(static_cast<double>(std::abs(change)));
    return (change < 0 ? "-" : "+") + size;
}

std::string percent(double change) { return fmt::format("{:+.1f}%", 100 * change); }

void append_settings(std::string& out, const char* name, const AdvisedSettings& settings) {
    out += fmt::format("{:<12} {}\n{:12} {}\n{:12} {}; bound by {}\n", name,
                       settings_flags(settings.training), "", speed_text(settings), "",
                       memory_text(settings.row), bottleneck_name(settings.row.bottleneck));
}

void append_knee(std::string& out, const Advice& advice) {
    const AdvisedSettings &knee = *advice.knee, &best = *advice.best;
    append_settings(out, "knee", knee);
    out += fmt::format("{:12} a batch of {} instead of {}: {} tokens/s, device {}, host {}\n", "",
                       knee.training.batch, best.training.batch,
                       percent(knee.tokens_per_s() / best.tokens_per_s() - 1),
                       change_text(knee.row.device_peak - best.row.device_peak),
                       change_text(knee.row.host_peak - best.row.host_peak));
}

/// "device 1.2 GB, host 30.1 GB"
std::string short_words(const SearchRow& row) {
    std::string out;
    for (const auto& [name, bytes] :
         {std::pair("device", row.device_short), std::pair("host", row.host_short),
          std::pair("storage", row.storage_short)})
        if (bytes > 0)
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name,
                               format_bytes(static_cast<double>(bytes)));
    return out;
}

/// Why there is no advice: what was planned does not fit, or a rule left out all.
std::string nothing_words(const Advice& advice) {
    if (advice.nearest)
        return fmt::format("nothing fits; nearest is {}: short of {}",
                           settings_flags(advice.nearest->training),
                           short_words(advice.nearest->row));
    std::string rules;
    for (const LeftOut& left_out : advice.left_out)
        rules += fmt::format("{}{}", rules.empty() ? "" : "; ", left_out.example);
    return "nothing was tried, since rules leave out every combination: " + rules;
}

void append_neighbours(std::string& out, const Advice& advice) {
    if (advice.neighbours.empty()) return;
    out += fmt::format("\n{:<22} {:<16} {:<16} {:>9}   {:>10} {:>10}\n", "one choice changed",
                       "best", "instead", "tokens/s", "device", "host");
    bool any_within = false;
    for (const Neighbour& n : advice.neighbours) {
        const std::string head =
            fmt::format("{:<22} {:<16} {:<16} ", n.option, n.chosen, n.instead);
        if (n.row.state == RowState::too_large) {
            out += fmt::format("{}does not fit: short of {}\n", head, short_words(n.row));
            continue;
        }
        any_within = any_within || n.within_band;
        out += fmt::format("{}{:>9} {} {:>10} {:>10}\n", head, percent(n.speed_change),
                           n.within_band ? "~" : " ", change_text(n.device_change),
                           change_text(n.host_change));
    }
    if (any_within)
        out += "~ the lead is smaller than the band: a measurement could turn it round\n";
}

void append_batches(std::string& out, const Advice& advice) {
    if (advice.by_batch.size() < 2) return;
    out += fmt::format("\n{:>6} {:>10} {:>8} {:>10} {:>10}  best settings of the batch\n", "batch",
                       "tokens/s", "of best", "device", "host");
    for (const AdvisedSettings& one : advice.by_batch)
        out += fmt::format("{:>6} {:>10} {:>8} {:>10} {:>10}  {}\n", one.training.batch,
                           format_thousands(one.tokens_per_s()),
                           format_percent(one.tokens_per_s() / advice.best->tokens_per_s()),
                           format_bytes(static_cast<double>(one.row.device_peak)),
                           format_bytes(static_cast<double>(one.row.host_peak)),
                           settings_flags(one.training));
}

void append_counts(std::string& out, const Advice& advice) {
    const auto count = [](std::size_t n) { return format_thousands(static_cast<double>(n)); };
    out += fmt::format(
        "\n{}: {} simulated, {} bounded (slower than the best of their batch whatever "
        "the order of work, better by no more than {:.1f}%, or of a batch too slow to be chosen), "
        "{} too large\n",
        format_number_of(static_cast<std::int64_t>(advice.combinations), "combination"),
        count(advice.simulated), count(advice.bounded), 100 * kIndifferent,
        count(advice.too_large));
    for (const LeftOut& left_out : advice.left_out)
        out += fmt::format("  {} left out, for example: {}\n", count(left_out.count),
                           left_out.example);
}

void append_advice(std::string& out, const Advice& advice, const AdviceRequest& request) {
    out += fmt::format("{} ({}) on {}\n\n", advice.model_name,
                       format_number_of(advice.layers, "layer"), advice.machine_id);
    if (!advice.best) {
        out += nothing_words(advice) + "\n";
        return append_counts(out, advice);
    }
    if (!advice.reaches_least)
        out += fmt::format("no settings reach {} tokens/s\n",
                           format_thousands(request.least_tokens_per_s));
    append_settings(out, "best", *advice.best);
    if (advice.knee) append_knee(out, advice);
    append_neighbours(out, advice);
    append_batches(out, advice);
    append_counts(out, advice);
}

double usd_of_a_million(const MachineAdvice& one) {
    return usd_per_million_tokens(*one.price, one.advice->best->tokens_per_s());
}

void append_machines(std::string& out, const std::vector<MachineAdvice>& machines,
                     const AdviceRequest& request) {
    out +=
        fmt::format("{:<28} {:>10} {:>8} {:>10}\n", "machine", "tokens/s", "an hour", "a million");
    for (const MachineAdvice& one : machines) {
        const bool there = one.advice && one.advice->best;
        const double speed = there ? one.advice->best->tokens_per_s() : 0;
        const std::string words = !one.left_out.empty()            ? one.left_out
                                  : !there && !one.advice->nearest ? "left out by rules"
                                  : !there                         ? "nothing fits"
                                  : !one.advice->reaches_least     ? "too slow"
                                                                   : "";
        out += fmt::format(
            "{:<28} {:>10} {:>8} {:>10}{}{}\n", one.machine, there ? format_thousands(speed) : "-",
            one.price ? format_usd(one.price->usd) : "-",
            there && one.price ? format_usd(usd_per_million_tokens(*one.price, speed)) : "-",
            words.empty() ? "" : "  ", words);
    }
    const MachineAdvice* const best = best_machine(machines);
    out += fmt::format("best machine, the fastest{}: {}\n",
                       request.least_tokens_per_s > 0
                           ? fmt::format(" with at least {} tokens/s",
                                         format_thousands(request.least_tokens_per_s))
                           : "",
                       best == nullptr ? "none" : best->machine);
    if (const MachineAdvice* const cheapest = cheapest_machine(machines))
        out += cheapest == best
                   ? "of those with a price it is also the cheapest a million tokens\n"
                   : fmt::format("the cheapest a million tokens: {}, {}\n", cheapest->machine,
                                 format_usd(usd_of_a_million(*cheapest)));
    const std::vector<std::string> near = near_best_machine(machines);
    if (!near.empty())
        out += fmt::format(
            "its lead is smaller than the bands of: {}; a measurement could turn it round\n",
            fmt::join(near, ", "));
}

}  // namespace

const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines) {
    const MachineAdvice* best = nullptr;
    for (const MachineAdvice& one : machines) {
        if (!one.is_choice()) continue;
        if (best == nullptr ||
            one.advice->best->tokens_per_s() > best->advice->best->tokens_per_s())
            best = &one;
    }
    return best;
}

const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines) {
    const MachineAdvice* cheapest = nullptr;
    for (const MachineAdvice& one : machines) {
        if (!one.is_choice() || !one.price) continue;
        if (cheapest == nullptr || usd_of_a_million(one) < usd_of_a_million(*cheapest))
            cheapest = &one;
    }
    return cheapest;
}

std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines) {
    std::vector<std::string> out;
    const MachineAdvice* const best = best_machine(machines);
    if (best == nullptr) return out;
    const AdvisedSettings& first = *best->advice->best;
    const double least = static_cast<double>(first.training.tokens()) / first.row.step_high;
    for (const MachineAdvice& one : machines) {
        if (&one == best || !one.is_choice()) continue;
        const AdvisedSettings& other = *one.advice->best;
        const double most = static_cast<double>(other.training.tokens()) / other.row.step_low;
        if (most > least) out.push_back(one.machine);
    }
    return out;
}

std::string settings_flags(const TrainingSpec& training) {
    const TrainingSpec standard;
    std::string out;
    for (const Option& option : training_options()) {
        const std::string_view field = option.field;
        const bool always = field == "batch" || field == "seq";
        if (!always && option.get(training) == option.get(standard)) continue;
        out += fmt::format("{}{} {}", out.empty() ? "" : " ", option_flag(option),
                           option_text(training, option));
    }
    return out;
}

double usd_per_million_tokens(const HourlyPrice& price, double tokens_per_s) {
    constexpr double kSecondsAnHour = 3600;
    return price.usd / kSecondsAnHour / tokens_per_s * kMega;
}

std::string advice_text(const std::vector<MachineAdvice>& machines, const AdviceRequest& request) {
    std::string out;
    for (const MachineAdvice& one : machines) {
        if (one.advice) append_advice(out, *one.advice, request);
        if (one.advice && machines.size() > 1) out += "\n";
    }
    const MachineAdvice& first = machines.front();
    if (machines.size() > 1) {
        append_machines(out, machines, request);
    } else if (!first.left_out.empty()) {
        out += fmt::format("{} {}\n", first.machine, first.left_out);
    } else if (first.price && first.advice->best) {
        const double speed = first.advice->best->tokens_per_s();
        out += fmt::format("{} an hour ({}), {} a million tokens\n", format_usd(first.price->usd),
                           first.price->source,
                           format_usd(usd_per_million_tokens(*first.price, speed)));
    }
    return out;
}

}  // namespace sluice

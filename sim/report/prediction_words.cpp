#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/predict/prediction.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// "copies to the GPU at 61 GB/s (now 55.3; both ways 52, now 47)": the rates that would be faster
/// by the factor.
std::string faster_words(Lane lane, const FasterLane& faster) {
    const double rate = faster.rate / kGiga, both = faster.both_ways / kGiga;
    switch (lane.work) {
        case Work::host_to_device:
        case Work::device_to_host:
            return fmt::format("{} at {:.0f} GB/s (now {:.1f}; both ways {:.0f}, now {:.0f})",
                               lane_words(lane), rate * faster.factor, rate, both * faster.factor,
                               both);
        case Work::storage_read:
        case Work::storage_write:
            return fmt::format("storage {} {:.1f} GB/s (now {:.1f})", lane_label(lane),
                               rate * faster.factor, rate);
        case Work::python:
            return fmt::format("a core that runs Python {:.1f} times as fast", faster.factor);
        case Work::interconnect:
            return fmt::format("links and network between GPUs {:.1f} times as fast",
                               faster.factor);
        default:
            return fmt::format("host work {:.1f} times as fast", faster.factor);
    }
}

const char* hidden_work(Lane lane) {
    switch (lane.work) {
        case Work::host_to_device:
            return "weights";
        case Work::device_to_host:
            return "gradients";
        case Work::host:
            return "collecting gradients";
        case Work::interconnect:
            return "collectives";
        case Work::python:
            return "issuing work";
        case Work::storage_read:
            return "reading";
        case Work::storage_write:
            return "writing";
        default:
            return "optimizer";
    }
}

std::string users_settings(const TrainingSpec& training) {
    const ScheduleRecord& schedule = *training.schedule;
    if (schedule.ours) return "the plan that it chooses";
    if (schedule.users_run.empty()) return "it has none to choose";
    std::vector<std::string> parts;
    for (const auto& [field, value] : schedule.users_run)
        parts.push_back(fmt::format("{} {}", field, option_text(training, training_option(field))));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string speed_text(const Prediction& r) {
    const std::string speed = format_thousands(r.tokens_per_s()) + " tokens/s";
    return r.band ? fmt::format("{} (5 to 95%: {})", speed,
                                cell_text(range_of(r.speed()), Unit::whole))
                  : speed;
}

Cell range_of(const Banded& number) {
    return number.high > 0 ? Cell(Range{number.low, number.high}) : Cell();
}

void add_speed_json(nlohmann::ordered_json& out, const TimedPlan& r,
                    const std::optional<Band>& band) {
    out["tokens_per_s"] = r.tokens_per_s();
    if (!band) return;
    out["tokens_per_s_5_percent"] = r.tokens_per_s_at(band->high);
    out["tokens_per_s_95_percent"] = r.tokens_per_s_at(band->low);
}

std::string memory_text(const TimedPlan& r) {
    return fmt::format("device {}, host {}", format_bytes(r.plan.fit.device().peak.bytes),
                       format_bytes(r.plan.fit.host().peak.bytes));
}

nlohmann::ordered_json training_json(const TrainingSpec& training, bool own) {
    auto out = nlohmann::ordered_json::object();
    for (const Option& option : training_options()) {
        if (own && !has_option(training.schedule, option)) continue;
        if (!option.is_text() || option.is_memory)
            out[option.field] = static_cast<std::int64_t>(option.get(training));
        else
            out[option.field] = option_text(training, option);
    }
    return out;
}

std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes) {
    std::string out =
        fmt::format("no nearby setting fits: {}{}a smaller model or a larger machine is needed",
                    none.larger_budget ? "a larger budget of memory, " : "",
                    none.shorter_sequence ? "a shorter --seq, " : "");
    if (none.host_memory_most > 0)
        out +=
            fmt::format(" (this one has {} of host memory at most)", bytes(none.host_memory_most));
    return out;
}

std::string suggestion_text(const Suggestion& one, const BytesText& bytes) {
    return fmt::format("fits with {} (device {}, host {})", setting_flags(one.settings),
                       bytes(one.device_peak), bytes(one.host_peak));
}

std::vector<std::string> fitting_words(const StepAdvice& advice) {
    std::vector<std::string> out;
    for (const Suggestion& one : advice.suggestions) out.push_back(suggestion_text(one));
    if (advice.no_suggestion) out.push_back(no_suggestion_text(*advice.no_suggestion));
    return out;
}

std::string misfit_sentence(const std::string& name, const Prediction& prediction) {
    const std::string out =
        fmt::format("{}: {}", name, fmt::join(shortages(prediction.plan), "; "));
    const auto& advice = prediction.advice;
    if (advice.suggestions.empty())
        return fmt::format("{}; {}.", out,
                           no_suggestion_text(advice.no_suggestion.value_or(NoSuggestion())));
    const Suggestion& first = advice.suggestions.front();
    return out + fmt::format("; it fits with these settings: {} (device {}, host {}).",
                             setting_words(first.settings), format_bytes(first.device_peak),
                             format_bytes(first.host_peak));
}

std::string remedy_text(const Remedy& remedy) {
    if (!remedy.faster)
        return fmt::format("a faster lane \"{}\" alone brings less than {:.0f}%",
                           lane_words(remedy.lane), kLeastGain * 100);
    const FasterLane& faster = *remedy.faster;
    const std::string memory =
        faster.host_memory > 0
            ? fmt::format(" and host memory at {:.0f} GB/s (now {:.0f})",
                          faster.host_memory / kGiga * faster.factor, faster.host_memory / kGiga)
            : "";
    return fmt::format("{}{} would hide the {}: {} a step", faster_words(remedy.lane, faster),
                       memory, hidden_work(remedy.lane), format_seconds(faster.step));
}

std::vector<std::string> assumptions(const TimedPlan& timed) {
    std::vector<std::string> out = timed.plan.assumptions;
    if (timed.step.unsettled > 0)
        out.push_back(fmt::format("the step time does not settle in {} steps; it is their mean",
                                  timed.step.unsettled));
    if (timed.step.measured && timed.step.measured->redone > 0)
        out.push_back(
            fmt::format("{} steps that speculative clipping redid are not in the step time",
                        timed.step.measured->redone));
    return out;
}

std::string assumption_lines(const std::vector<std::string>& sentences) {
    constexpr std::size_t kMost = 3, kLongest = 116;
    std::string out;
    for (std::size_t i = 0; i < std::min(kMost, sentences.size()); ++i) {
        const std::string& one = sentences[i];
        std::size_t cut = kLongest - 3;
        const auto within_character = [&] { return (one[cut] & 0xC0) == 0x80; };
        while (one.size() > kLongest && within_character()) --cut;
        out += fmt::format("  {}\n", one.size() <= kLongest ? one : one.substr(0, cut) + "...");
    }
    if (sentences.size() > kMost)
        out += fmt::format("  and {} more; --json prints all in full\n", sentences.size() - kMost);
    return out;
}

std::string settings_line(const Prediction& prediction) {
    const SettingsOf of = prediction.settings_of;
    const SettingsName& name = settings_name(of);
    if (of == SettingsOf::users)
        return fmt::format("settings     {}: {}\n", name.words,
                           users_settings(prediction.asked.training));
    if (prediction.asked.training.schedule->ours) return "";
    return fmt::format("settings     {} (--plan {}); --plan {} shows those of its users\n",
                       name.words, name.plan, settings_name(SettingsOf::users).plan);
}

}  // namespace sluice

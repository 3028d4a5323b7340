#include "engine/train/run_summary.h"

#include <fmt/format.h>

#include <utility>

#include "engine/train/progress.h"
#include "engine/train/run_defaults.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

std::string thousands(std::int64_t number) { return format_thousands(static_cast<double>(number)); }

std::string new_tokens_words(const ComingRun& run) {
    if (!run.settings.fewer_tokens || *run.settings.fewer_tokens == run.vocabulary) return "";
    return fmt::format("; embeddings of tokens from {} to {} are the mean of the others",
                       thousands(*run.settings.fewer_tokens), thousands(run.vocabulary - 1));
}

std::string weights_words(const ComingRun& run) {
    if (run.continues_from)
        return fmt::format("continue from {}, with its optimizer state", *run.continues_from);
    if (run.settings.load) return "loaded from " + *run.settings.load + new_tokens_words(run);
    return fmt::format("random, of seed {}", run.settings.seed);
}

std::string files_words(const std::vector<std::string>& files) {
    constexpr std::size_t kShown = 3;
    std::string out;
    for (std::size_t i = 0; i < files.size() && i < kShown; ++i)
        out += (i > 0 ? ", " : "") + files[i];
    if (files.size() > kShown) out += fmt::format(" and {} more", files.size() - kShown);
    return out;
}

std::string data_words(const DataFacts& data, const std::vector<std::string>& files) {
    return fmt::format("{} sequences of {} tokens from {}; {} of the tokens are learned",
                       thousands(data.sequences), thousands(data.sequence), files_words(files),
                       format_percent(data.learned_share()));
}

std::string left_out_words(const DataFacts& data) {
    std::vector<std::string> parts;
    if (data.cut_documents > 0)
        parts.push_back(format_number_of(data.cut_documents, "document") +
                        " longer than a sequence and cut");
    if (data.left_out_documents > 0)
        parts.push_back(format_number_of(data.left_out_documents, "document") +
                        " left out by ./dev data");
    if (data.lost_tokens > 0)
        parts.push_back(format_number_of(data.lost_tokens, "token") + " of these");
    if (data.at_ends > 0)
        parts.push_back(format_number_of(data.at_ends, "token") + " at the end of files");
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string steps_words(const ComingRun& run) {
    const double drawn =
        static_cast<double>(run.settings.steps) * static_cast<double>(run.training.batch);
    const std::string epochs = fmt::format("{:.3g}", run.data.epochs(drawn));
    const std::string from = run.done > 0 ? fmt::format("{} to {}", thousands(run.done + 1),
                                                        thousands(run.settings.steps))
                                          : thousands(run.settings.steps);
    return fmt::format("{} of {} sequences: {} epoch{} of the data", from,
                       thousands(run.training.batch), epochs, epochs == "1" ? "" : "s");
}

std::string optimizer_words(const TrainSettings& s) {
    std::string rate = fmt::format("learning rate {:g}", s.learning_rate);
    if (s.warmup_steps > 0)
        rate += fmt::format(" after {} of warm-up", format_number_of(s.warmup_steps, "step"));
    const std::string schedule(kLearningRateNames[static_cast<std::size_t>(s.schedule)]);
    rate += ", " + schedule;
    if (ends_at_a_step(s.schedule))
        rate += fmt::format(" to {:g}", s.learning_rate * s.final_fraction);
    if (s.schedule == LearningRateKind::wsd)
        rate += fmt::format(" in the last {} of the steps", format_percent(s.decay_share));
    return fmt::format("AdamW, {}; betas {:g} and {:g}, weight decay {:g}, norm at most {:g}", rate,
                       s.beta1, s.beta2, s.weight_decay, s.max_norm);
}

std::string saved_words(const TrainSettings& s) {
    if (!s.out) return "NOT SAVED: the weights are lost at the end; give --out to keep them";
    return s.save_every > 0 && s.save_every < s.steps
               ? fmt::format("{}, every {} and at the end", *s.out,
                             format_number_of(s.save_every, "step"))
               : *s.out + ", at the end";
}

std::string validation_times(const TrainSettings& s) {
    if (s.evaluate_only) return "";
    const std::string until =
        s.patience ? fmt::format(
                         ", until {} no lower in a row",
                         *s.patience == 1 ? "1 loss is" : fmt::format("{} losses are", *s.patience))
                   : "";
    return fmt::format("; {}every {}{}", s.validate_first ? "before the first step and " : "",
                       format_number_of(s.validate_every, "step"), until);
}

/// A line a set.
std::vector<std::string> validation_words(const ComingRun& run) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < run.validation.size(); ++i) {
        const ValidationSet& set = run.settings.validation[i];
        const std::string name = set.name.empty() ? "" : set.name + ": ";
        out.push_back(name + data_words(run.validation[i], set.files));
    }
    if (!out.empty()) out.back() += validation_times(run.settings);
    return out;
}

std::string plan_words(const ComingRun& run) {
    const auto flags = setting_flags(changed_settings(TrainingSpec(), run.training));
    return flags.empty() ? "as by default" : flags;
}

std::string expected_words(const ComingRun& run) {
    if (!run.settings.expected) return "not known before the first steps, which say the time left";
    const Seconds step = run.settings.expected->step;
    const Seconds all = step * static_cast<double>(run.settings.steps - run.done);
    return fmt::format("{} a step, {} for all; the end is about {}", format_seconds(step),
                       clock_text(all), local_minute(run.now + static_cast<std::time_t>(all)));
}

}  // namespace

std::string local_minute(std::time_t time) {
    std::tm parts{};
    localtime_r(&time, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::vector<std::pair<std::string, std::string>> run_facts(const ComingRun& run) {
    const TrainSettings& s = run.settings;
    std::vector<std::pair<std::string, std::string>> rows = {{"weights", weights_words(run)}};
    if (s.evaluate_only) {
        rows.emplace_back("steps", "none: the validation loss alone is found");
    } else {
        rows.emplace_back("data", data_words(run.data, s.data));
        rows.emplace_back("left out", left_out_words(run.data));
        rows.emplace_back("steps", steps_words(run));
        rows.emplace_back("optimizer", optimizer_words(s));
    }
    for (std::string& words : validation_words(run))
        rows.emplace_back("validation", std::move(words));
    if (!s.evaluate_only) rows.emplace_back("saved to", saved_words(s));
    rows.emplace_back(
        "precision", fmt::format("activations in {}, {} bytes of state a parameter",
                                 run.fp32_activations ? "fp32" : "bf16", run.training.state_bytes));
    rows.emplace_back("plan", plan_words(run));
    if (!s.evaluate_only) rows.emplace_back("expected", expected_words(run));
    return rows;
}

std::string run_summary(const ComingRun& run) {
    std::string out = "this run\n";
    for (const auto& [name, value] : run_facts(run))
        out += fmt::format("  {:<10}  {}\n", name, value);
    return out;
}

std::vector<std::string> run_warnings(const ComingRun& run) {
    std::vector<std::string> out;
    if (run.longest_sequence > 0 && run.training.sequence > run.longest_sequence)
        out.push_back(fmt::format(
            "sequences of {} tokens are longer than the model's max_position_embeddings of {}, so "
            "that later positions are new to it; give a smaller --seq if this is not meant",
            thousands(run.training.sequence), thousands(run.longest_sequence)));
    return out;
}

}  // namespace sluice

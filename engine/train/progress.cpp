#include "engine/train/progress.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::string time_left(Seconds seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole >= 3600)
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string line(const StepRecord& r, std::int64_t steps, Seconds left) {
    const StepOutcome& o = r.outcome;
    const std::string clipped = o.clip_factor < 1 ? (o.redone ? " (clipped, redone)" : " (clipped)")
                                                  : (o.redone ? " (redone)" : "");
    return fmt::format(
        "step {}/{}  loss {:.4f}{}  norm {:.3f}{}  lr {:.2e}  {} tokens/s  device {}  host {}  {} "
        "left\n",
        r.step, steps, o.loss,
        r.validation_loss ? fmt::format("  validation {:.4f}", *r.validation_loss) : "",
        o.gradient_norm, clipped, r.learning_rate,
        format_thousands(static_cast<double>(r.tokens) / r.seconds),
        format_bytes(static_cast<double>(r.device)), format_bytes(static_cast<double>(r.host)),
        time_left(left));
}

nlohmann::ordered_json json(const StepRecord& r, std::optional<Seconds> expected) {
    nlohmann::ordered_json out = {{"step", r.step},
                                  {"loss", r.outcome.loss},
                                  {"gradient_norm", r.outcome.gradient_norm},
                                  {"clip_factor", r.outcome.clip_factor},
                                  {"redone", r.outcome.redone},
                                  {"learning_rate", r.learning_rate},
                                  {"step_s", r.seconds},
                                  {"targets", r.targets},
                                  {"tokens_per_s", static_cast<double>(r.tokens) / r.seconds},
                                  {"device_bytes", r.device},
                                  {"host_bytes", r.host}};
    if (r.validation_loss) out["validation_loss"] = *r.validation_loss;
    if (r.saving) out["saving_step"] = *r.saving;
    if (r.held > 0) out["held_by_saving_s"] = r.held;
    if (r.gpu_joules) out["gpu_energy_j"] = *r.gpu_joules;
    if (expected) out["share_of_predicted_speed"] = *expected / r.seconds;
    return out;
}

}  // namespace

void say(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}
void say_on_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

Progress::Progress(std::int64_t steps, const std::optional<std::string>& log,
                   std::optional<Seconds> expected_step)
    : steps_(steps), expected_step_(expected_step) {
    if (!log) return;
    log_name_ = *log;
    log_ = std::fopen(log->c_str(), "a");
    if (log_ == nullptr) {
        throw InputError(fmt::format("--log {}: cannot be written ({}); give another file", *log,
                                     std::strerror(errno)));
    }
}

Progress::~Progress() {
    if (log_ != nullptr) std::fclose(log_);
}

void Progress::report(const StepRecord& record) {
    redone_in_row_ = record.outcome.redone ? redone_in_row_ + 1 : 0;
    constexpr int kMany = 10;
    if (redone_in_row_ == kMany) {
        say(fmt::format(
            "note: the last {} steps were clipped and redone; --clipping exact holds 2 bytes a "
            "parameter more and is faster here\n",
            kMany));
    }
    // The first steps also build plans and fill caches.
    typical_ =
        typical_ == 0 || record.step <= 3 ? record.seconds : 0.8 * typical_ + 0.2 * record.seconds;
    const Seconds left = static_cast<double>(steps_ - record.step) * typical_;
    say(line(record, steps_, left));
    if (log_ == nullptr) return;
    const std::string text = json(record, expected_step_).dump() + "\n";
    if (std::fputs(text.c_str(), log_) < 0 || std::fflush(log_) != 0) {
        say_on_stderr(
            fmt::format("sluice-train: --log {}: cannot be written ({}); continuing without it\n",
                        log_name_, std::strerror(errno)));
        std::fclose(log_);
        log_ = nullptr;
    }
}

}  // namespace sluice

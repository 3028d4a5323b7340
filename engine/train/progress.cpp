#include "engine/train/progress.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::string line(const StepRecord& r, std::int64_t steps, Seconds left) {
    const StepOutcome& o = r.outcome;
    std::vector<const char*> marks;
    if (r.spike) marks.push_back("spike");
    if (o.skipped) marks.push_back("skipped");
    if (o.clip_factor < 1) marks.push_back("clipped");
    if (o.redone) marks.push_back("redone");
    if (o.corrected) marks.push_back("corrected");
    const std::string marked = marks.empty() ? "" : fmt::format(" ({})", fmt::join(marks, ", "));
    return fmt::format(
        "step {}/{}  loss {:.4f}{}  norm {:.3f}{}  lr {:.2e}  {} tokens/s{}  device {}  host {}  "
        "{} "
        "left\n",
        r.step, steps, o.loss,
        r.validation ? "  validation " + validation_words(*r.validation) : "", o.gradient_norm,
        marked, r.learning_rate, format_thousands(r.tokens_per_s()),
        r.plan_share ? fmt::format(" ({} of plan)", format_percent(*r.plan_share)) : "",
        format_bytes(static_cast<double>(r.device)), format_bytes(static_cast<double>(r.host)),
        clock_text(left));
}

}  // namespace

std::string clock_text(Seconds seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole >= 3600)
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void say(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}
void say_on_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

Progress::Progress(std::int64_t steps, const std::optional<std::string>& log) : steps_(steps) {
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

Seconds Progress::left() const { return static_cast<double>(steps_ - step_) * typical_; }

std::string Progress::state() const {
    return fmt::format("step {} of {}, {} left", format_thousands(static_cast<double>(step_)),
                       format_thousands(static_cast<double>(steps_)), clock_text(left()));
}

void Progress::report(const StepRecord& record) {
    redone_in_row_ = record.outcome.redone ? redone_in_row_ + 1 : 0;
    constexpr int kMany = 10;
    if (redone_in_row_ == kMany) {
        say(fmt::format(
            "note: the last {} steps were clipped and redone; --clipping auto holds 2 bytes a "
            "parameter more and is faster here\n",
            kMany));
    }
    // The first steps also build plans and fill caches.
    typical_ =
        typical_ == 0 || record.step <= 3 ? record.seconds : 0.8 * typical_ + 0.2 * record.seconds;
    step_ = record.step;
    say(line(record, steps_, left()));
    append(step_json(record).dump());
}

void Progress::report_validation(std::int64_t step, const ValidationLoss& loss) {
    say(fmt::format("after step {}  validation {}\n", step, validation_words(loss)));
    nlohmann::ordered_json line{{"step", step}};
    line.update(validation_json(loss));
    append(line.dump());
}

void Progress::append(const std::string& line) {
    if (log_ == nullptr) return;
    const std::string text = line + "\n";
    if (std::fputs(text.c_str(), log_) < 0 || std::fflush(log_) != 0) {
        say_on_stderr(
            fmt::format("sluice-train: --log {}: cannot be written ({}); continuing without it\n",
                        log_name_, std::strerror(errno)));
        std::fclose(log_);
        log_ = nullptr;
    }
}

}  // namespace sluice

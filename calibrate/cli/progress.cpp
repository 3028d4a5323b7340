#include "calibrate/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/device/device.h"

namespace sluice {

std::string minutes_and_seconds(Seconds seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Seconds time_left(Seconds expected, Seconds elapsed, double share) {
    constexpr double kTelling = 0.05;
    if (share >= kTelling) return elapsed * (1 - std::min(share, 1.0)) / share;
    return std::max(0.0, expected - elapsed);
}

Progress::Progress(std::vector<PlannedCase> cases, std::FILE* out, bool is_terminal)
    : cases_(std::move(cases)), out_(out), is_terminal_(is_terminal) {}

Seconds Progress::left(double share, Seconds elapsed) const {
    Seconds sum = time_left(cases_[current_].seconds, elapsed, share);
    for (std::size_t i = current_ + 1; i < cases_.size(); ++i) sum += cases_[i].seconds;
    return sum;
}

void Progress::begin() {
    started_ = host_seconds();
    drawn_ = 0;
    report(0);
}

void Progress::report(double share) {
    // Often enough for the eye; a case may report after every shape.
    constexpr Seconds kRedraw = 0.2;
    const Seconds now = host_seconds();
    if (!is_terminal_ || now - drawn_ < kRedraw) return;
    drawn_ = now;
    draw(fmt::format("[{:>2}/{}] {:<17} {:>3.0f}%  {} left in all", current_ + 1, cases_.size(),
                     cases_[current_].name, 100 * share,
                     minutes_and_seconds(left(share, now - started_))),
         false);
}

void Progress::end(Seconds seconds, const std::string& detail) {
    const Seconds rest = left(1, seconds);
    draw(fmt::format("[{:>2}/{}] {:<17} {:>5.1f} s  {} left{}{}", current_ + 1, cases_.size(),
                     cases_[current_].name, seconds, minutes_and_seconds(rest),
                     detail.empty() ? "" : "  ", detail),
         true);
    ++current_;
}

void Progress::draw(const std::string& text, bool keep) {
    // \x1b[K clears what a longer line left.
    fmt::print(out_, "{}{}{}", text, is_terminal_ ? "\x1b[K" : "", keep ? "\n" : "\r");
    std::fflush(out_);
}

}  // namespace sluice

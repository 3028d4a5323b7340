#include "sim/command_line/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "sim/base/format.h"

namespace sluice {

ProgressLine::ProgressLine(std::string command)
    : ProgressLine(std::move(command), stderr, isatty(STDERR_FILENO) != 0,
                   std::chrono::milliseconds(isatty(STDERR_FILENO) != 0 ? 200 : 5000)) {}

ProgressLine::ProgressLine(std::string command, std::FILE* out, bool terminal,
                           std::chrono::milliseconds every)
    : command_(std::move(command)), out_(out), terminal_(terminal), every_(every) {}

void ProgressLine::show(const std::function<std::string()>& sentence) {
    const auto now = Clock::now();
    if (now - shown_ < every_) return;
    shown_ = now;
    fmt::print(out_, "{}{}: {}{}", terminal_ ? "\r" : "", command_, sentence(),
               terminal_ ? "\033[K" : "\n");
    std::fflush(out_);
    in_line_ = terminal_;
}

void ProgressLine::show(std::size_t done, std::size_t all, const std::string& what) {
    if (done == all) return;
    show(
        [&] { return fmt::format("{} of {} {}; {} left", done, all, what, time_left(done, all)); });
}

std::string ProgressLine::time_left(std::size_t done, std::size_t all) const {
    if (done == 0) return "?";
    return format_seconds(static_cast<double>(all - done) * seconds() / static_cast<double>(done));
}

void ProgressLine::clear() {
    if (!in_line_) return;
    std::fputs("\r\033[K", out_);
    std::fflush(out_);
    in_line_ = false;
}

double ProgressLine::seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
}

}  // namespace sluice

#include "sim/answers/search/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/format.h"

namespace sluice {
namespace {

bool is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace

ProgressLine::ProgressLine(std::string command)
    : ProgressLine(
          std::move(command), stderr, is_terminal(),
          is_terminal() ? std::chrono::milliseconds(200) : std::chrono::milliseconds(5000)) {}

ProgressLine::ProgressLine(std::string command, std::FILE* out, bool terminal,
                           std::chrono::milliseconds every)
    : command_(std::move(command)), out_(out), terminal_(terminal), every_(every) {}

void ProgressLine::show(const SearchProgress& p) {
    const auto now = Clock::now();
    if (now - shown_ < every_) return;
    shown_ = now;
    const bool plans = p.planned < p.all;
    const std::size_t done = plans ? p.planned : p.settled;
    const double rate = static_cast<double>(done) / seconds();
    fmt::print(out_, "{}{}: {} of {} rows {}, {} simulated; {} a second, {} left{}",
               terminal_ ? "\r" : "", command_, format_thousands(static_cast<double>(done)),
               format_thousands(static_cast<double>(p.all)), plans ? "planned" : "settled",
               format_thousands(static_cast<double>(p.simulated)), format_thousands(rate),
               rate > 0 ? format_seconds(static_cast<double>(p.all - done) / rate) : "?",
               terminal_ ? "\033[K" : "\n");
    std::fflush(out_);
    in_line_ = terminal_;
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

#include "sim/cli/kept_on_interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "sim/base/format.h"

namespace sluice {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

/// The line up to now; a handler may run at any moment, so that it takes one of two whole texts.
struct Line {
    std::array<char, 4352> text{};
    std::size_t size = 0;
};
std::array<Line, 2> lines;
std::atomic<int> current = 0;
pid_t owner = 0;
std::string kept_in;

void set_line(const std::string& text) {
    const int next = 1 - current;
    Line& line = lines[static_cast<std::size_t>(next)];
    line.size = std::min(text.size(), line.text.size());
    std::memcpy(line.text.data(), text.data(), line.size);
    current = next;
}

/// Only what may be called in a handler.
void say_and_end(int signal) {
    if (getpid() == owner) {
        const Line& line = lines[static_cast<std::size_t>(current.load())];
        (void)!write(STDERR_FILENO, line.text.data(), line.size);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

std::string start_of_line() { return isatty(STDERR_FILENO) != 0 ? "\r\033[K" : ""; }

}  // namespace

KeptOnInterrupt::KeptOnInterrupt(const std::string& file) {
    owner = getpid();
    kept_in = file;
    keeps(0);
    for (const int signal : kSignals)
        if (std::signal(signal, say_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
}

KeptOnInterrupt::~KeptOnInterrupt() {
    for (const int signal : kSignals)
        if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

void KeptOnInterrupt::keeps(std::size_t rows) {
    if (kept_in.empty())
        set_line(start_of_line() + "sweep: interrupted; nothing is kept, as --out names no file\n");
    else
        set_line(fmt::format(
            "{}sweep: interrupted; {} kept in {}; the same command continues from there\n",
            start_of_line(),
            format_number_of(static_cast<std::int64_t>(rows), "simulated row") +
                (rows == 1 ? " is" : " are"),
            kept_in));
}

}  // namespace sluice

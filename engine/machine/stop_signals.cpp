#include "engine/machine/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace sluice {
namespace {

std::string_view announcement;
std::atomic<int> requested{0};

extern "C" void request_stop(int signal) {
    requested = signal;
    std::signal(signal, SIG_DFL);  // a second one ends the program at once
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, announcement.data(), announcement.size());
}

}  // namespace

void stop_on_signals(std::string_view text) {
    announcement = text;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, request_stop);
}

bool stop_requested() { return requested != 0; }

int stop_signal() { return requested; }

}  // namespace sluice

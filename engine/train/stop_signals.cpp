#include "engine/train/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace sluice {
namespace {

std::atomic<bool> requested{false};

extern "C" void request_stop(int signal) {
    requested = true;
    std::signal(signal, SIG_DFL);  // a second one ends the program at once
    constexpr std::string_view kText =
        "stopping after this step; a second signal stops at once, without saving\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
}

}  // namespace

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, request_stop);
    std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: no reason to stop
}

bool stop_requested() { return requested; }

}  // namespace sluice

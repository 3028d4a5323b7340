#include "engine/machine/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>

namespace sluice {
namespace {

std::string_view announcement;
std::atomic<int> requested{0};
std::atomic<bool> save_requested{false};
std::atomic<Seconds> requested_at{0};

/// A handler of signals may call it.
Seconds now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

extern "C" void request_save(int /*signal*/) { save_requested = true; }

extern "C" void request_stop(int signal) {
    requested_at = now();
    requested = signal;
    // A second one, of any kind, ends the program at once.
    for (const int one : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(one)) std::signal(one, SIG_DFL);
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, announcement.data(), announcement.size());
}

}  // namespace

void stop_on_signals(std::string_view text) {
    announcement = text;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, request_stop);
    if (!is_ignored(SIGHUP)) std::signal(SIGHUP, request_stop);
}

bool stop_requested() { return requested != 0; }

Seconds since_stop_signal() { return stop_requested() ? now() - requested_at : 0; }

int stop_signal() { return requested; }

void save_on_signal() { std::signal(SIGUSR1, request_save); }

bool take_save_request() { return save_requested.exchange(false); }

}  // namespace sluice

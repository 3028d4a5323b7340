#include "engine/machine/bus_errors.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr std::string_view kFile =
    "sluice-train: a file became shorter while it was read, or its disk failed; restore it and "
    "start again\n";
constexpr std::string_view kMemory =
    "sluice-train: the host's memory has an error that cannot be corrected; give --resume on "
    "another machine\n";

extern "C" void end_with_words(int, siginfo_t* info, void*) {
    const bool memory = info->si_code == BUS_MCEERR_AR || info->si_code == BUS_MCEERR_AO;
    if (!memory && info->si_code != BUS_ADRERR) {  // not of a page: an unaligned access, kill -BUS
        signal(SIGBUS, SIG_DFL);
        raise(SIGBUS);
        return;
    }
    const std::string_view words = memory ? kMemory : kFile;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
    _exit(memory ? kMachineFailed : kUserMistake);
}

}  // namespace

void explain_bus_errors() {
    struct sigaction action {};
    action.sa_sigaction = end_with_words;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
}

}  // namespace sluice

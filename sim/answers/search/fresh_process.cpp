#include "sim/answers/search/fresh_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "sim/simulate/platform.h"

namespace sluice {
namespace {

constexpr int kBetweenCalls = 500;  ///< milliseconds

[[noreturn]] void answer(int file, const std::function<std::string()>& work) {
    std::string text;
    int status = 0;
    try {
        text = work();
    } catch (const std::exception& error) {
        text = error.what();
        status = 1;
    }
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = write(file, text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR) _exit(2);
        if (written > 0) done += static_cast<std::size_t>(written);
    }
    _exit(status);
}

}  // namespace

std::string in_fresh_process(const std::function<std::string()>& work,
                             const std::function<void()>& waiting) {
    Platform::instance();  // SimGrid's engine, made once and copied
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a simulation; too many open files?");
    std::fflush(nullptr);  // or the copy prints it again
    const pid_t process = fork();
    if (process < 0) throw std::runtime_error("no process for a simulation");
    if (process == 0) {
        close(ends[0]);
        answer(ends[1], work);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    while (true) {
        pollfd file = {ends[0], POLLIN, 0};
        if (waiting && poll(&file, 1, kBetweenCalls) == 0) {
            waiting();
            continue;
        }
        const ssize_t got = read(ends[0], buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        throw std::runtime_error("a simulation's process ended; out of memory?");
    if (WEXITSTATUS(status) == 1) throw std::runtime_error(text);
    return text;
}

}  // namespace sluice

#include "engine/machine/bus_errors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/catch.h"

using namespace sluice;

namespace {

struct Ending {
    int status = -1;
    std::string words;
};

/// The ending of a process that does this to itself.
template <typename Function>
Ending ending_of(Function function) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t process = ::fork();
    if (process == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        explain_bus_errors();
        function();
        ::_exit(0);
    }
    REQUIRE(process > 0);
    ::close(ends[1]);
    Ending ending;
    char words[300];
    for (ssize_t count; (count = ::read(ends[0], words, sizeof words)) > 0;)
        ending.words.append(words, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(process, &status, 0);
    ending.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ending;
}

}  // namespace

TEST_CASE("bus errors: a file that becomes shorter while it is mapped is told", "[machine]") {
    const Ending ending = ending_of([] {
        char name[] = "/tmp/sluice-bus-XXXXXX";
        const int file = ::mkstemp(name);
        ::unlink(name);
        if (::ftruncate(file, 8192) != 0) return;
        void* const mapped = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED || ::ftruncate(file, 0) != 0) return;
        [[maybe_unused]] const char byte = *static_cast<volatile char*>(mapped);
    });
    CHECK(ending.status == 2);
    CHECK_THAT(ending.words, ContainsSubstring("a file became shorter while it was read"));
}

TEST_CASE("bus errors: memory with an error is the machine's fault", "[machine]") {
    const Ending ending = ending_of([] {
        siginfo_t error{};
        error.si_signo = SIGBUS;
        error.si_code = BUS_MCEERR_AR;
        // As the kernel sends it; a process may do so to itself.
        ::syscall(SYS_rt_sigqueueinfo, ::getpid(), SIGBUS, &error);
    });
    CHECK(ending.status == 3);
    CHECK_THAT(ending.words, ContainsSubstring("the host's memory has an error"));
}

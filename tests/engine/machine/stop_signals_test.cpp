#include "engine/machine/stop_signals.h"

#include <csignal>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("stop signals: an ignored SIGHUP stays so, SIGUSR1 saves, SIGTERM stops", "[machine]") {
    std::signal(SIGHUP, SIG_IGN);  // as nohup does
    stop_on_signals("");
    save_on_signal();
    std::raise(SIGHUP);
    CHECK_FALSE(stop_requested());
    CHECK_FALSE(take_save_request());
    std::raise(SIGUSR1);
    CHECK(take_save_request());
    CHECK_FALSE(take_save_request());
    CHECK_FALSE(stop_requested());
    std::raise(SIGTERM);
    CHECK(stop_requested());
    CHECK(stop_signal() == SIGTERM);
    std::raise(SIGHUP);  // a second signal would end the program, if it were not ignored
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, SIG_DFL);
}

// Waits as the program does: while events are handled.
#pragma once

#include <QCoreApplication>
#include <QTimer>
#include <cstdio>
#include <functional>

#include "tests/catch.h"

namespace sluice::test {

/// Handles events until `done`, however long that takes: a test that waits for what never comes is
/// ended by ctest, and this says which. True, for REQUIRE.
inline bool wait_until(const std::function<bool()>& done) {
    // The awaited result may come without an event: a file, or another thread's result.
    QTimer look, complain;
    look.start(10);
    QObject::connect(&complain, &QTimer::timeout, [] {
        std::fprintf(stderr, "waits for minutes: %s\n",
                     Catch::getResultCapture().getCurrentTestName().c_str());
    });
    complain.start(120'000);
    while (!done()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    return true;
}

}  // namespace sluice::test

// Waits as the program does: while events are handled.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <functional>

namespace sluice::test {

/// Events until `done`; false after two minutes.
inline bool wait_until(const std::function<bool()>& done) {
    QElapsedTimer timer;
    timer.start();
    while (!done() && timer.elapsed() < 120'000)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    return done();
}

}  // namespace sluice::test

// How long does a window not respond? A timer ticks every 5 ms; if it is late, the window was
// blocked.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <ctime>

namespace sluice {

class Stillness {
  public:
    Stillness() {
        timer_.setTimerType(Qt::PreciseTimer);
        QObject::connect(&timer_, &QTimer::timeout, [this] { tick(); });
        timer_.start(5);
        reset();
    }
    void reset() {
        since_.start();
        busy_since_ = busy_ms();
        longest_ms = longest_busy_ms = 0;
    }
    /// Processes events until `done`; false after two minutes.
    template <typename Done>
    bool run_until(Done done) {
        QElapsedTimer all;
        all.start();
        while (!done() && all.elapsed() < 120'000)
            QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        return done();
    }
    /// Until requested painting is done.
    void paint() {
        for (int i = 0; i < 3; ++i) {
            const int before = ticks_;
            run_until([&] { return ticks_ > before; });
        }
    }

    double longest_ms = 0;       ///< between two ticks
    double longest_busy_ms = 0;  ///< processor time of this thread between two ticks

  private:
    /// Without the time of other programs on the machine.
    static double busy_ms() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
    }
    void tick() {
        ++ticks_;
        longest_ms = std::max(longest_ms, static_cast<double>(since_.nsecsElapsed()) / 1e6);
        longest_busy_ms = std::max(longest_busy_ms, busy_ms() - busy_since_);
        since_.start();
        busy_since_ = busy_ms();
    }

    QTimer timer_;
    QElapsedTimer since_;
    double busy_since_ = 0;
    int ticks_ = 0;
};

}  // namespace sluice

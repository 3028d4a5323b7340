// How far is a command that takes longer than a user waits in silence?
#pragma once

#include <fmt/format.h>

#include <utility>

#include "sim/answers/search/search.h"
#include "sim/base/format.h"
#include "sim/command_line/progress_line.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {

/// "sweep: 10 of 40 rows settled, 2 simulated; ..."
inline void show(ProgressLine& line, const SearchProgress& p) {
    if (p.settled == p.all) return;
    line.show([&] {
        const bool plans = p.planned < p.all;
        const std::size_t done = plans ? p.planned : p.settled;
        const auto count = [](double number) { return format_thousands(number); };
        return fmt::format("{} of {} rows {}, {} simulated; {} a second, {} left",
                           count(static_cast<double>(done)), count(static_cast<double>(p.all)),
                           plans ? "planned" : "settled", count(static_cast<double>(p.simulated)),
                           count(static_cast<double>(done) / line.seconds()),
                           line.time_left(done, p.all));
    });
}

/// "predict: 312 plans and steps tried, 4.1 s", for a question of unknown length.
inline void show(ProgressLine& line, std::size_t tried) {
    constexpr double kPatience = 2;
    if (line.seconds() < kPatience) return;
    line.show([&] {
        return fmt::format("{} plans and steps tried, {}",
                           format_thousands(static_cast<double>(tried)),
                           format_seconds(line.seconds()));
    });
}

/// Returns what `work` does. From the third second on a terminal shows that it goes on. Elsewhere
/// nothing is written: what a program prints must not depend on how fast it is.
template <typename Work>
auto with_progress(const char* command, Work work) {
    ProgressLine line(command);
    if (!line.terminal()) return work();
    const WorkWatch watch([&line](std::size_t tried) { show(line, tried); });
    return work();
}

}  // namespace sluice

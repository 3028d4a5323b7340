#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "calibrate/fit/contention_fit.h"
#include "sim/base/input_error.h"

namespace sluice {

LoadWindows::LoadWindows(const CaseTable& table) : table_(table) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) windows_.push_back(read_row(row));
}

void LoadWindows::wrong(std::size_t row, const std::string& what) const {
    throw InputError(
        fmt::format("table {}, row {}: {}; measure it again: sluice-calibrate --only "
                    "mixed_load",
                    table_.name, row, what));
}

LoadWindow LoadWindows::read_row(std::size_t row) const {
    LoadWindow window{row, table_.at(row, "state_bytes"), table_.at(row, "threads"), {}, {}, false,
                      0};
    window.runs = {table_.at(row, "compute") != 0, table_.at(row, "in") != 0,
                   table_.at(row, "out") != 0, window.threads != 0};
    window.held_out = table_.at(row, "held_out") != 0;
    if (table_.has(kCalibrationColumn)) window.calibration = table_.at(row, kCalibrationColumn);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (!window.runs[lane]) continue;
        window.rate[lane] = table_.at(row, kRates[lane]);
        if (!std::isfinite(window.rate[lane]) || window.rate[lane] <= 0)
            wrong(row, fmt::format("{} is {}, expected > 0", kRates[lane], window.rate[lane]));
    }
    for (const char* column : {"threads", "state_bytes"}) {
        const double value = table_.at(row, column);
        if (window.runs[kWork] && (!std::isfinite(value) || value <= 0))
            wrong(row, fmt::format("{} is {}, expected > 0", column, value));
    }
    return window;
}

std::optional<double> LoadWindows::nearest_alone(const LoadWindow& window, std::size_t lane,
                                                 bool held_out) const {
    const auto distance = [&](const LoadWindow& other) {
        return other.row > window.row ? other.row - window.row : window.row - other.row;
    };
    const LoadWindow* nearest = nullptr;
    for (const LoadWindow& other : windows_) {
        if (!other.runs[lane] || other.lanes() != 1 || other.held_out != held_out) continue;
        // At the boundary of two calibrations, the other's row may be nearer.
        if (other.calibration != window.calibration) continue;
        if (lane == kWork &&
            (other.threads != window.threads || other.state_bytes != window.state_bytes))
            continue;
        if (nearest == nullptr || distance(other) < distance(*nearest)) nearest = &other;
    }
    if (nearest == nullptr) return std::nullopt;
    return nearest->rate[lane];
}

double LoadWindows::alone(const LoadWindow& window, std::size_t lane) const {
    if (const auto rate = nearest_alone(window, lane, false)) return *rate;
    wrong(window.row,
          fmt::format("{} is given with other lanes, but no row has it alone (held_out 0{})",
                      kRates[lane], lane == kWork ? ", same threads and state_bytes" : ""));
}

double LoadWindows::alone_adam_by_threads(const LoadWindow& window) const {
    std::map<double, std::pair<double, int>> by_threads;  // sum of rates and their count
    for (const LoadWindow& other : windows_) {
        if (other.held_out || !other.runs[kWork] || other.lanes() != 1 ||
            other.state_bytes != window.state_bytes)
            continue;
        auto& [sum, count] = by_threads[other.threads];
        sum += other.rate[kWork];
        ++count;
    }
    if (by_threads.empty()) {
        if (const auto rate = nearest_alone(window, kWork, true)) return *rate;
        return alone(window, kWork);
    }
    const auto mean = [](const auto& entry) { return entry->second.first / entry->second.second; };
    const auto above = by_threads.lower_bound(window.threads);
    if (above == by_threads.end()) return mean(std::prev(above));
    if (above == by_threads.begin() || above->first == window.threads) return mean(above);
    const auto below = std::prev(above);
    const double share = (window.threads - below->first) / (above->first - below->first);
    return mean(below) + share * (mean(above) - mean(below));
}

}  // namespace sluice

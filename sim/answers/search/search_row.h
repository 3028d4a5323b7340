// What does a search know of one scenario?
#pragma once

#include <cstddef>
#include <string>

#include "sim/base/units.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

enum class RowState : std::uint8_t {
    excluded,   ///< model, machine and settings do not go together: `reason`
    too_large,  ///< planned; does not fit
    bounded,    ///< fits; a bound shows that it is not the best of its group, or not yet simulated
    simulated,  ///< the step is what sluice predict says
};
const char* row_state_name(RowState state);

struct SearchRow {
    std::size_t index = 0;  ///< in the grid
    RowState state = RowState::excluded;
    std::string reason;  ///< only excluded: the rule that is broken
    // Planned, all but excluded.
    Bytes device_peak = 0, host_peak = 0, storage_peak = 0;
    Bytes device_short = 0, host_short = 0, storage_short = 0;
    // Fits.
    Seconds at_least = 0;  ///< no step is faster; see step_bounds.h
    // Simulated.
    Seconds step = 0;
    Seconds step_low = 0, step_high = 0;  ///< 5 and 95%; 0 where the band was not asked for
    std::string bottleneck;

    bool fits() const { return state == RowState::bounded || state == RowState::simulated; }
    bool has_band() const { return step_high > 0; }
    double tokens_per_s(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / step;
    }
    double tokens_per_s_at_most(const TrainingSpec& training) const {
        return static_cast<double>(training.tokens()) / at_least;
    }
};

/// As bytes, between the processes of a search.
void put_row(std::string& out, const SearchRow& row);
/// Takes a row from the front. Throws InternalError where the bytes are none.
SearchRow take_row(std::string_view& in);

/// Of plain numbers, as they are in memory: both ends are the same program.
void put_number(std::string& out, std::uint64_t number);
std::uint64_t take_number(std::string_view& in);

}  // namespace sluice

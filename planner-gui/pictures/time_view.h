// Which stretch of time does a picture show, and where? Zoom and pan as values.
#pragma once

#include <algorithm>

#include "sim/base/units.h"

namespace sluice {

/// `begin` is at x = left, `end` at left + width. Precondition of all mappings: end > begin, width
/// > 0.
struct TimeView {
    Seconds begin = 0, end = 1;
    double left = 0, width = 1;  ///< pixels

    Seconds length() const { return end - begin; }
    double time_to_x(Seconds time) const { return left + (time - begin) / length() * width; }
    Seconds x_to_time(double x) const { return begin + (x - left) / width * length(); }
    Seconds seconds_of(double pixels) const { return pixels / width * length(); }

    /// `factor` > 1 zooms in. The time at `x` stays in place, unless an end of [0, whole] or the
    /// shortest stretch is reached.
    TimeView zoomed(double factor, double x, Seconds whole) const {
        const Seconds new_length = std::clamp(length() / factor, shortest(whole), whole);
        const Seconds fixed = x_to_time(x);
        const Seconds from = fixed - (fixed - begin) * new_length / length();
        return within(from, from + new_length, whole);
    }
    /// Moves the view by `pixels` to the right; stops at the ends of [0, whole].
    TimeView panned(double pixels, Seconds whole) const {
        return within(begin + seconds_of(pixels), end + seconds_of(pixels), whole);
    }
    /// Shows [from, until] with a margin of a tenth on both sides, within [0, whole].
    TimeView around(Seconds from, Seconds until, Seconds whole) const {
        const Seconds margin = (until - from) / 10;
        return within(from - margin, until + margin, whole);
    }
    /// Pans as little as necessary to show [from, until]; shows its start if it is too long.
    TimeView revealing(Seconds from, Seconds until, Seconds whole) const {
        Seconds by = until > end ? until - end : 0;
        if (from < begin + by) by = from - begin;
        return within(begin + by, end + by, whole);
    }
    TimeView showing_all(Seconds whole) const { return {0, whole, left, width}; }
    /// The same stretch at another place.
    TimeView at(double new_left, double new_width) const {
        return {begin, end, new_left, new_width};
    }

  private:
    /// A millionth of the whole, but at least 100 ns.
    static Seconds shortest(Seconds whole) { return std::min(whole, std::max(1e-7, whole / 1e6)); }
    TimeView within(Seconds from, Seconds until, Seconds whole) const {
        const Seconds shown = std::clamp(until - from, shortest(whole), whole);
        const Seconds start = std::clamp(from, 0.0, whole - shown);
        return {start, start + shown, left, width};
    }
};

}  // namespace sluice

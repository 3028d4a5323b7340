// Which stretch of time does a picture show across which pixels? Zoom and pan as values.
#pragma once

#include "sim/base/units.h"

namespace sluice {

/// `begin` is at x = left, `end` at left + width. Precondition of all that maps: end > begin, width
/// > 0.
struct TimeView {
    Seconds begin = 0, end = 1;
    double left = 0, width = 1;  ///< pixels

    Seconds length() const { return end - begin; }
    double time_to_x(Seconds time) const { return left + (time - begin) / length() * width; }
    Seconds x_to_time(double x) const { return begin + (x - left) / width * length(); }
    Seconds seconds_of(double pixels) const { return pixels / width * length(); }

    /// `factor` > 1 shows less time, larger. What is at `x` stays there, unless an end of [0,
    /// whole] or the shortest stretch (a millionth of the whole, but no less than 100 ns) is
    /// reached.
    TimeView zoomed(double factor, double x, Seconds whole) const;
    /// Shows what lies `pixels` further right; stops at the ends of [0, whole].
    TimeView panned(double pixels, Seconds whole) const;
    /// Shows [from, until] with a margin of a tenth on both sides, as far as [0, whole] allows.
    TimeView around(Seconds from, Seconds until, Seconds whole) const;
    /// Pans as little as is needed for [from, until] to be seen; its start, where it is too long.
    TimeView revealing(Seconds from, Seconds until, Seconds whole) const;
    TimeView showing_all(Seconds whole) const { return {0, whole, left, width}; }
    /// The same stretch in another place.
    TimeView at(double new_left, double new_width) const {
        return {begin, end, new_left, new_width};
    }
};

}  // namespace sluice

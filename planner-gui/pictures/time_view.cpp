#include "planner-gui/pictures/time_view.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kMostZoom = 1e6;
constexpr Seconds kShortest = 1e-7;

TimeView within(TimeView view, Seconds whole) {
    const Seconds shortest = std::min(whole, std::max(kShortest, whole / kMostZoom));
    const Seconds length = std::clamp(view.length(), shortest, whole);
    view.begin = std::clamp(view.begin, 0.0, whole - length);
    view.end = view.begin + length;
    return view;
}

}  // namespace

TimeView TimeView::zoomed(double factor, double x, Seconds whole) const {
    const Seconds shortest = std::min(whole, std::max(kShortest, whole / kMostZoom));
    const Seconds new_length = std::clamp(length() / factor, shortest, whole);
    const Seconds fixed = x_to_time(x);
    const Seconds new_begin = fixed - (fixed - begin) * new_length / length();
    return within({new_begin, new_begin + new_length, left, width}, whole);
}

TimeView TimeView::panned(double pixels, Seconds whole) const {
    const Seconds by = seconds_of(pixels);
    return within({begin + by, end + by, left, width}, whole);
}

TimeView TimeView::around(Seconds from, Seconds until, Seconds whole) const {
    const Seconds margin = (until - from) / 10;
    return within({from - margin, until + margin, left, width}, whole);
}

TimeView TimeView::revealing(Seconds from, Seconds until, Seconds whole) const {
    Seconds by = 0;
    if (until > end) by = until - end;
    if (from < begin + by) by = from - begin;
    return within({begin + by, end + by, left, width}, whole);
}

}  // namespace sluice

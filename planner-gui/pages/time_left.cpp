#include "planner-gui/pages/time_left.h"

#include <QObject>
#include <algorithm>
#include <cmath>

namespace sluice {

QString time_left(double elapsed_s, int done, int all) {
    constexpr double kMinute = 60, kSmooth = 5;  // seconds; smaller steps would flicker
    constexpr int kLeastShare = 10;
    if (done >= all || kLeastShare * done < all) return {};
    const double left = elapsed_s / done * (all - done);
    return left < 1.5 * kMinute ? QObject::tr("about %1 s left")
                                      .arg(std::max(1.0, std::ceil(left / kSmooth)) * kSmooth)
                                : QObject::tr("about %1 min left").arg(std::ceil(left / kMinute));
}

}  // namespace sluice

// Which step is expected at the rates that a host has today?
#pragma once

#include <string>

#include "sim/base/units.h"
#include "sim/plan/host_rates.h"
#include "sim/specs/machine/curves.h"

namespace sluice {

/// A prediction at the rates of its profile, and at others.
struct ExpectedRates {
    Seconds step = 0;
    HostRates profile;
    Interpolated by_optimizer, by_link;  ///< seconds of a step by the factor on these rates
};

/// Adds what the slower or faster optimizer and link each change. The slower direction of the link
/// counts.
Seconds step_at(const ExpectedRates& expected, const HostRates& today);

/// "AdamW: 5.30 Gparam/s in the profile, 4.40 today; ... \nexpected: 2.31 s a step, 2.52 s at
/// today's rates".
std::string rates_text(const ExpectedRates& expected, const HostRates& today);

}  // namespace sluice

#include "engine/train/expected_rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"

namespace sluice {

Seconds step_at(const ExpectedRates& expected, const HostRates& today) {
    const HostRates& profile = expected.profile;
    const double link = std::min(today.host_to_device / profile.host_to_device,
                                 today.device_to_host / profile.device_to_host);
    return expected.by_optimizer.at(today.adam / profile.adam) + expected.by_link.at(link) -
           expected.step;
}

std::string rates_text(const ExpectedRates& expected, const HostRates& today) {
    const HostRates& profile = expected.profile;
    return fmt::format(
        "AdamW: {:.2f} Gparam/s in the profile, {:.2f} today\n"
        "copies: {:.1f} GB/s to the device and {:.1f} to the host in the profile, {:.1f} and "
        "{:.1f} today\n"
        "expected: {} a step, {} at today's rates",
        profile.adam / kGiga, today.adam / kGiga, profile.host_to_device / kGiga,
        profile.device_to_host / kGiga, today.host_to_device / kGiga, today.device_to_host / kGiga,
        format_seconds(expected.step), format_seconds(step_at(expected, today)));
}

}  // namespace sluice

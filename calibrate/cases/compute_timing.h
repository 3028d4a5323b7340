// How long does a call of the compute lane take, when calls follow one another as in training?
#pragma once

#include <cstdint>
#include <functional>

#include "calibrate/measurement/statistics.h"
#include "engine/device/device.h"

namespace sluice {

/// One measurement of something that the compute lane does.
struct Timing {
    Seconds warm_up = 0.03;  ///< at least, and at least two calls
    Seconds group = 0.008;   ///< calls are timed in groups of at least so long
    int groups = 7;          ///< fewer, but 3 or more, where calls are longer than 2.5 groups
    /// Enqueues work on the compute lane before each group, which is not timed; may be empty. It
    /// puts the host, which takes longer to enqueue a short call than a GPU to do it, ahead; keeps
    /// the clock where training has it; restores what calls change in place.
    std::function<void()> before_group = {};
};

/// How calls of so many seconds are grouped.
struct CallGroups {
    std::int64_t warm_up_calls = 0;
    std::int64_t calls = 1;  ///< in a group
    int groups = 1;
};
CallGroups group_calls(const Timing& timing, Seconds seconds_a_call);

/// Seconds of one call of `enqueue(call)`, call = 0, 1, 2, ... (so that it can take other memory
/// each time), which enqueues work on the compute lane of the device. Groups are enqueued one after
/// another without waiting and timed by events. Takes the device's events from 0 on.
Sample time_on_compute_lane(Device& device, const Timing& timing,
                            const std::function<void(std::int64_t)>& enqueue);

}  // namespace sluice

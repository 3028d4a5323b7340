// Which kinds of memory do device and host hold, how much is available, and how does memory change
// over a step? Stacks and curves as plain values.
#pragma once

#include <string>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/plan/memory_timeline.h"
#include "sim/report/picture.h"
#include "sim/report/table.h"

namespace sluice {

/// Bytes of one kind in a stack: from `from` to from + bytes.
struct MemorySegment {
    std::string name;
    Paint colour;
    Bytes from = 0, bytes = 0;
};

/// One memory: the parts of its peak, and the available size.
struct MemoryStack {
    std::string name;  ///< "device", "host", "storage", "device and host" (unified)
    std::vector<MemorySegment> segments;
    Bytes used = 0;    ///< the peak
    Bytes usable = 0;  ///< available to the plan; 0: not known
    Bytes capacity =
        0;  ///< with memory that the plan cannot use (CUDA context, system, beyond a budget)
    Bytes shortage() const { return usable > 0 && used > usable ? used - usable : 0; }
    /// "24.8 GB of 149.9 GB" or "151.2 GB of 139.8 GB, short 11.4 GB".
    std::string words(ByteUnits units) const;
};

/// The segments of a stack are the kinds of memory, or the buffers by what they hold ("weight
/// slots"), which say where each part of the training lives.
enum class Segments : std::uint8_t { kinds, homes };

/// Device and host (one stack for unified memory), and storage if the plan uses it.
std::vector<MemoryStack> memory_stacks(const TimedPlan& report, Segments by = Segments::kinds);

/// Host memory at the moments of a run: loading, first step, steady, saving, between steps.
std::vector<HostMoment> host_bars(const TimedPlan& report);

/// Device memory over a step; empty if there are no times.
std::vector<MemoryMoment> device_over_step(const TimedPlan& report);

/// Memory over a step for a plot of some hundred columns. Each column has its moment of most bytes,
/// so that no peak is lost. Precondition: columns > 0, moments of a step of `step` seconds.
std::vector<MemoryMoment> curve_columns(const std::vector<MemoryMoment>& moments, Seconds step,
                                        int columns);

/// The moment at `time`.
const MemoryMoment& moment_at(const std::vector<MemoryMoment>& moments, Seconds time);

/// The stacks with a table of their kinds, device memory over a step, host memory from loading to
/// saving. Keys select hundredths of the step. Fills the space.
Picture memory_picture(const TimedPlan& report, ByteUnits units, const PictureSpace& space);

/// Each memory at its peak by kind, then host moments, then device memory over time.
Table memory_table(const TimedPlan& report);

}  // namespace sluice

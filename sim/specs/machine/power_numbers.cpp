// The rows of `power`, and how they describe the clock together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

/// Throws InputError if the numbers of the clock contradict each other.
void check_clock(const SpecReader& reader) {
    const auto number = [&](const char* path) { return *reader.profile().number(path); };
    constexpr const char* kWhatToDo =
        "correct it, or measure again: sluice-calibrate --only clock,power";
    if (const double share = number("kernels.rested_time_share"); share > 1) {
        throw InputError(
            fmt::format("{}: kernels.rested_time_share is {:g}, expected at most 1, since the "
                        "highest clock is not slower than the one at the power limit; {}",
                        reader.profile().file, share, kWhatToDo));
    }
    constexpr std::pair<const char*, const char*> kAscending[] = {
        {"power.idle_w", "power.memory_w"},
        {"power.idle_w", "power.attention_w"},
        {"power.idle_w", "power.gemm_w"},
        {"power.gemm_w", "power.gemm_rested_w"}};
    for (const auto& [less, more] : kAscending) {
        if (number(less) < number(more)) continue;
        throw InputError(fmt::format("{}: {} is {:g}, expected more than {}, which is {:g}; {}",
                                     reader.profile().file, more, number(more), less, number(less),
                                     kWhatToDo));
    }
}

/// Bytes of the product whose power is calibrated, 8,192 rows and columns: three bf16 matrices.
constexpr double kCalibratedBytesPerFlop = 3.0 / 8192;

constexpr MachineNumber number_of_clock(std::string_view path, const char* measured_by,
                                        Transfer transfer, const char* replaced_by = nullptr) {
    return row(path, Trust::measured, MeasuredBy{measured_by}, ReplacedBy{replaced_by}, transfer);
}

// The power at the highest clock belongs to the times that were measured at that clock.
constexpr const char* kProductTimes = "kernels.gemm_forward";
constexpr std::array kPowerRows = {
    number_of_clock("power.headroom_j", "clock", Transfer::watts, kProductTimes),
    number_of_clock("power.idle_w", "power", Transfer::watts),
    number_of_clock("power.gemm_w", "power", Transfer::watts),
    number_of_clock("power.gemm_rested_w", "clock", Transfer::watts, kProductTimes),
    number_of_clock("power.gemm_rested_joules_per_tflop", "clock", Transfer::joules_of_products,
                    kProductTimes),
    number_of_clock("power.attention_w", "power", Transfer::watts),
    number_of_clock("power.attention_joules_per_tflop", "power", Transfer::joules_of_products),
    number_of_clock("power.memory_w", "power", Transfer::watts),
    number_of_clock("power.memory_joules_per_gb", "power", Transfer::joules_of_memory),
};
constexpr const char* kTimeShare = "kernels.rested_time_share";

}  // namespace

std::span<const MachineNumber> power_numbers() { return kPowerRows; }

ClockSpec resolve_clock(SpecReader& reader) {
    const auto knows = [&](const MachineNumber& row) { return reader.knows(row.path); };
    if (!reader.knows(kTimeShare) || !std::all_of(kPowerRows.begin(), kPowerRows.end(), knows))
        return {};
    check_clock(reader);
    const auto number = [&](const char* path) { return *reader.take(path); };
    ClockSpec clock;
    clock.headroom_j = number("power.headroom_j");
    clock.idle_w = number("power.idle_w");
    clock.limit_w = number("power.gemm_w");
    clock.time_share = number(kTimeShare);
    // The energy of work in addition to idle power.
    const auto beside_idling = [&](const char* joules, const char* watts) {
        return number(joules) * (1 - clock.idle_w / number(watts));
    };
    clock.energy_share = clock.limit_w / (number("power.gemm_rested_w") * clock.time_share);
    clock.joules_per_byte = beside_idling("power.memory_joules_per_gb", "power.memory_w") / kGiga;
    clock.joules_per_flop =
        beside_idling("power.gemm_rested_joules_per_tflop", "power.gemm_rested_w") / kTera -
        clock.joules_per_byte * kCalibratedBytesPerFlop;
    // Attention alone stays below the limit, so it was measured at the highest clock.
    clock.joules_per_flop_of_attention =
        beside_idling("power.attention_joules_per_tflop", "power.attention_w") / kTera;
    return clock;
}

}  // namespace sluice

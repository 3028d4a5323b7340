#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_number.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

constexpr double kMostGbPerS = 1e6;  // no link, memory or optimizer reaches 1 PB/s
constexpr double kMostCallUs = 1e5;
constexpr double kMostGparamPerS = 1e3;  // 26 TB/s of memory
// Copies that are too large for a processor's caches keep at least half of their rate.
constexpr double kLeastOfSmaller = 0.3;
constexpr double kMostThreads = 1e5;
// Measured shares exceed 1 by the noise of two measurements.
constexpr double kMostShare = 1.2;
constexpr double kNoise = 0.02;

/// The name of a curve in messages, and the case of sluice-calibrate that measures it.
struct Place {
    const std::string& where;
    const char* case_name;

    [[noreturn]] void refuse(const std::string& what) const {
        throw InputError(
            fmt::format("{}: {}; measure it again with: sluice-calibrate --only {} --out FILE",
                        where, what, case_name));
    }
    void require_columns(const Curve& curve, std::size_t columns) const {
        if (curve.points.front().size() != columns) {
            refuse(
                fmt::format("has {} columns, expected {}", curve.points.front().size(), columns));
        }
    }
};

void check_positive(const Curve& curve, const Place& place, double most_x, double most_y) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const auto& row = curve.points[i];
        if (i > 0 && row[0] == curve.points[i - 1][0])
            place.refuse(fmt::format("{:g} is given twice in the first column", row[0]));
        // x, value, and its range if there is one.
        if (row.size() == 4 && !(row[2] > 0 && row[2] <= row[1] && row[1] <= row[3]))
            place.refuse(
                fmt::format("{:g} at {:g} has the range {:g} to {:g}, expected low <= "
                            "value <= high",
                            row[1], row[0], row[2], row[3]));
        if (!(row[0] > 0 && row[0] <= most_x))
            place.refuse(fmt::format("{:g} : {:g}, expected the first from 0 to {:g}", row[0],
                                     row[1], most_x));
        if (!(row[1] > 0 && row[1] <= most_y))
            place.refuse(fmt::format("{:g} at {:g}, expected more than 0 and at most {:g}", row[1],
                                     row[0], most_y));
    }
}

/// Rates by size: copying more bytes takes no less time.
void check_rates_by_bytes(const Curve& curve, const Place& place) {
    check_positive(curve, place, 1e15, kMostGbPerS);
    double best = 0;
    for (const auto& row : curve.points) {
        if (row[1] < kLeastOfSmaller * best) {
            place.refuse(
                fmt::format("{:g} GB/s at {:g} bytes is less than {:g} of the {:g} GB/s of "
                            "fewer bytes",
                            row[1], row[0], kLeastOfSmaller, best));
        }
        best = std::max(best, row[1]);
    }
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
        const auto &before = curve.points[i - 1], &now = curve.points[i];
        const double us_before = before[0] / before[1] / 1e3, us_now = now[0] / now[1] / 1e3;
        if (us_now >= (1 - kNoise) * us_before) continue;
        place.refuse(
            fmt::format("{:g} bytes at {:g} GB/s take {:.4g} us, less than the {:.4g} us "
                        "of {:g} bytes",
                        now[0], now[1], us_now, us_before, before[0]));
    }
}

void check_contention_row(const std::vector<double>& row, const Place& place) {
    static constexpr std::array kNames = {"compute", "in", "out"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (row[i] != 0 && row[i] != 1)
            place.refuse(fmt::format("{} is {:g}, expected 0 or 1", kNames[i], row[i]));
    }
    if (!(row[3] >= 0 && row[3] <= kMostGbPerS))
        place.refuse(fmt::format("work_gb_per_s is {:g}, expected 0 to {:g}", row[3], kMostGbPerS));
    for (std::size_t i = 4; i < row.size(); ++i) {
        if (!(row[i] > 0 && row[i] <= kMostShare))
            place.refuse(fmt::format("a share is {:g}, expected more than 0 and at most {:g}",
                                     row[i], kMostShare));
    }
}

bool same_lanes(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.begin() + 3, b.begin());
}

/// With more host work, copies to the device and kernels have no larger shares. (Copies to the host
/// and the optimizer may: on the measured H200 they take what copies to the device lose.)
void check_falling_shares(const Curve& curve, const Place& place) {
    constexpr std::size_t kComputeShare = 4, kInShare = 5;
    for (const auto& more : curve.points) {
        for (const auto& less : curve.points) {
            if (&more == &less || !same_lanes(more, less) || more[3] < less[3]) continue;
            if (more[3] == less[3])
                place.refuse(
                    fmt::format("{:g} GB/s of work is given twice for the same lanes", more[3]));
            for (const std::size_t share : {kComputeShare, kInShare}) {
                if (more[share] <= less[share] + kNoise) continue;
                place.refuse(
                    fmt::format("{} rises from {:g} to {:g} while work rises from {:g} to "
                                "{:g} GB/s",
                                share == kInShare ? "in_share" : "compute_share", less[share],
                                more[share], less[3], more[3]));
            }
        }
    }
}

void check_contention(const Curve& curve, const Place& place) {
    place.require_columns(curve, 8);
    for (const auto& row : curve.points) check_contention_row(row, place);
    check_falling_shares(curve, place);
    // Rows that must exist: in, out, and both, each with and without host work.
    for (const std::array<double, 4>& lanes :
         {std::array{0., 1., 0., 1.}, {0., 0., 1., 1.}, {0., 1., 1., 1.}, {0., 1., 1., 0.}}) {
        const bool has =
            std::any_of(curve.points.begin(), curve.points.end(), [&](const auto& row) {
                return std::equal(lanes.begin(), lanes.begin() + 3, row.begin()) &&
                       (row[3] > 0) == (lanes[3] > 0);
            });
        if (!has)
            place.refuse(fmt::format("has no row with in {:g}, out {:g} and {} host work", lanes[1],
                                     lanes[2], lanes[3] > 0 ? "some" : "no"));
    }
}

}  // namespace

void check_curve(const Curve& curve, const std::string& where) {
    const MachineNumber* const row = number_at(curve.path);
    const Place place{where, row == nullptr ? nullptr : row->measured_by};
    switch (row == nullptr ? CurveShape::not_negative : row->shape) {
        case CurveShape::contention:
            return check_contention(curve, place);
        case CurveShape::rates_by_bytes:
            return check_rates_by_bytes(curve, place);
        case CurveShape::by_threads:
            return check_positive(curve, place, kMostThreads,
                                  row->is_time() ? kMostCallUs : kMostGparamPerS);
        case CurveShape::by_sequence:
            return check_positive(curve, place, 1e9, kMostGbPerS);
        case CurveShape::not_negative:
            break;
    }
    for (const auto& point : curve.points) {
        if (std::all_of(point.begin(), point.end(), [](double number) { return number >= 0; }))
            continue;
        throw InputError(fmt::format(
            "{} is [{:g}], expected no negative number; correct it or leave the curve out", where,
            fmt::join(point, ", ")));
    }
}

}  // namespace sluice

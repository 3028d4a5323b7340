#include "sim/answers/machines/machine_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

std::string range_text(const Quantity& q) {
    return q.low && q.high ? fmt::format("{:g} to {:g}", *q.low, *q.high) : "";
}

/// Calls `both` for paths in both lists, and notes the paths in one list only.
template <typename Entry, typename Both>
void match(const std::vector<Entry>& a, const std::vector<Entry>& b, MachineDiff& diff, Both both) {
    const auto find = [](const std::vector<Entry>& list, const std::string& path) {
        return std::find_if(list.begin(), list.end(),
                            [&](const Entry& entry) { return entry.path == path; });
    };
    for (const Entry& entry : a) {
        const auto other = find(b, entry.path);
        if (other == b.end())
            diff.only_a.push_back(entry.path);
        else
            both(entry, *other);
    }
    for (const Entry& entry : b)
        if (find(a, entry.path) == a.end()) diff.only_b.push_back(entry.path);
}

/// A number that is not known counts as missing.
std::vector<Quantity> known_numbers(const MachineProfile& profile) {
    std::vector<Quantity> known = profile.quantities;
    std::erase_if(known, [](const Quantity& q) { return !q.value; });
    return known;
}

void diff_numbers(const MachineProfile& a, const MachineProfile& b, MachineDiff& diff) {
    match(known_numbers(a), known_numbers(b), diff, [&](const Quantity& x, const Quantity& y) {
        if (*x.value == *y.value) {
            ++diff.equal;
            return;
        }
        NumberDiff number{x.path,       *x.value,      *y.value,     *y.value / *x.value - 1,
                          std::nullopt, range_text(x), range_text(y)};
        if (x.low && x.high && y.low && y.high)
            number.ranges_overlap = *x.low <= *y.high && *y.low <= *x.high;
        diff.numbers.push_back(std::move(number));
    });
    std::stable_sort(diff.numbers.begin(), diff.numbers.end(), [](const auto& x, const auto& y) {
        return std::abs(x.relative) > std::abs(y.relative);
    });
}

/// How many columns are the coordinates of a point, and how many the measured values after them.
struct CurveColumns {
    std::size_t keys = 1, values = 1;
};
CurveColumns columns_of(const Curve& curve) {
    if (curve.path.starts_with("host.contention")) return {4, 4};  // lanes and work; shares
    if (curve.path.starts_with("storage.")) return {2, 1};
    return {};
}

void compare_points(const std::vector<double>& x, const std::vector<double>& y,
                    const CurveColumns& columns, PointsDiff& diff) {
    const auto keys = static_cast<std::ptrdiff_t>(columns.keys);
    if (!std::equal(x.begin(), x.begin() + keys, y.begin())) return;
    const std::string at = fmt::format("{}", fmt::join(x.begin(), x.begin() + keys, ", "));
    ++diff.common;
    for (std::size_t i = columns.keys; i < columns.keys + columns.values; ++i)
        diff.add(x[i] == 0 ? 0 : y[i] / x[i] - 1, at);
}

/// Compares the entries of two profiles under one path: counts equal ones, keeps different ones.
void keep(PointsDiff points, std::vector<PointsDiff>& differing, MachineDiff& diff) {
    if (points.common > 0) points.mean /= points.common;
    if (points.common > 0 && points.largest == 0)
        ++diff.equal;
    else
        differing.push_back(std::move(points));
}

void diff_curves(const MachineProfile& a, const MachineProfile& b, MachineDiff& diff) {
    match(a.curves, b.curves, diff, [&](const Curve& x, const Curve& y) {
        CurveColumns columns = columns_of(x);
        const std::size_t width = std::min(x.points.front().size(), y.points.front().size());
        if (columns.keys + columns.values > width) columns = {};
        PointsDiff points;
        points.path = x.path;
        for (const auto& p : x.points)
            for (const auto& q : y.points) compare_points(p, q, columns, points);
        keep(std::move(points), diff.curves, diff);
    });
}

void diff_kernels(const MachineProfile& a, const MachineProfile& b, MachineDiff& diff) {
    match(a.kernels, b.kernels, diff, [&](const KernelEntry& x, const KernelEntry& y) {
        PointsDiff points;
        points.path = x.path;
        for (const KernelPoint& p : x.measured.points)
            for (const KernelPoint& q : y.measured.points) {
                if (p.row != q.row) continue;
                ++points.common;
                points.add(q.us / p.us - 1, fmt::format("{}", fmt::join(p.row, " x ")));
            }
        keep(std::move(points), diff.kernels, diff);
    });
}

struct Text {
    std::string path, text;
};
std::vector<Text> texts_of(const MachineProfile& profile) {
    std::vector<Text> texts;
    for (const auto& [path, text] : profile.texts) texts.push_back({path, text});
    for (const auto& [path, flag] : profile.flags) texts.push_back({path, flag ? "true" : "false"});
    return texts;
}

void diff_texts(const MachineProfile& a, const MachineProfile& b, MachineDiff& diff) {
    match(texts_of(a), texts_of(b), diff, [&](const Text& x, const Text& y) {
        if (x.text == y.text)
            ++diff.equal;
        else
            diff.texts.push_back({x.path, x.text, y.text});
    });
}

}  // namespace

void PointsDiff::add(double relative, const std::string& at) {
    mean += relative;
    if (std::abs(relative) <= std::abs(largest)) return;
    largest = relative;
    where = at;
}

MachineDiff diff_machines(const MachineProfile& a, const MachineProfile& b) {
    MachineDiff diff;
    diff.a = a.id == b.id ? a.file : a.id;
    diff.b = a.id == b.id ? b.file : b.id;
    diff_texts(a, b, diff);
    diff_numbers(a, b, diff);
    diff_curves(a, b, diff);
    diff_kernels(a, b, diff);
    return diff;
}

}  // namespace sluice

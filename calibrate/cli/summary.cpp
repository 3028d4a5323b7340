#include <fmt/format.h>

#include <algorithm>

#include "calibrate/cli/write_profile.h"
#include "calibrate/profile/make_profile.h"
#include "sim/report/table.h"
#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

std::string percent(double value) { return fmt::format("{:.1f}%", value); }

std::string numbers(const MachineProfile& profile, const std::string& source) {
    Table table{{{"", "measured"},
                 {"", "value", Unit::number},
                 {"", "5% to 95%", Unit::number},
                 {"", "spread", Unit::number}}};
    for (const Quantity& q : profile.quantities) {
        if (q.source != source || !q.value) continue;
        std::vector<Cell>& cells = table.rows.emplace_back().cells;
        const std::string unit = MachineNumber{.path = q.path}.unit();
        cells = {
            q.path, fmt::format("{:.4g}{}{}", *q.value, unit.empty() ? "" : " ", unit), {}, {}};
        if (!q.low || !q.high) continue;
        cells[2] = fmt::format("{:.4g} to {:.4g}", *q.low, *q.high);
        cells[3] = percent(100 * (*q.high - *q.low) / *q.value);
    }
    return to_text(table);
}

std::string curves(const MachineProfile& profile, const std::string& source) {
    Table table{{{"", "curves"}, {"", "points", Unit::whole}, {"", "from and to"}}};
    for (const Curve& curve : profile.curves) {
        if (curve.source != source) continue;
        // x, value and its range; others have several x.
        constexpr std::size_t kPlainColumns = 4;
        const auto &first = curve.points.front(), &last = curve.points.back();
        table.rows.push_back(
            {{curve.path, curve.points.size(),
              first.size() <= kPlainColumns
                  ? fmt::format("{:g}: {:.4g}, {:g}: {:.4g}", first[0], first[1], last[0], last[1])
                  : ""}});
    }
    return to_text(table);
}

const std::vector<Column> kErrorColumns = {{"", "held out", Unit::whole},
                                           {"", "mean", Unit::number},
                                           {"", "worst", Unit::number},
                                           {"", "5% to 95%", Unit::number}};

void add_error(const FitError& error, Row& row) {
    if (error.shapes == 0)
        row.cells.insert(row.cells.end(), {"none", "", "", ""});
    else
        row.cells.insert(
            row.cells.end(),
            {error.shapes, percent(error.mean_percent), percent(error.worst_percent),
             fmt::format("{:+.1f} to {:+.1f}%", error.low_percent, error.high_percent)});
}

std::string kernel_errors(const MachineFits& fits) {
    if (fits.kernels.empty()) return "";
    Table table{{{"", "kernel times"}, {"", "fitted", Unit::whole}}};
    table.columns.insert(table.columns.end(), kErrorColumns.begin(), kErrorColumns.end());
    table.columns.push_back({"", "leave one out", Unit::number});
    int shapes = 0;
    double sum = 0, worst = 0;
    std::string worst_shape;
    for (const auto& [id, fit] : fits.kernels) {
        Row& row = table.rows.emplace_back(Row{{kernel_table_name(id), fit.fitted.size()}});
        add_error(fit.held_out, row);
        row.cells.emplace_back(percent(fit.leave_one_out.mean_percent));
        shapes += fit.held_out.shapes;
        sum += fit.held_out.mean_percent * fit.held_out.shapes;
        if (fit.worst_shape.empty() || fit.held_out.worst_percent <= worst) continue;
        worst = fit.held_out.worst_percent;
        worst_shape = fmt::format("worst: {}, {}\n", kernel_table_name(id), fit.worst_shape);
    }
    std::string out = to_text(table);
    if (shapes > 0)
        out += fmt::format("all held out: {} shapes, mean error {:.1f}%, worst {:.1f}%\n", shapes,
                           sum / shapes, worst);
    return out + worst_shape + "\n";
}

constexpr std::pair<LoadLane, const char*> kLanesShown[] = {
    {kWork, "Adam"}, {kIn, "copies in"}, {kOut, "copies out"}, {kCompute, "compute"}};

std::string mixed_errors(const MachineFits& fits) {
    if (fits.contention.empty()) return "";
    Table table{{{"", "rates under mixed load"}}};
    table.columns.insert(table.columns.end(), kErrorColumns.begin(), kErrorColumns.end());
    std::string worst;
    for (const auto& [state_bytes, fit] : fits.contention) {
        for (const auto& [lane, name] : kLanesShown)
            if (fit.errors[lane].shapes > 0)
                add_error(fit.errors[lane], table.rows.emplace_back(Row{{fmt::format(
                                                "{}, {} bytes of state", name, state_bytes)}}));
        if (!fit.worst_window.empty()) worst += fmt::format("worst: {}\n", fit.worst_window);
    }
    return to_text(table) + worst + "\n";
}

std::string absent(const Measurements& measurements) {
    std::string out;
    const auto done = [&](const char* name) {
        return std::any_of(measurements.cases.begin(), measurements.cases.end(),
                           [&](const CaseRecord& record) { return record.name == name; });
    };
    for (const char* name : {"gpu_interconnect", "numa"})
        if (done(name) && measurements.find(name) == nullptr)
            out += fmt::format("{}: not present\n", name);
    return out;
}

/// With larger errors, a prediction is as uncertain as the differences that it should show.
constexpr double kMostMeanPercent = 3, kMostWorstPercent = 10, kMostMixedPercent = 7;
constexpr int kMostNoiseDoublings = 12;  ///< of the shapes concerned; then of all

std::string fit_warnings(const MachineFits& fits) {
    std::string out;
    const auto warn = [&out](const std::string& what, const FitError& error, double most_mean,
                             double most_worst) {
        if (error.mean_percent <= most_mean && error.worst_percent <= most_worst) return;
        out += fmt::format(
            "warning: {}: {:.1f}% off on average, {:.1f}% at worst, on held-out rows, expected "
            "{:g}% and {:g}% at most; measure again on an idle machine\n",
            what, error.mean_percent, error.worst_percent, most_mean, most_worst);
    };
    for (const auto& [id, fit] : fits.kernels) {
        warn(kernel_table_name(id), fit.held_out, kMostMeanPercent, kMostWorstPercent);
        if (fit.noise_doublings > kMostNoiseDoublings) {
            out += fmt::format(
                "warning: {}: larger shapes took less time than smaller ones, so the fit keeps "
                "only their trend; measure again on an idle machine\n",
                kernel_table_name(id));
        }
    }
    for (const auto& [state_bytes, fit] : fits.contention)
        for (const auto& [lane, name] : kLanesShown)
            warn(fmt::format("mixed load, {}, {} bytes of state", name, state_bytes),
                 fit.errors[lane], kMostMixedPercent, kMostMixedPercent);
    return out;
}

std::string warnings(const Measurements& measurements) {
    std::string out;
    for (const CaseRecord& record : measurements.cases)
        for (const std::string& warning : record.warnings)
            out += fmt::format("warning: {}\n", warning);
    return out;
}

}  // namespace

std::string summary_text(const MachineProfile& profile, const Measurements& measurements,
                         const MachineFits& fits) {
    const std::string source = calibration_source(measurements);
    return fmt::format("{}\n\n{}\n{}\n{}{}{}{}{}", profile.name, numbers(profile, source),
                       curves(profile, source), kernel_errors(fits), mixed_errors(fits),
                       absent(measurements), fit_warnings(fits), warnings(measurements));
}

}  // namespace sluice

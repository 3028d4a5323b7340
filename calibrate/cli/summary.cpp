#include "calibrate/cli/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/profile/make_profile.h"

namespace sluice {
namespace {

/// The unit that ends a path, as people write it; "" for a count.
std::string unit_of(std::string_view path) {
    static constexpr std::pair<std::string_view, const char*> kUnits[] = {
        {"_gparams_per_s", "Gparam/s"},
        {"_gb_per_s", "GB/s"},
        {"_joules_per_tflop", "J/TFLOP"},
        {"_joules_per_gb", "J/GB"},
        {"_joules_per_gparam", "J/Gparam"},
        {"_tflops", "TFLOPS"},
        {"_us", "us"},
        {"_gb", "GB"},
        {"_w", "W"},
    };
    for (const auto& [ending, unit] : kUnits)
        if (path.ends_with(ending)) return unit;
    return "";
}

std::string numbers(const MachineProfile& profile, const std::string& source) {
    std::string out = fmt::format("{:<52} {:>10} {:<9} {:>22} {:>7}\n", "measured", "value", "unit",
                                  "5% to 95%", "spread");
    for (const Quantity& q : profile.quantities) {
        if (q.source != source || !q.value) continue;
        out += fmt::format("{:<52} {:>10.4g} {:<9}", q.path, *q.value, unit_of(q.path));
        if (q.low && q.high)
            out +=
                fmt::format(" {:>22} {:>6.1f}%", fmt::format("{:.4g} to {:.4g}", *q.low, *q.high),
                            100 * (*q.high - *q.low) / *q.value);
        out += "\n";
    }
    return out;
}

std::string curves(const MachineProfile& profile, const std::string& source) {
    std::string out = fmt::format("{:<52} {:>7}  {}\n", "curves", "points", "from and to");
    for (const Curve& curve : profile.curves) {
        if (curve.source != source) continue;
        out += fmt::format("{:<52} {:>7}", curve.path, curve.points.size());
        // x, value and its range; others have several x.
        constexpr std::size_t kPlainColumns = 4;
        const auto &first = curve.points.front(), &last = curve.points.back();
        if (first.size() <= kPlainColumns)
            out +=
                fmt::format("  {:g}: {:.4g}, {:g}: {:.4g}", first[0], first[1], last[0], last[1]);
        out += "\n";
    }
    return out;
}

std::string error_columns(const FitError& error) {
    if (error.shapes == 0) return fmt::format("{:>8} {:>7} {:>7} {:>18}", "none", "", "", "");
    return fmt::format("{:>8} {:>6.1f}% {:>6.1f}% {:>18}", error.shapes, error.mean_percent,
                       error.worst_percent,
                       fmt::format("{:+.1f} to {:+.1f}%", error.low_percent, error.high_percent));
}

std::string kernel_errors(const MachineFits& fits) {
    if (fits.kernels.empty()) return "";
    std::string out =
        fmt::format("{:<24} {:>6} {:>8} {:>7} {:>7} {:>18} {:>14}\n", "kernel times", "fitted",
                    "held out", "mean", "worst", "5% to 95%", "leave one out");
    int shapes = 0;
    double sum = 0, worst = 0;
    for (const auto& [id, fit] : fits.kernels) {
        out += fmt::format("{:<24} {:>6} {} {:>13.1f}%\n", kernel_table_name(id), fit.fitted.size(),
                           error_columns(fit.held_out), fit.leave_one_out.mean_percent);
        shapes += fit.held_out.shapes;
        sum += fit.held_out.mean_percent * fit.held_out.shapes;
        worst = std::max(worst, fit.held_out.worst_percent);
    }
    if (shapes > 0)
        out += fmt::format("all held out: {} shapes, mean error {:.1f}%, worst {:.1f}%\n", shapes,
                           sum / shapes, worst);
    for (const auto& [id, fit] : fits.kernels) {
        if (fit.worst_shape.empty() || fit.held_out.worst_percent != worst) continue;
        out += fmt::format("worst: {}, {}\n", kernel_table_name(id), fit.worst_shape);
        break;
    }
    return out + "\n";
}

std::string mixed_errors(const MachineFits& fits) {
    if (fits.contention.empty()) return "";
    std::string out = fmt::format("{:<31} {:>8} {:>7} {:>7} {:>18}\n", "rates under mixed load",
                                  "held out", "mean", "worst", "5% to 95%");
    for (const auto& [state_bytes, fit] : fits.contention) {
        const auto line = [&](const char* name, const FitError& error) {
            if (error.shapes == 0) return;
            out +=
                fmt::format("{:<31} {}\n", fmt::format("{}, {} bytes of state", name, state_bytes),
                            error_columns(error));
        };
        line("Adam", fit.adam);
        line("copies in", fit.in);
        line("copies out", fit.out);
        line("compute", fit.compute);
        if (!fit.worst_window.empty()) out += fmt::format("worst: {}\n", fit.worst_window);
    }
    return out + "\n";
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

/// Beyond these, predictions rest on errors as large as what they are asked for.
constexpr double kMostMeanPercent = 3, kMostWorstPercent = 10, kMostMixedPercent = 7;
constexpr int kMostNoiseDoublings = 12;  ///< of the shapes concerned; then of all

std::string fit_warnings(const MachineFits& fits) {
    std::string out;
    const auto warn = [&out](const std::string& what, const FitError& error, double most_mean,
                             double most_worst) {
        if (error.mean_percent <= most_mean && error.worst_percent <= most_worst) return;
        out += fmt::format(
            "warning: {}: {:.1f}% off on average, {:.1f}% at worst, on what was not "
            "fitted, expected {:g}% and {:g}% at most; measure again on an idle "
            "machine\n",
            what, error.mean_percent, error.worst_percent, most_mean, most_worst);
    };
    for (const auto& [id, fit] : fits.kernels) {
        warn(kernel_table_name(id), fit.held_out, kMostMeanPercent, kMostWorstPercent);
        if (fit.noise_doublings > kMostNoiseDoublings) {
            out += fmt::format(
                "warning: {}: larger shapes took less time than smaller ones, so that only the "
                "trend is left of them; measure again on an idle machine\n",
                kernel_table_name(id));
        }
    }
    for (const auto& [state_bytes, fit] : fits.contention) {
        for (const auto& [name, error] : {std::pair("Adam", fit.adam),
                                          {"copies in", fit.in},
                                          {"copies out", fit.out},
                                          {"compute", fit.compute}})
            warn(fmt::format("mixed load, {}, {} bytes of state", name, state_bytes), error,
                 kMostMixedPercent, kMostMixedPercent);
    }
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

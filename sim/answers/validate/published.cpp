#include "sim/answers/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/phases.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

MachineSpec machine_of(const PublishedRow& row) {
    MachineProfile profile = read_machine_profile(row.machine);
    for (const auto& [path, value] : row.machine_numbers) profile.set(path, value);
    return resolve_machine(profile);
}

Prediction predict_row(const PublishedRow& row) {
    try {
        return predict(row.model, machine_of(row), row.training);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}: {}", row.file, row.id, error.what()));
    }
}

double speed_of(const Prediction& report, PublishedSpeed kind) {
    switch (kind) {
        case PublishedSpeed::step:
            return report.step.seconds;
        case PublishedSpeed::tokens:
            return report.tokens_per_s();
        case PublishedSpeed::tflops:
            return report.model_flops_per_s() / kTera;
        case PublishedSpeed::forward_backward:
            return step_phases(report).front();
        case PublishedSpeed::none:
            break;
    }
    return 0;
}

bool is_time(PublishedSpeed kind) {
    return kind == PublishedSpeed::step || kind == PublishedSpeed::forward_backward;
}

std::optional<double> relative(Bytes predicted, Bytes published) {
    if (published <= 0) return std::nullopt;
    return static_cast<double>(predicted) / static_cast<double>(published) - 1;
}

PublishedComparison compare_row(PublishedRow row) {
    PublishedComparison out;
    out.row = std::move(row);
    out.predicted = predict_row(out.row);
    out.predicted_speed = speed_of(out.predicted, out.row.speed_kind);
    out.predicted_device = out.predicted.plan.fit.device.peak.bytes;
    out.predicted_host = out.predicted.plan.memory.host_between_steps;
    out.predicted_fits = out.predicted.plan.fit.fits();
    return out;
}

}  // namespace

std::optional<double> PublishedComparison::speed_error() const {
    if (row.speed_kind == PublishedSpeed::none) return std::nullopt;
    return is_time(row.speed_kind) ? row.speed / predicted_speed - 1
                                   : predicted_speed / row.speed - 1;
}

std::optional<double> PublishedComparison::device_error() const {
    return relative(predicted_device, row.device);
}

std::optional<double> PublishedComparison::host_error() const {
    return relative(predicted_host, row.host);
}

double PublishedComparison::largest_error() const {
    double largest = 0;
    for (const auto& error : {speed_error(), device_error(), host_error()})
        if (error) largest = std::max(largest, std::abs(*error));
    return largest;
}

PublishedTable compare_published(std::vector<PublishedRow> rows) {
    PublishedTable table;
    for (PublishedRow& row : rows) {
        if (!row.not_compared.empty()) {
            table.not_compared.push_back(std::move(row));
            continue;
        }
        const PublishedComparison& c = table.compared.emplace_back(compare_row(std::move(row)));
        add_error(table.speed, c.speed_error(), c.row.id);
        add_error(table.device, c.device_error(), c.row.id);
        add_error(table.host, c.host_error(), c.row.id);
        table.fits_published += c.row.fits ? 1 : 0;
        table.fits_right += c.row.fits && !c.fit_is_wrong() ? 1 : 0;
    }
    return table;
}

std::vector<std::string> unexplained(const PublishedTable& table) {
    std::vector<std::string> sentences;
    for (const PublishedComparison& c : table.compared) {
        if (!c.needs_explanation() || !c.row.explanation.empty()) continue;
        sentences.push_back(
            c.fit_is_wrong()
                ? fmt::format("{}: {} is predicted {}to fit and published {}to; add an explanation",
                              c.row.file, c.row.id, c.predicted_fits ? "" : "not ",
                              *c.row.fits ? "" : "not ")
                : fmt::format("{}: {} is off by {} and has no explanation; add one", c.row.file,
                              c.row.id, format_percent(c.largest_error())));
    }
    return sentences;
}

}  // namespace sluice

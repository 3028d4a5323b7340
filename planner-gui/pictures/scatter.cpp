#include "planner-gui/pictures/scatter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/validate/log_axis.h"

namespace sluice {
namespace {

constexpr double kBand = 0.05;
// In heights of a line of text.
constexpr double kRadius = 0.3, kGap = 0.5, kBelow = 2.8;

LogAxis axis_of(const Validation& validation) {
    std::vector<double> values;
    for (const RunComparison& c : validation.runs) {
        values.push_back(c.run.tokens_per_s());
        values.push_back(c.predicted.tokens_per_s());
    }
    return LogAxis(values);
}

/// What names of ticks leave, in the middle; neither side is more than 1.5 times the other.
QRectF plot_in(const QRectF& area, double left, double below, double gap) {
    constexpr double kLongest = 1.5;
    const double wide = std::max(1.0, area.width() - left - gap);
    const double high = std::max(1.0, area.height() - below - gap);
    const double width = std::min(wide, kLongest * high), height = std::min(high, kLongest * wide);
    return {area.left() + left + (wide - width) / 2, area.top() + gap, width, height};
}

std::string summary_words(const char* what, const ErrorSummary& errors) {
    if (errors.count == 0) return "";
    return fmt::format("; {} {:.1f}%, most {} ({})", what, 100 * errors.mean_absolute,
                       format_error(errors.worst), errors.worst_name);
}

/// Groups of other systems, machines or purposes are good and bad each for itself.
std::string groups_words(const std::vector<GroupSummary>& summaries) {
    std::vector<std::string> groups;
    for (const GroupSummary& one : summaries)
        if (!one.group.empty() && one.throughput.count > 0)
            groups.push_back(fmt::format("{} {:.1f}% ({} run{})", one.group,
                                         one.throughput.mean_absolute * 100, one.runs,
                                         one.runs == 1 ? "" : "s"));
    if (groups.empty()) return "";
    return fmt::format(" Tokens/s in the mean by group: {}.", fmt::join(groups, ", "));
}

}  // namespace

ScatterLayout place_scatter(const Validation& validation, const QRectF& area,
                            const QFontMetricsF& font) {
    const LogAxis axis = axis_of(validation);
    const double line = font.height();
    double widest = 0;
    for (const double tick : axis.ticks())
        widest = std::max(widest,
                          font.horizontalAdvance(QString::fromStdString(format_thousands(tick))));
    ScatterLayout layout;
    layout.radius = kRadius * line;
    // Names of ticks and of the axis.
    layout.plot = plot_in(area, widest + 2 * kGap * line + 1.5 * line, kBelow * line, kGap * line);
    const QRectF& plot = layout.plot;
    const auto x = [&](double value) { return plot.left() + axis.share(value) * plot.width(); };
    const auto y = [&](double value) { return plot.bottom() - axis.share(value) * plot.height(); };
    for (const double tick : axis.ticks())
        layout.ticks.push_back({x(tick), y(tick), QString::fromStdString(format_thousands(tick))});
    double free = plot.left() - area.width();
    for (ScatterTick& tick : layout.ticks) {
        const double half = font.horizontalAdvance(tick.text) / 2;
        tick.named_below = tick.x - half >= free;
        if (tick.named_below) free = tick.x + half + kGap * line;
    }
    double lowest = area.bottom();
    for (ScatterTick& tick : layout.ticks) {
        tick.named_left = tick.y + line / 2 <= lowest;
        if (tick.named_left) lowest = tick.y - line / 2;
    }
    const auto line_at = [&](double factor) {
        const double low = std::max(axis.low(), axis.low() / factor);
        const double high = std::min(axis.high(), axis.high() / factor);
        return QLineF(x(low), y(low * factor), x(high), y(high * factor));
    };
    layout.exact = line_at(1);
    layout.above = line_at(1 + kBand);
    layout.below = line_at(1 - kBand);
    const std::vector<std::string> groups = group_names(validation.runs);
    for (std::size_t i = 0; i < validation.runs.size(); ++i) {
        const RunComparison& c = validation.runs[i];
        const auto group = std::find(groups.begin(), groups.end(), c.run.group) - groups.begin();
        layout.points.push_back({{x(c.run.tokens_per_s()), y(c.predicted.tokens_per_s())},
                                 static_cast<int>(i),
                                 static_cast<int>(group)});
    }
    return layout;
}

int run_at(const ScatterLayout& layout, QPointF point) {
    double nearest = 2 * layout.radius;
    int run = -1;
    for (const ScatterPoint& candidate : layout.points) {
        const double distance = QLineF(candidate.at, point).length();
        if (distance > nearest) continue;
        nearest = distance;
        run = candidate.run;
    }
    return run;
}

QString run_tooltip(const RunComparison& c) {
    std::string words =
        fmt::format("{}\nmeasured {} tokens/s, {} a step\npredicted {} tokens/s, {} a step ({})",
                    c.run.name, format_thousands(c.run.tokens_per_s()), format_seconds(c.run.step),
                    format_thousands(c.predicted.tokens_per_s()),
                    format_seconds(c.predicted.step.seconds), format_error(c.throughput_error()));
    if (c.predicted.band)
        words += fmt::format("\n5 to 95%: {} to {} a step", format_seconds(c.predicted.band->low),
                             format_seconds(c.predicted.band->high));
    return QString::fromStdString(words);
}

QString validation_sentence(const Validation& validation) {
    const GroupSummary& all = validation.summaries.back();
    std::string words =
        fmt::format("{}: {} run{}", validation.machine_id, all.runs, all.runs == 1 ? "" : "s");
    words += summary_words("tokens/s off in the mean by", all.throughput);
    words += summary_words("device memory by", all.device);
    words += summary_words("host memory by", all.host);
    if (all.with_band > 0)
        words += fmt::format("; {} of {} steps within the predicted 5 to 95%", all.in_band,
                             all.with_band);
    return QString::fromStdString(words + "." + groups_words(validation.summaries));
}

}  // namespace sluice

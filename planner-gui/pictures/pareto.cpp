#include "planner-gui/pictures/pareto.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/svg_geometry.h"
#include "sim/report/validate/log_axis.h"

namespace sluice {
namespace {

struct ParetoText {
    Q_DECLARE_TR_FUNCTIONS(Pareto)
};

constexpr double kWide = 10;       // beyond that an axis is logarithmic
constexpr double kRoom = 1.12;     // above the largest value, for its name
constexpr double kLogRoom = 1.35;  // the same, and below the least one
constexpr int kMostTicks = 6;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString label_of(double value, bool money) {
    return text(money ? fmt::format("${:g}", value) : format_thousands(value));
}

PlotAxis make_axis(const std::vector<double>& values, bool money) {
    PlotAxis axis;
    if (values.empty()) return axis;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    std::vector<double> ticks;
    if (*most > kWide * *least) {
        const LogAxis log(values);
        axis.logarithmic = true;
        axis.low = log.low() / kLogRoom;
        axis.high = log.high() * kLogRoom;
        ticks = log.ticks();
    } else {
        axis.high = *most * kRoom;
        const double step = round_tick(axis.high, kMostTicks);
        for (int i = 0; i * step <= axis.high; ++i) ticks.push_back(i * step);
    }
    for (const double tick : ticks) axis.ticks.push_back({tick, label_of(tick, money)});
    return axis;
}

std::string number_or_empty(const std::optional<double>& number) {
    return number ? fmt::format("{}", *number) : std::string();
}

std::string csv_line(const ParetoRow& row, bool by_hour, bool by_token) {
    std::string line = csv_text(row.machine) + "," + csv_text(row.system) + "," +
                       (!row.planned ? "refused"
                        : row.fits   ? "yes"
                                     : "no") +
                       ",";
    const auto speed = [&](Seconds step) {
        return row.fits && step > 0 ? fmt::format("{},", row.tokens_per_s_at(step)) : ",";
    };
    line += speed(row.step) + speed(row.step_high) + speed(row.step_low);
    line += row.planned ? fmt::format("{},{},", row.device, row.host) : ",,";
    return line + number_or_empty(row.usd_per_hour) + "," +
           (row.fits ? number_or_empty(row.usd_per_million_tokens) : "") + "," +
           (by_hour ? "yes" : "no") + "," + (by_token ? "yes" : "no") + "," +
           csv_text(row.price_of) + "," +
           csv_text(reason_text(row.reason, row.shortages, ByteUnits::decimal).toStdString()) +
           "\n";
}

QString with_costs(const ParetoRow& row) {
    return ParetoText::tr("%1 with %2: %3 tokens/s, %4 an hour, %5 a million tokens")
        .arg(text(row.machine), text(row.system), text(format_thousands(row.tokens_per_s())),
             text(format_usd(*row.usd_per_hour)),
             text(format_usd(row.usd_per_million_tokens.value_or(0))));
}

}  // namespace

double cost_of(const ParetoRow& row, CostAxis axis) {
    return axis == CostAxis::usd_per_hour ? row.usd_per_hour.value_or(0)
                                          : row.usd_per_million_tokens.value_or(0);
}

QString cost_name(CostAxis axis) {
    return axis == CostAxis::usd_per_hour ? ParetoText::tr("$ an hour")
                                          : ParetoText::tr("$ per million tokens");
}

std::vector<bool> on_front(const std::vector<ParetoRow>& rows, CostAxis axis) {
    std::vector<std::size_t> plotted;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].is_plotted()) continue;
        plotted.push_back(i);
        points.emplace_back(cost_of(rows[i], axis), rows[i].tokens_per_s());
    }
    std::vector<bool> front(rows.size(), false);
    for (const std::size_t i : pareto_front(points)) front[plotted[i]] = true;
    return front;
}

std::vector<std::size_t> by_cost(const std::vector<ParetoRow>& rows, CostAxis axis) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].is_plotted()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(cost_of(rows[a], axis), -rows[a].tokens_per_s()) <
               std::pair(cost_of(rows[b], axis), -rows[b].tokens_per_s());
    });
    return order;
}

std::optional<std::size_t> cheapest_at(const std::vector<ParetoRow>& rows, CostAxis axis,
                                       double least_tokens_per_s) {
    for (const std::size_t row : by_cost(rows, axis))
        if (rows[row].tokens_per_s() >= least_tokens_per_s) return row;
    return std::nullopt;
}

QString cheapest_words(const std::vector<ParetoRow>& rows, double least_tokens_per_s) {
    constexpr CostAxis kToken = CostAxis::usd_per_million_tokens, kHour = CostAxis::usd_per_hour;
    const std::vector<std::size_t> plotted = by_cost(rows, kToken);
    if (plotted.empty()) return {};
    const QString wanted = text(format_thousands(least_tokens_per_s));
    const auto by_token = cheapest_at(rows, kToken, least_tokens_per_s);
    const auto by_hour = cheapest_at(rows, kHour, least_tokens_per_s);
    if (!by_token) {
        const std::size_t fastest =
            *std::max_element(plotted.begin(), plotted.end(), [&](std::size_t a, std::size_t b) {
                return rows[a].tokens_per_s() < rows[b].tokens_per_s();
            });
        const QString none = ParetoText::tr("None reaches %1 tokens/s; the fastest is %2")
                                 .arg(wanted, with_costs(rows[fastest]));
        const bool one_gpu = std::none_of(
            rows.begin(), rows.end(), [](const ParetoRow& row) { return row.system == "cluster"; });
        return one_gpu ? ParetoText::tr(
                             "%1\nEach is one GPU: with the system cluster several are "
                             "tried, too")
                             .arg(none)
                       : none;
    }
    const QString least = least_tokens_per_s > 0
                              ? ParetoText::tr("At %1 tokens/s or more, least").arg(wanted)
                              : ParetoText::tr("Least");
    const auto line = [&](const QString& cost, std::size_t row) {
        return QStringLiteral("%1 %2: %3").arg(least, cost, with_costs(rows[row]));
    };
    if (by_token == by_hour)
        return line(ParetoText::tr("$ per million tokens and an hour"), *by_token);
    return line(cost_name(kToken), *by_token) + QLatin1Char('\n') +
           line(cost_name(kHour), *by_hour);
}

std::vector<std::string> row_names(const std::vector<ParetoRow>& rows) {
    const bool several = std::any_of(rows.begin(), rows.end(), [&](const ParetoRow& row) {
        return row.system != rows.front().system;
    });
    std::vector<std::string> names;
    for (const ParetoRow& row : rows)
        names.push_back(several ? row.machine + ", " + row.system : row.machine);
    return names;
}

double PlotAxis::position(double value) const { return logarithmic ? std::log10(value) : value; }

PlotAxis speed_axis(const std::vector<ParetoRow>& rows) {
    std::vector<double> values;
    for (const ParetoRow& row : rows) {
        if (!row.is_plotted()) continue;
        values.push_back(row.tokens_per_s());
        if (!row.has_band()) continue;
        values.push_back(row.tokens_per_s_at(row.step_low));
        values.push_back(row.tokens_per_s_at(row.step_high));
    }
    return make_axis(values, false);
}

PlotAxis cost_axis(const std::vector<ParetoRow>& rows, CostAxis axis) {
    std::vector<double> values;
    for (const ParetoRow& row : rows)
        if (row.is_plotted() && cost_of(row, axis) > 0) values.push_back(cost_of(row, axis));
    return make_axis(values, true);
}

QString band_text(const ParetoRow& row) {
    if (!row.fits || !row.has_band()) return {};
    return ParetoText::tr("%1 to %2")
        .arg(text(format_thousands(row.tokens_per_s_at(row.step_high))),
             text(format_thousands(row.tokens_per_s_at(row.step_low))));
}

QStringList row_lines(const ParetoRow& row, ByteUnits units) {
    QStringList lines = {text(row.machine + ", " + row.system)};
    const QString reason = reason_text(row.reason, row.shortages, units);
    if (!reason.isEmpty()) lines << reason;
    if (!row.planned) return lines;
    const QString band = band_text(row);
    const QString speed =
        ParetoText::tr("%1 tokens/s").arg(text(format_thousands(row.tokens_per_s()))) +
        (band.isEmpty() ? QString() : ParetoText::tr(" (5 to 95%: %1)").arg(band));
    lines << (row.fits ? speed : ParetoText::tr("if it did: %1").arg(speed));
    lines << ParetoText::tr("device %1, host %2")
                 .arg(byte_text(static_cast<double>(row.device), units),
                      byte_text(static_cast<double>(row.host), units));
    if (row.usd_per_hour && row.fits)
        lines << ParetoText::tr("%1 an hour (%2), %3 a million tokens")
                     .arg(text(format_usd(*row.usd_per_hour)), text(row.price_of),
                          text(format_usd(row.usd_per_million_tokens.value_or(0))));
    return lines;
}

QString pareto_csv(const std::vector<ParetoRow>& rows) {
    std::string out =
        "machine,system,fits,tokens_per_s,tokens_per_s_5_percent,tokens_per_s_95_percent,"
        "device_bytes,host_bytes,usd_per_hour,usd_per_million_tokens,on_front_by_hour,"
        "on_front_by_token,price,reason\n";
    const std::vector<bool> by_hour = on_front(rows, CostAxis::usd_per_hour);
    const std::vector<bool> by_token = on_front(rows, CostAxis::usd_per_million_tokens);
    for (std::size_t i = 0; i < rows.size(); ++i) out += csv_line(rows[i], by_hour[i], by_token[i]);
    return text(out);
}

}  // namespace sluice

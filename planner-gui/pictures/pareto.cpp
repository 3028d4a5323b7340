#include "planner-gui/pictures/pareto.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>

#include "sim/base/format.h"

namespace sluice {
namespace {

struct ParetoText {
    Q_DECLARE_TR_FUNCTIONS(Pareto)
};

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

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
                             "%1\nEach is one GPU; with the system cluster several are tried")
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

CostSpeed cost_speed(const std::vector<ParetoRow>& rows, CostAxis axis, ByteUnits units) {
    CostSpeed plot{cost_name(axis).toStdString(), {}};
    const bool systems = std::ranges::any_of(
        rows, [&](const ParetoRow& row) { return row.system != rows.front().system; });
    const std::vector<bool> front = on_front(rows, axis);
    for (const std::size_t at : by_cost(rows, axis)) {
        const ParetoRow& row = rows[at];
        CostSpeedPoint point;
        point.id = static_cast<int>(at);
        point.name = row.machine;
        if (systems) point.second = row.system;
        point.tooltip = row_lines(row, units).join(QLatin1Char('\n')).toStdString();
        point.usd = cost_of(row, axis);
        point.tokens_per_s = row.tokens_per_s();
        if (row.has_band()) {
            point.low = row.tokens_per_s_at(row.step_high);
            point.high = row.tokens_per_s_at(row.step_low);
        }
        point.on_front = front[at];
        plot.points.push_back(std::move(point));
    }
    return plot;
}

Picture pareto_picture(const std::vector<ParetoRow>& rows, CostAxis axis, ByteUnits units,
                       const PictureSpace& space) {
    const auto plotted = std::ranges::find_if(rows, &ParetoRow::is_plotted);
    if (plotted == rows.end()) return {};
    return cost_speed_picture(
        plotted->model + ": speed and money",
        "predicted; thin lines: 5 to 95%; blue: none is faster for less; grey: beaten",
        {cost_speed(rows, axis, units)}, space);
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
    lines << (row.fits ? speed : ParetoText::tr("if it fit: %1").arg(speed));
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

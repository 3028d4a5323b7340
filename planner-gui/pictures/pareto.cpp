#include "planner-gui/pictures/pareto.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>

#include "planner-gui/pictures/answer_words.h"
#include "sim/base/format.h"
#include "sim/report/answers/beside_speed.h"

namespace sluice {
namespace {

struct ParetoText {
    Q_DECLARE_TR_FUNCTIONS(Pareto)
};

/// Why a row is doubtful, or missing in the picture.
QString reason_of(const MachineSystem& row, ByteUnits units) {
    const RunsToday& today = row.value.asked.runs_today;
    if (row.value.fits() && !today.runs())
        return ParetoText::tr("no program trains this way today: %1").arg(qtext(today.why_not));
    if (row.value.fits() && !row.value.usd_per_hour)
        return ParetoText::tr("no price is known for this machine");
    return reason_text(row.value, units);
}

std::string possible_or_fits(const MachineSystem& row) {
    return !row.value.is_planned() ? "not possible" : row.value.fits() ? "yes" : "no";
}

/// Whether another is faster for less, or why it is not in the picture; sorted in this order.
Cell outcome(const MachineSystem& row, bool on_front, ByteUnits units) {
    if (on_front) return Cell(0).shown_as("best at its price");
    if (row.is_plotted()) return Cell(1).shown_as("not the best");
    const std::string reason = reason_of(row, units).toStdString();
    if (!row.value.is_planned()) return Cell(3).shown_as("not possible: " + reason);
    return Cell(2).shown_as(row.value.fits() ? reason : "does not fit: " + reason);
}

QString with_costs(const MachineSystem& row) {
    return ParetoText::tr("%1 with %2: %3 tokens/s, %4 an hour, %5 a million tokens")
        .arg(qtext(row.name()), qtext(row.schedule),
             qtext(format_thousands(row.value.tokens_per_s())),
             qtext(format_usd(*row.value.usd_per_hour)),
             qtext(format_usd(row.value.usd_per_million_tokens.value_or(0))));
}

}  // namespace

double cost_of(const MachineSystem& row, CostAxis axis) {
    return axis == CostAxis::usd_per_hour ? row.value.usd_per_hour.value_or(0)
                                          : row.value.usd_per_million_tokens.value_or(0);
}

QString cost_name(CostAxis axis) {
    return axis == CostAxis::usd_per_hour ? ParetoText::tr("$ an hour")
                                          : ParetoText::tr("$ per million tokens");
}

std::vector<bool> on_front(const std::vector<MachineSystem>& rows, CostAxis axis) {
    std::vector<std::size_t> plotted;
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].is_plotted()) continue;
        plotted.push_back(i);
        points.emplace_back(cost_of(rows[i], axis), rows[i].value.tokens_per_s());
    }
    std::vector<bool> front(rows.size(), false);
    for (const std::size_t i : pareto_front(points)) front[plotted[i]] = true;
    return front;
}

std::vector<std::size_t> by_cost(const std::vector<MachineSystem>& rows, CostAxis axis) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].is_plotted()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(cost_of(rows[a], axis), -rows[a].value.tokens_per_s()) <
               std::pair(cost_of(rows[b], axis), -rows[b].value.tokens_per_s());
    });
    return order;
}

std::optional<std::size_t> cheapest_at(const std::vector<MachineSystem>& rows, CostAxis axis,
                                       double least_tokens_per_s) {
    for (const std::size_t row : by_cost(rows, axis))
        if (rows[row].value.tokens_per_s() >= least_tokens_per_s) return row;
    return std::nullopt;
}

QString cheapest_words(const std::vector<MachineSystem>& rows, double least_tokens_per_s) {
    constexpr CostAxis kToken = CostAxis::usd_per_million_tokens, kAnHour = CostAxis::usd_per_hour;
    const std::vector<std::size_t> plotted = by_cost(rows, kToken);
    if (plotted.empty()) return {};
    const QString wanted = qtext(format_thousands(least_tokens_per_s));
    const auto by_token = cheapest_at(rows, kToken, least_tokens_per_s);
    const auto by_hour = cheapest_at(rows, kAnHour, least_tokens_per_s);
    if (!by_token) {
        const std::size_t fastest =
            *std::max_element(plotted.begin(), plotted.end(), [&](std::size_t a, std::size_t b) {
                return rows[a].value.tokens_per_s() < rows[b].value.tokens_per_s();
            });
        return ParetoText::tr("None reaches %1 tokens/s; the fastest is %2")
            .arg(wanted, with_costs(rows[fastest]));
    }
    const QString least = least_tokens_per_s > 0
                              ? ParetoText::tr("At %1 tokens/s or more, the least").arg(wanted)
                              : ParetoText::tr("The least");
    const auto line = [&](const QString& cost, std::size_t row) {
        return QStringLiteral("%1 %2: %3").arg(least, cost, with_costs(rows[row]));
    };
    if (by_token == by_hour)
        return line(ParetoText::tr("$ per million tokens and an hour"), *by_token);
    return line(cost_name(kToken), *by_token) + QLatin1Char('\n') +
           line(cost_name(kAnHour), *by_hour);
}

CostSpeed cost_speed(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units) {
    CostSpeed plot{cost_name(axis).toStdString(), {}};
    const bool systems = std::ranges::any_of(
        rows, [&](const MachineSystem& row) { return row.schedule != rows.front().schedule; });
    const std::vector<bool> front = on_front(rows, axis);
    for (const std::size_t at : by_cost(rows, axis)) {
        const MachineSystem& row = rows[at];
        CostSpeedPoint point;
        point.id = static_cast<int>(at);
        point.name = row.name();
        if (systems) point.second = row.schedule;
        point.tooltip = row_lines(row, units).join(QLatin1Char('\n')).toStdString();
        point.usd = cost_of(row, axis);
        point.tokens_per_s = row.value.tokens_per_s();
        if (row.value.has_band()) {
            point.low = row.value.tokens_per_s_at(row.value.step_high);
            point.high = row.value.tokens_per_s_at(row.value.step_low);
        }
        point.on_front = front[at];
        point.must_be_named = plot.points.empty();  // the cheapest
        plot.points.push_back(std::move(point));
    }
    return plot;
}

Picture pareto_picture(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units,
                       const PictureSpace& space) {
    const auto plotted = std::ranges::find_if(rows, &MachineSystem::is_plotted);
    if (plotted == rows.end()) return {};
    const AskedStep& asked = plotted->value.asked;
    return cost_speed_picture(
        fmt::format("{}: speed and money, {} tokens a step", asked.model_name,
                    format_thousands(static_cast<double>(asked.training.tokens()))),
        "predicted; thin lines: 5 to 95%; blue: none is faster for less; "
        "grey: the others",
        {cost_speed(rows, axis, units)}, space);
}

QString band_text(const MachineSystem& row) {
    const ScenarioValue& value = row.value;
    if (!value.fits() || !value.has_band()) return {};
    return ParetoText::tr("%1 to %2")
        .arg(qtext(format_thousands(value.tokens_per_s_at(value.step_high))),
             qtext(format_thousands(value.tokens_per_s_at(value.step_low))));
}

QStringList row_lines(const MachineSystem& row, ByteUnits units) {
    const ScenarioValue& value = row.value;
    QStringList lines = {qtext(row.name() + ", " + row.schedule)};
    const QString reason = reason_of(row, units);
    if (!reason.isEmpty()) lines << reason;
    if (!value.is_planned()) return lines;
    const QString band = band_text(row);
    const QString speed =
        ParetoText::tr("%1 tokens/s").arg(qtext(format_thousands(value.tokens_per_s()))) +
        (band.isEmpty() ? QString() : ParetoText::tr(" (5 to 95%: %1)").arg(band));
    lines << (value.fits() ? speed : ParetoText::tr("without the memory limit: %1").arg(speed));
    lines << ParetoText::tr("device %1, host %2")
                 .arg(byte_text(static_cast<double>(value.fit.device().peak.bytes), units),
                      byte_text(static_cast<double>(value.fit.host().peak.bytes), units));
    if (value.fastest_plan) lines << ParetoText::tr("with its fastest plan for this batch");
    if (row.is_plotted())
        lines << ParetoText::tr("%1 an hour (%2), %3 a million tokens")
                     .arg(qtext(format_usd(*value.usd_per_hour)), window_text(value.price_of),
                          qtext(format_usd(value.usd_per_million_tokens.value_or(0))));
    return lines;
}

Table pareto_table(const std::vector<MachineSystem>& rows, CostAxis axis, ByteUnits units) {
    const std::vector<bool> by_hour = on_front(rows, CostAxis::usd_per_hour);
    const std::vector<bool> by_token = on_front(rows, CostAxis::usd_per_million_tokens);
    const std::vector<bool>& front = axis == CostAxis::usd_per_hour ? by_hour : by_token;
    const auto among = [&rows](const std::vector<bool>& marks, const MachineSystem& row) {
        return marks[static_cast<std::size_t>(&row - rows.data())];
    };
    const auto yes_in = [&](const std::vector<bool>& marks) {
        return [&](const MachineSystem& row) { return Cell(among(marks, row) ? "yes" : "no"); };
    };
    const auto if_planned = [](auto value) {
        return [value](const MachineSystem& row) {
            return row.value.is_planned() ? Cell(std::invoke(value, row.value)) : Cell();
        };
    };
    const auto if_fits = [](auto value) {
        return [value](const MachineSystem& row) {
            return row.value.fits() ? Cell(std::invoke(value, row.value)) : Cell();
        };
    };
    std::vector<ColumnOf<MachineSystem>> columns = {
        {"machine", "", Unit::text, &MachineSystem::machine},
        {"", "machine", Unit::text,
         [](auto& row) {  // the row's tooltip has the whole name
             return Cell(row.name()).shown_as(row.short_name());
         },
         "and its GPUs, where several train"},
        {"system", "system", Unit::text, &MachineSystem::schedule},
        {"fits", "", Unit::text, possible_or_fits},
        {"tokens_per_s", "tokens/s", Unit::whole, if_fits(&ScenarioValue::tokens_per_s),
         "predicted, in a steady step"},
        {"tokens_per_s_{}_percent", "5 to 95%", Unit::whole, if_fits([](auto& value) {
             return value.has_band() ? Cell(Range{value.tokens_per_s_at(value.step_high),
                                                  value.tokens_per_s_at(value.step_low)})
                                     : Cell();
         }),
         "nine of ten measured steps should lie there"},
        {"device_bytes", "", Unit::bytes,
         if_planned([](auto& value) { return value.fit.device().peak.bytes; })},
        {"host_bytes", "", Unit::bytes,
         if_planned([](auto& value) { return value.fit.host().peak.bytes; })},
        {"host_memory", "host", Unit::text, if_planned([units](auto& value) {
             return host_memory_words(value.host, [units](double bytes) {
                 return byte_text(bytes, units).toStdString();
             });
         }),
         "host memory that the machine has"},
        {"plan", "", Unit::text,
         if_planned([](auto& value) { return value.fastest_plan ? "auto" : "given"; })},
        {"gpus", "", Unit::number,
         if_planned([](auto& value) { return value.asked.training.gpus; })},
        {"usd_per_hour", "$ an hour", Unit::usd, if_planned(&ScenarioValue::usd_per_hour),
         cost_name(CostAxis::usd_per_hour).toUtf8().constData()},
        {"usd_per_million_tokens", "$ a million", Unit::usd,
         if_fits(&ScenarioValue::usd_per_million_tokens),
         cost_name(CostAxis::usd_per_million_tokens).toUtf8().constData()},
        {"on_front_by_hour", "", Unit::text, yes_in(by_hour)},
        {"on_front_by_token", "", Unit::text, yes_in(by_token)},
        {"price", "", Unit::text, if_planned(&ScenarioValue::price_of)},
        {"reason", "", Unit::text,
         [&](auto& row) { return Cell(reason_of(row, units).toStdString()); }},
        {"", "outcome", Unit::text,
         [&](auto& row) { return outcome(row, among(front, row), units); },
         "best at its price: no other is faster for less money"}};
    add_beside_speed(columns, "tokens_per_s_{}_percent", [](const MachineSystem& row) {
        return row.value.is_planned() ? &row.value.asked : nullptr;
    });
    // One scenario has them, so the picture says them once.
    for (ColumnOf<MachineSystem>& one : columns)
        if (one.column.key == "products" || one.column.key == "tokens_a_step")
            one.column.title.clear();
    Table table = table_of<MachineSystem>(rows, columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Row& row = table.rows[i];
        row.marked = front[i];
        row.muted = !rows[i].is_plotted();
        row.tooltip = row_lines(rows[i], units).join(QLatin1Char('\n')).toStdString();
    }
    return table;
}

}  // namespace sluice

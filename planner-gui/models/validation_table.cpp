#include "planner-gui/models/validation_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner-gui/pictures/palette.h"
#include "planner-gui/pictures/scatter.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

Cell error_cell(std::optional<double> error, const QString& tooltip = {}) {
    return {text(format_error(error)), error, tooltip};
}

QString bytes_words(Bytes measured, Bytes predicted, ByteUnits units) {
    if (measured <= 0) return QStringLiteral("not measured");
    return QStringLiteral("measured %1, predicted %2")
        .arg(byte_text(static_cast<double>(measured), units),
             byte_text(static_cast<double>(predicted), units));
}

/// Marked where a step lies outside of its band; of several processes, where one does.
Cell throughput_error(const RunComparison& c) {
    Cell cell = error_cell(c.throughput_error());
    const auto inside = c.steps_in_band();
    if (!inside) {
        cell.tooltip = QStringLiteral("the prediction has no band");
        return cell;
    }
    const int processes = c.run.process_count();
    cell.marked = *inside < processes;
    cell.tooltip = text(fmt::format(
        "{} of {} measured steps within the predicted 5 to 95%, {} to {}", *inside, processes,
        format_seconds(c.predicted.band->low), format_seconds(c.predicted.band->high)));
    return cell;
}

std::vector<Cell> row_of(const RunComparison& c, const QColor& square, ByteUnits units) {
    const double measured = c.run.tokens_per_s(), predicted = c.predicted.tokens_per_s();
    const QString about = run_tooltip(c) + QLatin1Char('\n') +
                          text(fmt::format("of {}: {}", c.run.group, c.run.file));
    return {{text(c.run.name), {}, about, false, square},
            {text(format_thousands(measured)), measured},
            {text(format_thousands(predicted)), predicted},
            throughput_error(c),
            error_cell(c.device_error(), bytes_words(c.run.device, c.predicted_device, units)),
            error_cell(c.host_error(), bytes_words(c.run.host, c.predicted_host, units))};
}

}  // namespace

CellTable validation_table(const Validation& validation, ByteUnits units) {
    const QString delta = QStringLiteral("predicted / measured - 1");
    CellTable table;
    table.columns = {
        {QStringLiteral("Run"), QStringLiteral("Coloured as its group in the picture")},
        {QStringLiteral("Tokens/s"),
         QStringLiteral("Measured: of the median of its steps; of several processes their mean")},
        {QStringLiteral("Predicted"), QStringLiteral("Predicted tokens/s")},
        {QStringLiteral("Delta"),
         QStringLiteral("Of tokens/s: ") + delta +
             QStringLiteral(". Bold: a step lies outside of the predicted 5 to 95%")},
        {QStringLiteral("Device"), QStringLiteral("Of most device memory in use: ") + delta},
        {QStringLiteral("Host"), QStringLiteral("Of resident host memory: ") + delta}};
    const std::vector<std::string> groups = group_names(validation.runs);
    for (const RunComparison& c : validation.runs) {
        const auto group = std::ranges::find(groups, c.run.group) - groups.begin();
        table.rows.push_back(row_of(c, Palette::series(static_cast<int>(group)), units));
    }
    return table;
}

}  // namespace sluice

#include "planner-gui/models/validation_table.h"

#include <fmt/format.h>

#include "planner-gui/pictures/scatter.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

Cell seconds_cell(Seconds seconds) { return {text(format_seconds(seconds)), seconds}; }

Cell error_cell(std::optional<double> error, const QString& tooltip = {}) {
    return {text(format_error(error)), error, tooltip};
}

QString bytes_words(Bytes measured, Bytes predicted, ByteUnits units) {
    if (measured <= 0) return QStringLiteral("not measured");
    return QStringLiteral("measured %1, predicted %2")
        .arg(byte_text(static_cast<double>(measured), units),
             byte_text(static_cast<double>(predicted), units));
}

/// Of several processes how many are in it.
Cell band_cell(const RunComparison& c) {
    const auto inside = c.steps_in_band();
    if (!inside) return {QStringLiteral("-"), {}, QStringLiteral("the prediction has no band")};
    const int processes = c.run.process_count();
    const QString tooltip =
        text(fmt::format("predicted step, 5 to 95%: {} to {}", format_seconds(c.predicted.step_low),
                         format_seconds(c.predicted.step_high)));
    const bool all = *inside == processes;
    const QString words = all              ? QStringLiteral("yes")
                          : processes == 1 ? QStringLiteral("no")
                                           : QStringLiteral("%1 of %2").arg(*inside).arg(processes);
    return {words, {}, tooltip, !all};
}

std::vector<Cell> row_of(const RunComparison& c, ByteUnits units) {
    const double measured = c.run.tokens_per_s(), predicted = c.predicted.tokens_per_s();
    return {{text(c.run.name), {}, run_tooltip(c)},
            seconds_cell(c.run.step),
            seconds_cell(c.predicted.step),
            error_cell(c.step_error()),
            {text(format_thousands(measured)), measured},
            {text(format_thousands(predicted)), predicted},
            error_cell(c.throughput_error()),
            error_cell(c.device_error(), bytes_words(c.run.device, c.predicted_device, units)),
            error_cell(c.host_error(), bytes_words(c.run.host, c.predicted_host, units)),
            band_cell(c),
            {text(c.run.group), {}, text(c.run.file)}};
}

}  // namespace

CellTable validation_table(const Validation& validation, ByteUnits units) {
    const QString delta = QStringLiteral("predicted / measured - 1");
    CellTable table;
    const QString predicted = QStringLiteral("predicted");
    const QString median =
        QStringLiteral("Measured: the median of its steps; of several processes their mean");
    table.columns = {
        {QStringLiteral("Run")},
        {QStringLiteral("Step"), median},
        {predicted, QStringLiteral("Predicted step")},
        {QStringLiteral("delta"), QStringLiteral("Of the step: ") + delta},
        {QStringLiteral("Tokens/s"), median},
        {predicted, QStringLiteral("Predicted tokens/s")},
        {QStringLiteral("delta"), QStringLiteral("Of tokens/s: ") + delta},
        {QStringLiteral("Device"), QStringLiteral("Of most device memory in use: ") + delta},
        {QStringLiteral("Host"), QStringLiteral("Of resident host memory: ") + delta},
        {QStringLiteral("In band"),
         QStringLiteral("Whether the measured step is within the predicted 5 to 95%")},
        {QStringLiteral("Group"), QStringLiteral("The folder of its file")}};
    for (const RunComparison& c : validation.runs) table.rows.push_back(row_of(c, units));
    return table;
}

}  // namespace sluice

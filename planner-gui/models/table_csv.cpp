#include "planner-gui/models/table_csv.h"

#include <QStringList>

#include "sim/base/format.h"

namespace sluice {
namespace {

QString field(const QVariant& value) {
    const std::string text = value.toString().toStdString();
    return QString::fromStdString(csv_text(text));
}

QString cell(const QAbstractItemModel& model, int row, int column) {
    const QModelIndex index = model.index(row, column);
    const QVariant number = index.data(kNumberRole);
    // Ten digits: what is shown has fewer, and noise of the last ones does not matter.
    if (number.isValid()) return QString::number(number.toDouble(), 'g', 10);
    return field(index.data(Qt::DisplayRole));
}

}  // namespace

QString table_csv(const QAbstractItemModel& model, bool row_headers) {
    QString out;
    QStringList head;
    if (row_headers) head << QString();
    for (int column = 0; column < model.columnCount(); ++column)
        head << field(model.headerData(column, Qt::Horizontal));
    out += head.join(QLatin1Char(',')) + QLatin1Char('\n');
    for (int row = 0; row < model.rowCount(); ++row) {
        QStringList line;
        if (row_headers) line << field(model.headerData(row, Qt::Vertical));
        for (int column = 0; column < model.columnCount(); ++column)
            line << cell(model, row, column);
        out += line.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return out;
}

}  // namespace sluice

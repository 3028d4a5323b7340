// A table as CSV: what is exported of what a view shows.
#pragma once

#include <QAbstractItemModel>
#include <QString>

namespace sluice {

/// Role of a cell's number in SI units, where it is one: for sorting and export.
inline constexpr int kNumberRole = Qt::UserRole;

/// A line of headers, then a line a row; numbers by kNumberRole where a cell has one, else the text
/// shown. Headers of rows, where `row_headers`, stand in the first column.
QString table_csv(const QAbstractItemModel& model, bool row_headers = false);

}  // namespace sluice

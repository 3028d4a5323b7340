// Sorts a table by its numbers where cells have them, else by text.
#pragma once

#include <QSortFilterProxyModel>

namespace sluice {

/// Cells without a number come before those with one.
class NumberSortProxy : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

  protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace sluice

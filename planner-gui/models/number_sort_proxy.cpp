#include "planner-gui/models/number_sort_proxy.h"

#include "planner-gui/models/table_csv.h"

namespace sluice {

bool NumberSortProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(kNumberRole), b = right.data(kNumberRole);
    if (a.isValid() && b.isValid()) return a.toDouble() < b.toDouble();
    if (a.isValid() != b.isValid()) return b.isValid();
    return QString::localeAwareCompare(left.data().toString(), right.data().toString()) < 0;
}

}  // namespace sluice

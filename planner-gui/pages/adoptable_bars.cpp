#include "planner-gui/pages/adoptable_bars.h"

#include <QVBoxLayout>

#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"

namespace sluice {

AdoptableBars::AdoptableBars(const Names& names, QWidget* parent)
    : QWidget(parent),
      model_(new TableModel(this)),
      bars_(new PictureView(names.bars)),
      table_(table_view(model_, names.table)),
      foot_(new AdoptionFoot(names.selected, names.adopt, 2)) {
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(new FittedArea(bars_));
    column->addWidget(table_, kAlmostAll);
    column->addWidget(foot_);
    column->addStretch(1);
    connect(bars_, &PictureView::activated, this, &AdoptableBars::adopt);
    connect(bars_, &PictureView::selectionChanged, this, &AdoptableBars::select);
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { adopt(index.row()); });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) { bars_->select(now.row()); });
    connect(foot_, &AdoptionFoot::adopted, this, [this] { adopt(bars_->selected()); });
}

void AdoptableBars::setThings(std::vector<Adoptable> things, BarChart chart, Table table,
                              ByteUnits units) {
    bars_->select(kNoId);
    things_ = std::move(things);
    if (things_.empty())
        bars_->setPicture({});
    else
        bars_->setPicture([chart = std::move(chart)](const PictureSpace& space) {
            return bars_picture(chart, space);
        });
    model_->setTable(std::move(table), units);
}

QByteArray AdoptableBars::svg() const { return bars_->svg(); }

void AdoptableBars::select(int thing) {
    if (thing < 0) return foot_->show_selected({}, false);
    const Adoptable& selected = things_[static_cast<std::size_t>(thing)];
    table_->selectRow(thing);
    foot_->show_selected(selected.words, selected.can_be_adopted);
}

void AdoptableBars::adopt(int thing) {
    if (thing >= 0 && things_[static_cast<std::size_t>(thing)].can_be_adopted)
        Q_EMIT adopted(thing);
}

}  // namespace sluice

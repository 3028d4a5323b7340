#include "planner-gui/pages/picture_table.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"

namespace sluice {

PictureTable::PictureTable(Arrangement arrangement, const Names& names,
                           std::function<Described(int)> describe)
    : describe_(std::move(describe)),
      model_(new TableModel(this)),
      sorted_(new NumberSortProxy(this)),
      picture_(new PictureView(names.picture)),
      table_(table_view(sorted_, names.table)) {
    sorted_->setSourceModel(model_);
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    const bool bars = arrangement == Arrangement::bars;
    if (bars) {
        column->addWidget(new FittedArea(picture_));
        column->addWidget(table_, kAlmostAll);
    } else {
        column->addWidget(arranged(arrangement), 1);
    }
    if (describe_) column->addWidget(foot(names, bars ? 2 : 3));
    if (bars) column->addStretch(1);
    connect(picture_, &PictureView::activated, this, &PictureTable::adopt);
    connect(picture_, &PictureView::selectionChanged, this, [this](int thing) {
        if (thing != kNoId && thing != selected()) select(thing);
    });
    connect(table_, &QTableView::activated, this, [this] { adopt(selected()); });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &PictureTable::showSelected);
    showSelected();
}

QWidget* PictureTable::arranged(Arrangement arrangement) {
    table_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    if (arrangement == Arrangement::one) {
        one_ = new QStackedWidget;
        one_->addWidget(picture_);
        one_->addWidget(table_);
        return one_;
    }
    const bool above = arrangement == Arrangement::above;
    auto* const both = new QSplitter(above ? Qt::Vertical : Qt::Horizontal);
    both->addWidget(picture_);
    both->addWidget(table_);
    both->setStretchFactor(0, above ? 3 : 1);
    both->setStretchFactor(1, above ? 1 : 2);
    both->setSizes(above ? QList{3000, 2000} : QList{1000, 2000});  // only the ratio matters
    both->setChildrenCollapsible(false);
    return both;
}

/// Reserves `lines` of text, so that what is above does not move.
QWidget* PictureTable::foot(const Names& names, int lines) {
    words_ = text_label(names.selected);
    words_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    words_->setMinimumHeight(lines * fontMetrics().lineSpacing());
    adopt_ = new QPushButton(tr("A&dopt"));
    adopt_->setToolTip(names.adopt);
    connect(adopt_, &QPushButton::clicked, this, [this] { adopt(selected()); });
    return words_and_buttons(words_, {adopt_});
}

void PictureTable::setTable(Table table, ByteUnits units) {
    model_->setTable(std::move(table), units);
    showSelected();
}

void PictureTable::setRow(int thing, Row row) {
    model_->setRow(thing, std::move(row));
    if (thing == selected()) showSelected();
}

void PictureTable::showTable(bool table) {
    one_->setCurrentIndex(table ? 1 : 0);
    one_->currentWidget()->setFocus();
}

int PictureTable::selected() const {
    const QModelIndex index = sorted_->mapToSource(table_->currentIndex());
    return index.isValid() ? index.row() : kNoId;
}

void PictureTable::select(int thing) {
    const QModelIndex index = sorted_->mapFromSource(model_->index(thing, 0));
    table_->setCurrentIndex(index);
    if (index.isValid()) table_->scrollTo(index);
}

void PictureTable::showSelected() {
    const int thing = selected();
    picture_->select(thing);
    if (!describe_) return;
    const Described described = describe_(thing);
    words_->setText(described.words);
    words_->setAccessibleDescription(described.words);
    adopt_->setEnabled(described.can_be_adopted);
}

QString PictureTable::words() const { return words_->text(); }

void PictureTable::adopt(int thing) {
    if (thing != kNoId && (!describe_ || describe_(thing).can_be_adopted)) Q_EMIT adopted(thing);
}

}  // namespace sluice

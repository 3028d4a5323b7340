#include "planner-gui/pages/adoption_foot.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "planner-gui/pages/page_parts.h"

namespace sluice {

AdoptionFoot::AdoptionFoot(const QString& name, const QString& what, int lines, QWidget* parent)
    : QWidget(parent), words_(text_label(name)), adopt_(new QPushButton(tr("A&dopt"))) {
    words_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    words_->setMinimumHeight(lines * fontMetrics().lineSpacing());
    adopt_->setToolTip(what);
    auto* const row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(words_, 1);
    row->addWidget(adopt_, 0, Qt::AlignTop);
    connect(adopt_, &QPushButton::clicked, this, &AdoptionFoot::adopted);
    show_selected({}, false);
}

void AdoptionFoot::show_selected(const QString& words, bool can_be_adopted) {
    words_->setText(words);
    words_->setAccessibleDescription(words);
    adopt_->setEnabled(can_be_adopted);
}

QString AdoptionFoot::words() const { return words_->text(); }

bool AdoptionFoot::can_be_adopted() const { return adopt_->isEnabled(); }

}  // namespace sluice

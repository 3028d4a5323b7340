#include "planner-gui/window/scenario_dock.h"

#include <QHBoxLayout>
#include <QListView>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"

namespace sluice {
namespace {

Table names_of(const std::vector<PlannedScenario>& scenarios) {
    Table out{{{"name", "name"}}};
    for (const PlannedScenario& one : scenarios) {
        const QString words = qtext(one.notes.empty() ? command_line(one) : one.notes);
        out.rows.push_back({{one.name}});
        out.rows.back().tooltip =
            Qt::convertFromPlainText(words, Qt::WhiteSpaceNormal).toStdString();
    }
    return out;
}

}  // namespace

ScenarioDock::ScenarioDock(ScenarioStack& stack, QWidget* parent)
    : QWidget(parent),
      stack_(stack),
      model_(new TableModel(this)),
      list_(new QListView(this)),
      notes_(new QPlainTextEdit(this)) {
    model_->setEditable("name");
    list_->setModel(model_);
    list_->setObjectName(QStringLiteral("scenarios"));
    list_->setAccessibleName(tr("Scenarios"));
    list_->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    list_->setUniformItemSizes(true);
    notes_->setObjectName(QStringLiteral("notes"));
    notes_->setAccessibleName(tr("Notes on the scenario"));
    notes_->setPlaceholderText(tr("Notes"));
    notes_->setTabChangesFocus(true);
    leave_undo_to_window(notes_);
    notes_->setMaximumHeight(fontMetrics().lineSpacing() * 4);

    auto* const buttons = new QHBoxLayout;
    const auto add = [this, buttons](const QString& text, const QString& tooltip, auto slot) {
        auto* const button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(tooltip);
        button->setAccessibleName(tooltip);
        button->setAutoRaise(true);
        connect(button, &QToolButton::clicked, this, slot);
        buttons->addWidget(button);
    };
    add(tr("Duplicate"), tr("Duplicate the scenario"),
        [this] { stack_.duplicate(stack_.currentIndex()); });
    add(tr("Rename"), tr("Rename the scenario"), [this] { renameCurrent(); });
    add(tr("Delete"), tr("Delete the scenario; Undo brings it back"),
        [this] { stack_.remove(stack_.currentIndex()); });
    buttons->addStretch(1);

    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(list_, 1);
    column->addLayout(buttons);
    column->addWidget(notes_);

    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) stack_.setCurrent(index.row());
            });
    connect(model_, &TableModel::edited, this,
            [this](int row, const QString& name) { stack_.rename(row, name); });
    connect(notes_, &QPlainTextEdit::textChanged, this,
            [this] { stack_.setNotes(stack_.currentIndex(), notes_->toPlainText()); });
    connect(&stack_, &ScenarioStack::currentChanged, this, &ScenarioDock::follow);
    connect(&stack_, &ScenarioStack::listChanged, this, &ScenarioDock::follow);
    follow();
}

void ScenarioDock::renameCurrent() {
    list_->setFocus();
    list_->edit(model_->index(stack_.currentIndex(), 0));
}

void ScenarioDock::follow() {
    model_->setTable(names_of(stack_.project().scenarios));
    list_->setCurrentIndex(model_->index(stack_.currentIndex(), 0));
    const QString notes = qtext(stack_.current().notes);
    if (notes == notes_->toPlainText()) return;
    const QSignalBlocker blocker(notes_);
    notes_->setPlainText(notes);
}

}  // namespace sluice

#include "planner-gui/window/field_row.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStyledItemDelegate>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr int kLine = Qt::UserRole;  // what the list shows for a choice

class LineDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (const QString line = index.data(kLine).toString(); !line.isEmpty()) option->text = line;
    }
};

/// The list may be wider than the field, so that its lines are complete.
void widen_list(QComboBox& combo) {
    combo.view()->setMinimumWidth(combo.view()->sizeHintForColumn(0) +
                                  combo.view()->verticalScrollBar()->sizeHint().width());
}

QWidget* make_combo(FieldRow* row, const QStringList& choices, bool search) {
    auto* const combo = new QComboBox(row);
    combo->addItems(choices);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(10);
    combo->setMaxVisibleItems(20);
    combo->setItemDelegate(new LineDelegate(combo));
    widen_list(*combo);
    combo->setFocusPolicy(Qt::StrongFocus);
    if (search) {
        combo->setEditable(true);
        combo->setInsertPolicy(QComboBox::NoInsert);
        combo->completer()->setMaxVisibleItems(combo->maxVisibleItems());
        combo->completer()->setFilterMode(Qt::MatchContains);
        combo->completer()->setCompletionMode(QCompleter::PopupCompletion);
        QObject::connect(combo, &QComboBox::editTextChanged, row, &FieldRow::edited);
    } else {
        QObject::connect(combo, &QComboBox::currentIndexChanged, row, &FieldRow::edited);
    }
    return combo;
}

}  // namespace

FieldRow::FieldRow(const QString& field, const QString& label, Kind kind,
                   const QStringList& choices, QWidget* parent)
    : QWidget(parent),
      field_(field),
      label_(new QLabel(label, this)),
      unit_(new QLabel(this)),
      mistake_(new QLabel(this)),
      help_(new QLabel(this)) {
    if (kind == Kind::text) {
        auto* const line = new QLineEdit(this);
        line->setMinimumWidth(fontMetrics().averageCharWidth() * 8);
        connect(line, &QLineEdit::textChanged, this, &FieldRow::showUnit);
        connect(line, &QLineEdit::textEdited, this, &FieldRow::edited);
        editor_ = line;
    } else {
        editor_ = make_combo(this, choices, kind == Kind::search);
    }
    leave_undo_to_window(editor_);
    leave_wheel_to_area(editor_);
    if (QLineEdit* const typed = this->line()) leave_undo_to_window(typed);
    editor_->setObjectName(field);
    editor_->setAccessibleName(label);
    label_->setBuddy(editor_);
    label_->setWordWrap(true);
    mistake_->setWordWrap(true);
    mistake_->setTextFormat(Qt::PlainText);  // the message may quote typed text
    mistake_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    mistake_->hide();
    help_->setWordWrap(true);
    help_->setTextFormat(Qt::PlainText);
    help_->setForegroundRole(QPalette::PlaceholderText);
    help_->hide();
    unit_->hide();

    auto* const grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(0);
    auto* const beside = new QHBoxLayout;
    beside->setSpacing(fontMetrics().averageCharWidth() / 2);
    beside->addWidget(editor_, 1);
    beside->addWidget(unit_);
    beside_ = beside;
    grid->addWidget(label_, 0, 0);
    grid->addLayout(beside, 0, 1);
    grid->addWidget(mistake_, 1, 0, 1, 2);
    grid->addWidget(help_, 2, 0, 1, 2);
    // Labels of all rows have the same width; longer ones wrap.
    label_->setFixedWidth(fontMetrics().averageCharWidth() * 15);
    grid->setColumnStretch(1, 1);
}

QLineEdit* FieldRow::line() const {
    if (auto* const combo = qobject_cast<QComboBox*>(editor_)) return combo->lineEdit();
    return qobject_cast<QLineEdit*>(editor_);
}

QString FieldRow::label() const { return label_->text(); }

QString FieldRow::text() const {
    const QLineEdit* const typed = line();
    return typed != nullptr ? typed->text().trimmed()
                            : qobject_cast<QComboBox*>(editor_)->currentText();
}

void FieldRow::setText(const QString& text) {
    if (text == this->text()) return;
    const QSignalBlocker blocker(editor_);
    if (auto* const combo = qobject_cast<QComboBox*>(editor_)) {
        combo->setCurrentIndex(combo->findText(text));
        if (!combo->isEditable()) return;
        combo->setEditText(text);
        if (!combo->hasFocus()) combo->lineEdit()->setCursorPosition(0);
        return;
    }
    line()->setText(text);
    showUnit();  // while signals are blocked
}

void FieldRow::setChoices(const std::vector<std::pair<QString, QString>>& choices) {
    auto* const combo = qobject_cast<QComboBox*>(editor_);
    if (combo == nullptr || choices == choices_) return;
    choices_ = choices;
    const QSignalBlocker blocker(combo);
    const QString typed = combo->currentText();
    combo->clear();
    for (const auto& [choice, line] : choices) {
        combo->addItem(choice);
        combo->setItemData(combo->count() - 1, line, kLine);
    }
    widen_list(*combo);
    combo->setCurrentIndex(combo->findText(typed));
    combo->setEditText(typed);
}

void FieldRow::setPlaceholder(const QString& text) {
    if (QLineEdit* const typed = line()) typed->setPlaceholderText(text);
}

void FieldRow::setUnit(const QString& unit) {
    constexpr int kLongest = 10;  // longer ones are in the help
    unit_words_ = unit.size() <= kLongest ? unit : QString();
    showUnit();
}

void FieldRow::setZero(const QString& words) {
    zero_ = words;
    setPlaceholder(words);
    showUnit();
}

void FieldRow::showUnit() {
    const bool zero = !zero_.isEmpty() && text() == QLatin1String("0");
    unit_->setText(zero ? QStringLiteral("= ") + zero_ : unit_words_);
    unit_->setVisible(!unit_->text().isEmpty());
}

void FieldRow::setHelp(const QString& help) {
    label_->setToolTip(help);
    editor_->setToolTip(help);
    editor_->setAccessibleDescription(help);
    help_->setText(help);
}

void FieldRow::showHelp(bool on) { help_->setVisible(on && !help_->text().isEmpty()); }

void FieldRow::setMistake(const QString& sentence) {
    mistake_->setVisible(!sentence.isEmpty());
    if (sentence == mistake_->text()) return;
    mistake_->setText(sentence);
    QPalette wrong = palette();
    wrong.setColor(QPalette::WindowText, qcolor(colours_of(palette()).waiting));
    mistake_->setPalette(wrong);
    const QString help = editor_->toolTip();
    editor_->setAccessibleDescription(sentence.isEmpty() ? help : sentence);
    editor_->setProperty("wrong", !sentence.isEmpty());
    editor_->setStyleSheet(sentence.isEmpty()
                               ? QString()
                               : QStringLiteral("border: 1px solid %1;")
                                     .arg(qcolor(colours_of(palette()).waiting).name()));
}

void FieldRow::addBeside(QWidget* widget) { beside_->addWidget(widget); }

}  // namespace sluice

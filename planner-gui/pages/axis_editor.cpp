#include "planner-gui/pages/axis_editor.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr int kLetters = 16;  // width of the choice; the rest is for its values

}  // namespace

AxisEditor::AxisEditor(const QString& name, QWidget* parent) : QWidget(parent) {
    auto* const grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    auto* const label = new QLabel(name, this);
    choice_ = new QComboBox(this);
    choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    choice_->setMinimumContentsLength(kLetters);
    values_ = new QLineEdit(this);
    message_ = new QLabel(this);
    label->setBuddy(choice_);
    QString plain = name;
    plain.remove(QLatin1Char('&'));
    choice_->setAccessibleName(tr("%1: what varies").arg(plain));
    values_->setAccessibleName(tr("%1: values").arg(plain));
    values_->setToolTip(tr("values between commas, as in 8,16,32; empty: the proposed ones"));
    message_->setWordWrap(true);
    message_->hide();
    grid->addWidget(label, 0, 0);
    grid->addWidget(choice_, 0, 1);
    grid->addWidget(values_, 0, 2);
    grid->addWidget(message_, 1, 1, 1, 2);
    grid->setColumnStretch(2, 1);
    connect(choice_, &QComboBox::currentIndexChanged, this, [this] {
        propose();
        Q_EMIT changed();
    });
    connect(values_, &QLineEdit::textChanged, this, &AxisEditor::check);
    connect(values_, &QLineEdit::textEdited, this, [this](const QString& typed) {
        typed_ = !typed.isEmpty();
        check();
        Q_EMIT changed();
    });
    connect(values_, &QLineEdit::editingFinished, this, [this] {
        if (!values_->text().isEmpty()) return;
        propose();
        Q_EMIT changed();
    });
}

void AxisEditor::setScenario(const TrainingSpec& training, const MachineProfile& profile) {
    const std::string chosen =
        choice_->currentIndex() < 0
            ? ""
            : numbers_[static_cast<std::size_t>(choice_->currentIndex())].key;
    training_ = training;
    profile_ = profile;
    numbers_ = varied_numbers(training.schedule);
    const QSignalBlocker blocker(choice_);
    choice_->clear();
    for (const VariedNumber& number : numbers_) {
        choice_->addItem(qtext(axis_title(number)), qtext(number.key));
        choice_->setItemData(choice_->count() - 1, qtext(number.help), Qt::ToolTipRole);
    }
    const int index = choice_->findData(qtext(chosen));
    choice_->setCurrentIndex(std::max(0, index));
    if (index < 0 || !typed_) propose();
}

void AxisEditor::choose(const std::string& key) {
    const int index = choice_->findData(qtext(key));
    if (index >= 0) choice_->setCurrentIndex(index);
}

void AxisEditor::propose() {
    const int index = choice_->currentIndex();
    if (index < 0) return;
    const VariedNumber& number = numbers_[static_cast<std::size_t>(index)];
    values_->setText(qtext(values_text(number, proposed_values(number, training_, profile_))));
    values_->setCursorPosition(0);
    choice_->setToolTip(qtext(number.help));
    typed_ = false;
    check();
}

int AxisEditor::ownPlace(const HeatAxis& axis) const {
    const std::optional<double> now = current_value(axis.number, training_, profile_);
    const auto at = std::find(axis.values.begin(), axis.values.end(), now);
    return at == axis.values.end() ? 0 : static_cast<int>(at - axis.values.begin());
}

void AxisEditor::check() {
    axis_.reset();
    error_.clear();
    const int index = choice_->currentIndex();
    if (index < 0) return;
    const VariedNumber& number = numbers_[static_cast<std::size_t>(index)];
    try {
        axis_ = HeatAxis{number, parse_values(number, values_->text().toStdString())};
    } catch (const InputError& error) {
        error_ = QString::fromUtf8(error.what());
    }
    message_->setText(error_);
    message_->setVisible(!error_.isEmpty());
    values_->setAccessibleDescription(error_);
}

}  // namespace sluice

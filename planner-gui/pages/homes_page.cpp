#include "planner-gui/pages/homes_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pages/wrapping_row.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/pictures/homes.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {

HomesPage::HomesPage(QWidget* parent)
    : Page(parent),
      heading_(heading_label(tr("Plan"))),
      effect_(text_label(tr("Time of a step"))),
      shortage_(text_label(tr("Shortage"))),
      view_(new PictureView(tr("Homes on device and host"), this)) {
    auto* const choices = new QWidget(this);
    auto* const row = new WrappingRow;
    choices->setLayout(row);
    for (const Option& option : home_options())
        if (option.members.empty()) addField(option, row);  // a set is of linear layers, no home
    auto* const scroll = new QScrollArea(this);
    put_into(scroll, view_);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(heading_);
    column->addWidget(choices);
    column->addWidget(effect_);
    column->addWidget(shortage_);
    column->addWidget(scroll, 1);
    colour_as_warning(shortage_, this);
    connect(view_, &PictureView::activated, this, [this](int layer) {
        if (prediction_ == nullptr) return;
        const std::int64_t count = resident_up_to(layer, prediction_->report().asked.training);
        Q_EMIT moved(QStringLiteral("resident_layers"), QString::number(count));
    });
    refresh();
}

void HomesPage::addField(const Option& option, QLayout* row) {
    auto* const part = new QWidget(this);
    auto* const both = new QHBoxLayout(part);
    both->setContentsMargins(0, 0, fontMetrics().averageCharWidth(), 0);
    Field made{&option, part, nullptr, nullptr};
    QWidget* editor = nullptr;
    const QString field = QString::fromLatin1(option.field);
    if (option.choices.empty()) {
        editor = made.count = new QSpinBox(part);
        made.count->setKeyboardTracking(false);
        connect(made.count, &QSpinBox::valueChanged, this,
                [this, field](int value) { Q_EMIT moved(field, QString::number(value)); });
        leave_undo_to_window(made.count->findChild<QLineEdit*>());
    } else {
        editor = made.choice = new QComboBox(part);
        for (const Choice& one : option.choices)
            made.choice->addItem(QString::fromLatin1(one.name));
        connect(made.choice, &QComboBox::currentTextChanged, this,
                [this, field](const QString& value) { Q_EMIT moved(field, value); });
    }
    leave_undo_to_window(editor);
    leave_wheel_to_area(editor);
    editor->setFocusPolicy(Qt::StrongFocus);
    const QString words = qtext(field_label(option.field));
    editor->setAccessibleName(words);
    editor->setToolTip(window_text(option_help(option)));
    auto* const label = new QLabel(words, part);
    label->setBuddy(editor);
    label->setToolTip(editor->toolTip());
    both->addWidget(label);
    both->addWidget(editor);
    row->addWidget(part);
    fields_.push_back(made);
}

void HomesPage::setPrediction(std::shared_ptr<const ScenarioAnswer> prediction) {
    prediction_ = std::move(prediction);
    // Changes of one option, one after the other, are compared with the step before the first; a
    // prediction arrives in stages.
    if (prediction_ != nullptr && last_ != nullptr &&
        !ask_the_same(last_->planned, prediction_->planned)) {
        const auto moved_from = [&](const std::shared_ptr<const ScenarioAnswer>& one) {
            return one != nullptr && moved_home(one->report(), prediction_->report());
        };
        if (!moved_from(before_)) before_ = moved_from(last_) ? last_ : nullptr;
    }
    if (prediction_ != nullptr) last_ = prediction_;
    refresh();
}

void HomesPage::setByteUnits(ByteUnits units) {
    units_ = units;
    refresh();
}

void HomesPage::showFields() {
    const TrainingSpec& training = prediction_->report().asked.training;
    const double layers = prediction_->scenario.model.layer_count();
    for (const Field& one : fields_) {
        one.row->setVisible(has_option(training.schedule, *one.option));
        const double value = one.option->get(training);
        if (one.count != nullptr) {
            const QSignalBlocker blocker(one.count);
            one.count->setRange(
                static_cast<int>(one.option->low),
                static_cast<int>(std::max(value, std::min(layers, one.option->high))));
            if (one.count->value() != static_cast<int>(value))
                one.count->setValue(static_cast<int>(value));
        } else {
            const QSignalBlocker blocker(one.choice);
            one.choice->setCurrentText(qtext(option_text(training, *one.option)));
        }
    }
}

void HomesPage::refresh() {
    for (QLabel* const label : {effect_, shortage_}) label->setVisible(prediction_ != nullptr);
    if (prediction_ == nullptr) {
        heading_->setText(tr("No prediction: the form says what is missing or wrong"));
        view_->setPicture({});
        return;
    }
    const Prediction& report = prediction_->report();
    showFields();
    heading_->setText(tr("%1 on %2: %3")
                          .arg(breakable(report.asked.model_name), qtext(report.asked.machine_name),
                               report.plan.fit.fits() ? tr("fits") : tr("does not fit")));
    effect_->setText(qtext(home_words(report, before_ == nullptr ? nullptr : &before_->report())));
    QStringList words;
    for (const std::string& sentence : shortages(report.plan, bytes_text(units_)))
        words += qtext(sentence);
    shortage_->setText(words.join(QLatin1Char('\n')));
    shortage_->setVisible(!words.isEmpty());
    view_->setPicture([shown = prediction_,
                       homes = homes_of(prediction_->scenario.model, report.asked.training),
                       units = units_](const PictureSpace& space) {
        return homes_picture(shown->report(), homes, units, space);
    });
}

QByteArray HomesPage::svg() const { return view_->svg(); }

QString HomesPage::csv() const {
    return prediction_ ? qtext(to_csv(homes_table(prediction_->report()))) : QString();
}

}  // namespace sluice

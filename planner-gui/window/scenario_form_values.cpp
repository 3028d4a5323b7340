// The form's values: read from and written to a scenario, and marked if wrong.
#include <QSignalBlocker>

#include "planner-gui/models/machine_numbers.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/scenario_form.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

/// The default of a field with choices; empty for other fields.
std::string standard_choice(const std::string& field) {
    for (const Option& option : training_options())
        if (field == option.field && !option.choices.empty())
            return option_text(TrainingSpec{}, option);
    for (const MoneyOption& option : money_options())
        if (field == option.field && !option.choices.empty()) return option.choices.front();
    return {};
}

/// Offers by name, and "Nebius on-demand: rented, 2026-05-25, $3.50 an hour for each GPU".
std::vector<std::pair<QString, QString>> offers_of(const Scenario& scenario) {
    std::vector<std::pair<QString, QString>> out;
    const PriceList prices = price_list(scenario.profile, scenario.money.quotes);
    for (const Offer& one : prices.offers)
        out.emplace_back(
            qtext(one.name),
            QObject::tr("%1: %2, %3, %4 an hour for each GPU%5")
                .arg(qtext(one.name), QString::fromLatin1(offer_kind_name(one.kind)),
                     qtext(one.date), qtext(format_usd(one.usd_per_hour)),
                     one.rented_gpus > 1 ? QObject::tr(", in multiples of %1").arg(one.rented_gpus)
                                         : QString()));
    return out;
}

}  // namespace

void ScenarioForm::take(const FieldRow& row) {
    const QString text = row.text();
    const std::string field = row.field().toStdString(), value = text.toStdString();
    const PlannedScenario before = planned_;
    if (field == "settings") {
        planned_.machine.settings.clear();
        for (const QString& one : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            planned_.machine.settings.push_back(one.toStdString());
    } else {
        // A number equal to the default stays as typed, since it may be the start of another
        // number.
        planned_ = with_value(planned_, field, value == standard_choice(field) ? "" : value);
    }
    if (planned_ == before) return;
    if (field == "schedule") showUsedOptions();
    Q_EMIT edited(planned_, row.field(), row.label().remove(QLatin1Char('&')).toLower());
}

void ScenarioForm::editNumber(int row, const QString& value) {
    const QString path = numbers_->index(row, 0).data(Qt::EditRole).toString();
    const PlannedScenario before = planned_;
    planned_ = with_value(planned_, path.toStdString(), value.toStdString());
    if (planned_ != before) Q_EMIT edited(planned_, QStringLiteral("settings ") + path, path);
}

void ScenarioForm::setScenario(const PlannedScenario& planned) {
    planned_ = planned;
    rows_[QStringLiteral("model")]->setText(qtext(planned.model.model));
    rows_[QStringLiteral("layers")]->setText(qtext(planned.model.layers.value_or("")));
    rows_[QStringLiteral("machine")]->setText(qtext(planned.machine.machine));
    rows_[QStringLiteral("host_memory")]->setText(qtext(planned.machine.host_memory.value_or("")));
    QStringList settings;
    for (const std::string& one : planned.machine.settings) settings << qtext(one);
    rows_[QStringLiteral("settings")]->setText(settings.join(QLatin1Char(' ')));
    for (const Option& option : training_options()) {
        const auto given = planned.training.find(option.field);
        const bool choice = !option.choices.empty();
        const std::string standard = choice ? option_text(TrainingSpec{}, option) : "";
        rows_[QString::fromLatin1(option.field)]->setText(
            qtext(given == planned.training.end() ? standard : given->second));
    }
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        const std::string standard = option.choices.empty() ? "" : option.choices.front();
        rows_[QString::fromLatin1(option.field)]->setText(
            qtext(given == planned.money.end() ? standard : given->second));
    }
    const QSignalBlocker blocker(untied_);
    untied_->setChecked(planned.model.untied);
    showUsedOptions();
}

void ScenarioForm::setResolved(const Scenario& scenario) {
    clearMistakes();
    host_memory_ = scenario.machine.host.memory_capacity;
    showHostMemory();
    rows_[QStringLiteral("layers")]->setPlaceholder(QString::number(scenario.model.layer_count()));
    numbers_->setTable(
        machine_numbers_table(scenario.profile, scenario.machine, planned_.machine.settings));
    rows_[QStringLiteral("settings")]->setVisible(!planned_.machine.settings.empty());
    rows_[QStringLiteral("offer")]->setChoices(offers_of(scenario));
}

void ScenarioForm::setByteUnits(ByteUnits units) {
    units_ = units;
    showHostMemory();
}

void ScenarioForm::showHostMemory() {
    if (host_memory_ > 0)
        rows_[QStringLiteral("host_memory")]->setPlaceholder(
            byte_text(static_cast<double>(host_memory_), units_));
}

void ScenarioForm::clearMistakes() {
    mistake_->hide();
    for (const auto& [field, one] : rows_) one->setMistake({});
}

void ScenarioForm::setMistake(const QString& field, const QString& sentence) {
    clearMistakes();
    FieldRow* const marked = row(field);
    if (marked != nullptr) {
        marked->show();
        marked->setMistake(sentence);
        return;
    }
    QPalette wrong = palette();
    wrong.setColor(QPalette::WindowText, qcolor(colours_of(palette()).waiting));
    mistake_->setPalette(wrong);
    mistake_->setText(sentence);
    mistake_->show();
}

FieldRow* ScenarioForm::row(const QString& field) const {
    const auto found = rows_.find(field);
    return found == rows_.end() ? nullptr : found->second;
}

void ScenarioForm::enter(const QString& field, const QString& text) {
    row(field)->setText(text);
    take(*row(field));
}

void ScenarioForm::showUsedOptions() {
    TrainingSpec training;
    const Option& schedule = training_options().front();
    for (const Choice& choice : schedule.choices)
        if (row(QStringLiteral("schedule"))->text() == QLatin1StringView(choice.name))
            schedule.set(training, choice.value);
    row(QStringLiteral("schedule"))->setHelp(QString::fromUtf8(training.schedule->about));
    row(QStringLiteral("schedule"))->showHelp(true);
    for (const Option& option : training_options()) {
        FieldRow* const one = row(QString::fromLatin1(option.field));
        const bool given = planned_.training.contains(option.field);
        // An option that the system does not have is shown if it is given, since that is a mistake.
        one->setVisible(has_option(training.schedule, option) || given);
    }
    row(QStringLiteral("settings"))->setVisible(!planned_.machine.settings.empty());
}

}  // namespace sluice

// The form's values: from a scenario, to a scenario, and what is wrong with them.
#include <QSignalBlocker>

#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/scenario_form.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

QString from(const std::string& text) { return QString::fromStdString(text); }

std::optional<std::string> if_given(const QString& text) {
    if (text.isEmpty()) return std::nullopt;
    return text.toStdString();
}

const Option* option_of(const QString& field) {
    for (const Option& option : training_options())
        if (field == QLatin1StringView(option.field)) return &option;
    return nullptr;
}

}  // namespace

void ScenarioForm::take(const FieldRow& row) {
    const QString text = row.text();
    const std::string field = row.field().toStdString(), value = text.toStdString();
    const PlannedScenario before = planned_;
    if (const Option* const option = option_of(row.field())) {
        // A number that is the default stays as typed: it may be the start of another.
        const bool standard = option->choices.empty()
                                  ? text.isEmpty()
                                  : value == option_text(TrainingSpec{}, *option);
        standard ? void(planned_.training.erase(field)) : void(planned_.training[field] = value);
    } else if (field == "model") {
        planned_.model.model = value;
    } else if (field == "layers") {
        planned_.model.layers = if_given(text);
    } else if (field == "machine") {
        planned_.machine.machine = value;
    } else if (field == "host_memory") {
        planned_.machine.host_memory = if_given(text);
    } else if (field == "settings") {
        planned_.machine.settings.clear();
        for (const QString& one : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            planned_.machine.settings.push_back(one.toStdString());
    } else {
        text.isEmpty() ? void(planned_.money.erase(field)) : void(planned_.money[field] = value);
    }
    if (planned_ == before) return;
    if (field == "schedule") showUsedOptions();
    Q_EMIT edited(planned_, row.field(), row.label().remove(QLatin1Char('&')).toLower());
}

void ScenarioForm::editNumber(const QString& path, const QString& value) {
    const PlannedScenario before = planned_;
    std::vector<std::string>& settings = planned_.machine.settings;
    const std::string start = path.toStdString() + "=";
    std::erase_if(settings, [&](const std::string& one) { return one.starts_with(start); });
    if (!value.isEmpty()) settings.push_back(start + value.toStdString());
    if (planned_ != before) Q_EMIT edited(planned_, QStringLiteral("settings ") + path, path);
}

void ScenarioForm::setScenario(const PlannedScenario& planned) {
    planned_ = planned;
    rows_[QStringLiteral("model")]->setText(from(planned.model.model));
    rows_[QStringLiteral("layers")]->setText(from(planned.model.layers.value_or("")));
    rows_[QStringLiteral("machine")]->setText(from(planned.machine.machine));
    rows_[QStringLiteral("host_memory")]->setText(from(planned.machine.host_memory.value_or("")));
    QStringList settings;
    for (const std::string& one : planned.machine.settings) settings << from(one);
    rows_[QStringLiteral("settings")]->setText(settings.join(QLatin1Char(' ')));
    for (const Option& option : training_options()) {
        const auto given = planned.training.find(option.field);
        const bool choice = !option.choices.empty();
        const std::string standard = choice ? option_text(TrainingSpec{}, option) : "";
        rows_[QString::fromLatin1(option.field)]->setText(
            from(given == planned.training.end() ? standard : given->second));
    }
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        const auto row = rows_.find(QString::fromLatin1(option.field));
        if (row != rows_.end())
            row->second->setText(from(given == planned.money.end() ? "" : given->second));
    }
    const auto buy = planned.money.find("buy");
    for (const auto& [box, on] :
         {std::pair(untied_, planned.model.untied),
          std::pair(buy_, buy != planned.money.end() && buy->second == "1")}) {
        const QSignalBlocker blocker(box);
        box->setChecked(on);
    }
    showUsedOptions();
}

void ScenarioForm::setResolved(const Scenario& scenario) {
    clearMistakes();
    host_memory_ = scenario.machine.host.memory_capacity;
    showHostMemory();
    rows_[QStringLiteral("layers")]->setPlaceholder(QString::number(scenario.model.layer_count()));
    numbers_->setMachine(scenario.profile, scenario.machine, planned_.machine.settings);
    rows_[QStringLiteral("settings")]->setVisible(!planned_.machine.settings.empty());
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

void ScenarioForm::openModel(const QString& file) {
    FieldRow* const model = row(QStringLiteral("model"));
    model->setText(file);
    take(*model);
}

void ScenarioForm::openMachine(const QString& file) {
    FieldRow* const machine = row(QStringLiteral("machine"));
    machine->setText(file);
    take(*machine);
}

void ScenarioForm::showUsedOptions() {
    TrainingSpec training;
    const Option& schedule = training_options().front();
    for (const Choice& choice : schedule.choices)
        if (row(QStringLiteral("schedule"))->text() == QLatin1StringView(choice.name))
            schedule.set(training, choice.value);
    for (const Option& option : training_options()) {
        FieldRow* const one = row(QString::fromLatin1(option.field));
        const bool given = planned_.training.contains(option.field);
        // One that is given although the system does not have it is shown, as it is a mistake.
        one->setVisible(has_option(training.schedule, option) || given);
    }
    row(QStringLiteral("settings"))->setVisible(!planned_.machine.settings.empty());
}

}  // namespace sluice

#include "planner-gui/window/scenario_form.h"

#include <QFileDialog>
#include <QGroupBox>
#include <QHeaderView>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/pictures/palette.h"
#include "sim/model/read_model.h"
#include "sim/report/format.h"
#include "sim/scenario/money_options.h"

namespace sluice {
namespace {

QString from(const std::string& text) { return QString::fromStdString(text); }

/// "micro_batch" as people read it: "Micro batch".
QString label_of(const char* field) {
    QString label = QString::fromLatin1(field);
    label.replace(QLatin1Char('_'), QLatin1Char(' '));
    label[0] = label[0].toUpper();
    if (label == QLatin1String("Schedule")) return QObject::tr("System");
    if (label == QLatin1String("Seq")) return QObject::tr("Sequence");
    return label;
}

QStringList model_names() {
    QStringList out;
    for (const std::string& name : library_models()) out << from(name);
    for (const ScaledTarget& target : scaled_targets()) out << QString::fromLatin1(target.name);
    return out;
}

QStringList machine_names() {
    QStringList out;
    for (const std::string& name : library_machines()) out << from(name);
    return out;
}

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

ScenarioForm::ScenarioForm(QWidget* parent)
    : QScrollArea(parent), numbers_(new MachineNumbersModel(this)) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* const content = new QWidget(this);
    groups_ = new QVBoxLayout(content);
    mistake_ = new QLabel(content);
    mistake_->setWordWrap(true);
    mistake_->hide();
    groups_->addWidget(mistake_);
    addModel();
    addMachine();
    addTraining();
    addMoney();
    groups_->addStretch(1);
    setWidget(content);
    // Nothing is cut at the right.
    setMinimumWidth(content->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width());
    connect(numbers_, &MachineNumbersModel::edited, this, &ScenarioForm::editNumber);
    showUsedOptions();
}

QVBoxLayout* ScenarioForm::addGroup(const QString& title) {
    auto* const box =
        new QGroupBox(title, widget() == nullptr ? mistake_->parentWidget() : widget());
    groups_->addWidget(box);
    auto* const column = new QVBoxLayout(box);
    const int margin = fontMetrics().averageCharWidth();
    column->setContentsMargins(margin, margin, margin, margin);
    column->setSpacing(margin / 2);
    return column;
}

FieldRow* ScenarioForm::addRow(QVBoxLayout* group, const QString& field, const QString& label,
                               FieldRow::Kind kind, const QStringList& choices) {
    auto* const row = new FieldRow(field, label, kind, choices, group->parentWidget());
    group->addWidget(row);
    rows_[field] = row;
    connect(row, &FieldRow::edited, this, [this, row] { take(*row); });
    return row;
}

void ScenarioForm::chooseFile(const QString& title, void (ScenarioForm::*open)(const QString&)) {
    const QString file = QFileDialog::getOpenFileName(this, title, QString(),
                                                      tr("JSON files (*.json);;All files (*)"));
    if (!file.isEmpty()) (this->*open)(file);
}

void ScenarioForm::addModel() {
    QVBoxLayout* const group = addGroup(tr("Model"));
    FieldRow* const model =
        addRow(group, QStringLiteral("model"), tr("&Model"), FieldRow::Kind::search, model_names());
    model->setHelp(
        tr("A name of the library, a path to a Hugging Face config.json, or a shape: "
           "dense:layers=80,hidden=8192,heads=64. A config.json can be dropped on the "
           "window."));
    auto* const open = new QToolButton(model);
    open->setText(tr("Open..."));
    open->setToolTip(tr("Open a Hugging Face config.json"));
    open->setAccessibleName(open->toolTip());
    model->addBeside(open);
    connect(open, &QToolButton::clicked, this,
            [this] { chooseFile(tr("Open config.json"), &ScenarioForm::openModel); });
    addRow(group, QStringLiteral("layers"), tr("Layers"), FieldRow::Kind::text)
        ->setHelp(tr("Only the first so many layers of the model; empty: all of them"));
    untied_ = new QCheckBox(tr("Output projection of its own"), group->parentWidget());
    untied_->setObjectName(QStringLiteral("untied"));
    untied_->setToolTip(tr("Even where the model ties it to the embedding"));
    group->addWidget(untied_);
    connect(untied_, &QCheckBox::toggled, this, [this](bool on) {
        planned_.model.untied = on;
        Q_EMIT edited(planned_, QStringLiteral("untied"), untied_->text());
    });
}

void ScenarioForm::addMachine() {
    QVBoxLayout* const group = addGroup(tr("Machine"));
    FieldRow* const machine = addRow(group, QStringLiteral("machine"), tr("M&achine"),
                                     FieldRow::Kind::search, machine_names());
    machine->setHelp(
        tr("A name of the library, with a host memory size if wanted (h200-sxm-pcie5-1.5tb), or a "
           "path to a profile of your own"));
    auto* const open = new QToolButton(machine);
    open->setText(tr("Open..."));
    open->setToolTip(tr("Open a machine's profile"));
    open->setAccessibleName(open->toolTip());
    machine->addBeside(open);
    connect(open, &QToolButton::clicked, this,
            [this] { chooseFile(tr("Open a machine's profile"), &ScenarioForm::openMachine); });
    addRow(group, QStringLiteral("host_memory"), tr("&Host memory"), FieldRow::Kind::text)
        ->setHelp(tr("Another size of host memory, as 1.5TB or 128GiB; empty: the machine's own"));

    auto* const toggle = new QToolButton(group->parentWidget());
    toggle->setText(tr("Numbers of the machine"));
    toggle->setCheckable(true);
    toggle->setArrowType(Qt::RightArrow);
    toggle->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    toggle->setAutoRaise(true);
    group->addWidget(toggle);
    numbers_view_ = new QTableView(group->parentWidget());
    numbers_view_->setModel(numbers_);
    numbers_view_->setAccessibleName(tr("Numbers of the machine on which the prediction rests"));
    numbers_view_->setToolTip(tr("Another value answers what if; an empty one is the profile's"));
    numbers_view_->verticalHeader()->hide();
    numbers_view_->setTextElideMode(Qt::ElideMiddle);
    numbers_view_->setTabKeyNavigation(false);
    QHeaderView* const header = numbers_view_->horizontalHeader();
    header->setSectionResizeMode(MachineNumbersModel::PathColumn, QHeaderView::Stretch);
    header->setSectionResizeMode(MachineNumbersModel::ValueColumn, QHeaderView::ResizeToContents);
    header->setSectionResizeMode(MachineNumbersModel::SourceColumn, QHeaderView::ResizeToContents);
    numbers_view_->setMinimumHeight(numbers_view_->fontMetrics().height() * 14);
    numbers_view_->hide();
    group->addWidget(numbers_view_);
    auto* const settings = new FieldRow(QStringLiteral("settings"), tr("Changed"),
                                        FieldRow::Kind::text, {}, group->parentWidget());
    settings->setHelp(
        tr("Other values for numbers of the machine: PATH=NUMBER, several with a "
           "space between them"));
    rows_[QStringLiteral("settings")] = settings;
    connect(settings, &FieldRow::edited, this, [this, settings] { take(*settings); });
    group->addWidget(settings);
    connect(toggle, &QToolButton::toggled, this, [this, toggle](bool on) {
        toggle->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
        numbers_view_->setVisible(on);
    });
}

void ScenarioForm::addTraining() {
    QVBoxLayout* const group = addGroup(tr("Training"));
    for (const Option& option : training_options()) {
        QStringList choices;
        for (const Choice& choice : option.choices) choices << QString::fromLatin1(choice.name);
        FieldRow* const row =
            addRow(group, QString::fromLatin1(option.field), label_of(option.field),
                   choices.isEmpty() ? FieldRow::Kind::text : FieldRow::Kind::choice, choices);
        row->setHelp(from(option_help(option)));
        row->setPlaceholder(from(option_text(TrainingSpec{}, option)));
        if (!option.is_memory) row->setUnit(QString::fromLatin1(option.unit));
    }
}

void ScenarioForm::addMoney() {
    QVBoxLayout* const group = addGroup(tr("Money and energy"));
    for (const MoneyOption& option : money_options()) {
        const QString field = QString::fromLatin1(option.field);
        if (option.kind == MoneyOption::Kind::flag) {
            buy_ = new QCheckBox(label_of(option.field), group->parentWidget());
            buy_->setObjectName(field);
            buy_->setToolTip(QString::fromLatin1(option.help));
            group->addWidget(buy_);
            connect(buy_, &QCheckBox::toggled, this, [this, field](bool on) {
                on ? void(planned_.money[field.toStdString()] = "1")
                   : void(planned_.money.erase(field.toStdString()));
                Q_EMIT edited(planned_, field, buy_->text());
            });
            continue;
        }
        FieldRow* const row = addRow(group, field, label_of(option.field), FieldRow::Kind::text);
        row->setHelp(from(std::string(option.help) +
                          (option.standard.empty() ? "" : "; default " + option.standard)));
        row->setPlaceholder(from(option.standard.substr(0, option.standard.find(','))));
        row->setUnit(QString::fromLatin1(option.unit));
    }
}

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
    for (const auto& [box, on] : {std::pair(untied_, planned.model.untied),
                                  std::pair(buy_, planned.money.contains("buy"))}) {
        const QSignalBlocker blocker(box);
        box->setChecked(on);
    }
    showUsedOptions();
}

void ScenarioForm::setResolved(const Scenario& scenario) {
    clearMistakes();
    rows_[QStringLiteral("host_memory")]->setPlaceholder(
        from(format_bytes(static_cast<double>(scenario.machine.host.memory_capacity))));
    rows_[QStringLiteral("layers")]->setPlaceholder(QString::number(scenario.model.layer_count()));
    numbers_->setMachine(scenario.profile, scenario.machine, planned_.machine.settings);
    rows_[QStringLiteral("settings")]->setVisible(!planned_.machine.settings.empty());
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
    wrong.setColor(QPalette::WindowText, Palette(palette()).waiting());
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

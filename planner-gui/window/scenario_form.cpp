#include "planner-gui/window/scenario_form.h"

#include <QGroupBox>
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/window/file_dialogs.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

QString label_of(const char* field) { return qtext(field_label(field)); }

}  // namespace

QStringList model_names() {
    QStringList out;
    for (const std::string& name : library_models()) out << qtext(name);
    for (const ScaledTarget& target : scaled_targets()) out << QString::fromLatin1(target.name);
    return out;
}

QStringList machine_names() {
    QStringList out;
    for (const std::string& name : library_machines()) out << qtext(name);
    return out;
}

ScenarioForm::ScenarioForm(QWidget* parent) : QScrollArea(parent), numbers_(new TableModel(this)) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* const content = new QWidget(this);
    groups_ = new QVBoxLayout(content);
    mistake_ = new QLabel(content);
    mistake_->setWordWrap(true);
    mistake_->setTextFormat(Qt::PlainText);
    mistake_->hide();
    groups_->addWidget(mistake_);
    auto* const explain = new QCheckBox(tr("E&xplain each field"), content);
    explain->setObjectName(QStringLiteral("explain"));
    groups_->addWidget(explain);
    connect(explain, &QCheckBox::toggled, this, [this](bool on) {
        for (const auto& [field, row] : rows_)
            row->showHelp(on || field == QStringLiteral("schedule"));
    });
    addModel();
    addMachine();
    addTraining();
    addMoney();
    groups_->addStretch(1);
    setWidget(content);
    // Prevents labels from being cut at the right.
    setMinimumWidth(content->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width());
    numbers_->setEditable("value");
    connect(numbers_, &TableModel::edited, this, &ScenarioForm::editNumber);
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

void ScenarioForm::addOpen(FieldRow* row, const QString& what) {
    auto* const open = new QToolButton(row);
    open->setText(tr("Open..."));
    open->setToolTip(what);
    open->setAccessibleName(what);
    row->addBeside(open);
    connect(open, &QToolButton::clicked, this, [this, row, what] {
        const QString file = choose_to_open(this, what, tr("JSON files (*.json);;All files (*)"));
        if (!file.isEmpty()) enter(row->field(), file);
    });
}

void ScenarioForm::addModel() {
    QVBoxLayout* const group = addGroup(tr("Model"));
    FieldRow* const model =
        addRow(group, QStringLiteral("model"), tr("&Model"), FieldRow::Kind::search, model_names());
    model->setHelp(
        tr("A name of the library, a path to a Hugging Face config.json, or a shape: "
           "dense:layers=80,hidden=8192,heads=64. A config.json can be dropped on the "
           "window."));
    addOpen(model, tr("Open a Hugging Face config.json"));
    addRow(group, QStringLiteral("layers"), tr("Layers"), FieldRow::Kind::text)
        ->setHelp(tr("Number of layers to keep, from the first on; empty: all of them"));
    untied_ = new QCheckBox(label_of("untied"), group->parentWidget());
    untied_->setObjectName(QStringLiteral("untied"));
    untied_->setToolTip(tr("For models that tie it to the embedding"));
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
        tr("A name of the library, optionally with a host memory size (h200-sxm-pcie5-1.5tb), or a "
           "path to a profile of your own"));
    addOpen(machine, tr("Open a machine's profile"));
    addRow(group, QStringLiteral("host_memory"), tr("H&ost memory"), FieldRow::Kind::text)
        ->setHelp(tr("Another size of host memory with its unit (1.5TB or 128GiB); empty: the "
                     "machine's own"));
    addNumbers(group);
}

void ScenarioForm::addNumbers(QVBoxLayout* group) {
    auto* const toggle = new QToolButton(group->parentWidget());
    toggle->setText(tr("Numbers of the machine"));
    toggle->setCheckable(true);
    toggle->setArrowType(Qt::RightArrow);
    toggle->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    toggle->setAutoRaise(true);
    group->addWidget(toggle);
    numbers_view_ = new QTableView(group->parentWidget());
    numbers_view_->setModel(numbers_);
    numbers_view_->setAccessibleName(tr("Numbers of the machine that the prediction uses"));
    numbers_view_->setToolTip(
        tr("Enter another value to ask what if; an empty field takes the profile's"));
    numbers_view_->verticalHeader()->hide();
    numbers_view_->setTextElideMode(Qt::ElideRight);
    numbers_view_->setTabKeyNavigation(false);
    QHeaderView* const header = numbers_view_->horizontalHeader();
    connect(numbers_, &QAbstractItemModel::modelReset, header, [header] {
        header->setSectionResizeMode(QHeaderView::ResizeToContents);
        header->setSectionResizeMode(0, QHeaderView::Stretch);
    });
    numbers_view_->setMinimumHeight(numbers_view_->fontMetrics().height() * 14);
    numbers_view_->hide();
    group->addWidget(numbers_view_);
    addRow(group, QStringLiteral("settings"), tr("Changed"), FieldRow::Kind::text)
        ->setHelp(
            tr("Other values for numbers of the machine: PATH=NUMBER, several with a space between "
               "them"));
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
        row->setHelp(window_text(option_help(option)));
        row->setPlaceholder(qtext(option_text(TrainingSpec{}, option)));
        if (!option.is_memory) row->setUnit(QString::fromLatin1(option.unit));
        if (!option.zero.empty() && option.get(TrainingSpec{}) == 0)
            row->setZero(qtext(option.zero));
    }
}

void ScenarioForm::addMoney() {
    QVBoxLayout* const group = addGroup(tr("Money and energy"));
    for (const MoneyOption& option : money_options()) {
        const QString field = QString::fromLatin1(option.field);
        const bool listed = field == QStringLiteral("offer");  // of the machine
        QStringList choices;
        for (const std::string& choice : option.choices) choices << qtext(choice);
        FieldRow* const row = addRow(group, field, label_of(option.field),
                                     listed              ? FieldRow::Kind::search
                                     : choices.isEmpty() ? FieldRow::Kind::text
                                                         : FieldRow::Kind::choice,
                                     choices);
        row->setHelp(window_text(money_help(option)));
        row->setPlaceholder(qtext(option.standard.substr(0, option.standard.find(','))));
        row->setUnit(QString::fromLatin1(option.unit));
    }
}

}  // namespace sluice

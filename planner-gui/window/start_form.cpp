#include "planner-gui/window/start_form.h"

#include <QGridLayout>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/window/field_row.h"
#include "planner-gui/window/scenario_form.h"

namespace sluice {
namespace {

constexpr int kFieldColumns = 2;

}  // namespace

StartForm::StartForm(QWidget* parent) : QWidget(parent) {
    const int text = static_cast<int>(FieldRow::Kind::text),
              choice = static_cast<int>(FieldRow::Kind::choice),
              search = static_cast<int>(FieldRow::Kind::search);
    const QString tuning = QString::fromLatin1(task_name(Task::full_fine_tune)),
                  pretraining = QString::fromLatin1(task_name(Task::pretrain));
    const QList<FieldRow*> rows = {
        addRow("model", tr("M&odel"), search, model_names(), QStringLiteral("qwen2.5-14b"),
               tr("A name of the list, a path to a Hugging Face config.json, or a size: 32B")),
        addRow("task", tr("&Task"), choice, {tuning, pretraining}, tuning,
               tr("Both train all parameters. A step of fine-tuning has %1 tokens, one of "
                  "pretraining %2.")
                   .arg(qtext(step_tokens_text(Task::full_fine_tune)),
                        qtext(step_tokens_text(Task::pretrain)))),
        addRow("tokens", tr("To&kens"), text, {}, QStringLiteral("1B"),
               tr("Tokens of the whole run: 500M, 2B or 1.5T; most: as many as deadline and budget "
                  "allow")),
        addRow("seq", tr("&Context"), text, {}, QStringLiteral("4096"), tr("Tokens of a sequence")),
        addRow("days", tr("&Deadline"), text, {}, QString(),
               tr("Days until the run must have ended; empty: it may take any time")),
        addRow("budget_usd", tr("&Budget"), text, {}, QString(),
               tr("Dollars for the whole run; empty: any price")),
        addRow("owned", tr("O&wn machine"), search, QStringList{QString()} + machine_names(),
               QString(),
               tr("A machine that you have already: it costs its electricity alone; empty: none")),
        addRow("owned_gpus", tr("Own &GPUs"), text, {}, QString(),
               tr("How many GPUs your machine has; empty: all of a node")),
        addRow("owned_memory", tr("Own memor&y"), text, {}, QString(),
               tr("Host memory of your machine, as 512GB; empty: as the list says"))};
    for (const char* const field : {"days", "budget_usd"}) row(field)->setPlaceholder(tr("any"));
    row("owned_gpus")->setPlaceholder(tr("all of a node"));
    row("owned_memory")->setPlaceholder(tr("as the machine is sold"));
    row("days")->setUnit(tr("days"));
    row("budget_usd")->setUnit(QStringLiteral("$"));
    row("seq")->setUnit(tr("tokens"));
    auto* const grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(2 * fontMetrics().height());
    for (int i = 0; i < rows.size(); ++i)
        grid->addWidget(rows[i], i / kFieldColumns, i % kFieldColumns);
    standard_ = fields();
}

FieldRow* StartForm::addRow(const std::string& field, const QString& label, int kind,
                            const QStringList& choices, const QString& value, const QString& help) {
    auto* const row = new FieldRow(QString::fromStdString(field), label,
                                   static_cast<FieldRow::Kind>(kind), choices, this);
    row->setText(value);
    row->setHelp(help);
    rows_[field] = row;
    connect(row, &FieldRow::edited, this, [this, row] {
        row->setMistake({});
        Q_EMIT edited();
    });
    for (QLineEdit* const line : row->findChildren<QLineEdit*>())
        connect(line, &QLineEdit::returnPressed, this, &StartForm::entered);
    return row;
}

StartFields StartForm::fields() const {
    StartFields out;
    for (const auto& [field, row] : rows_)
        if (!row->text().isEmpty()) out[field] = row->text().toStdString();
    return out;
}

void StartForm::setFields(const StartFields& fields) {
    for (const auto& [field, row] : rows_) {
        const auto typed = fields.find(field);
        row->setText(typed == fields.end() ? QString() : qtext(typed->second));
        row->setMistake({});
    }
}

std::optional<RunQuestion> StartForm::question() {
    const StartQuestion read = read_start_question(fields());
    for (const auto& [field, row] : rows_) {
        const auto mistake = read.mistakes.find(field);
        row->setMistake(mistake == read.mistakes.end() ? QString() : mistake->second);
    }
    return read.question;
}

}  // namespace sluice

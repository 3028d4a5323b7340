#include "planner-gui/pages/compare_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/answer_stack.h"
#include "planner-gui/pages/failure_label.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pages/systems_part.h"

namespace sluice {
namespace {

/// More columns than this get a fixed width and scroll.
constexpr int kFewScenarios = 4;

constexpr int kMostNameLines = 3;

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : QWidget(parent),
      scenario_model_(new TableModel(this, true)),
      differences_(new QSortFilterProxyModel(this)),
      parts_(new QTabWidget),
      systems_(new SystemsPart) {
    setAccessibleName(tr("Compare"));
    differences_->setSourceModel(scenario_model_);
    differences_->setFilterRole(TableModel::kMarkedRole);
    parts_->setDocumentMode(true);
    parts_->addTab(scenariosPart(), tr("S&cenarios"));
    parts_->addTab(systems_, tr("S&ystems"));
    auto* const layout = new QVBoxLayout(this);
    layout->addWidget(parts_);
    showScenarios();
}

QWidget* ComparePage::scenariosPart() {
    scenario_words_ = text_label(tr("What differs"));
    only_differences_ = new QCheckBox(tr("Only &differences"));
    only_differences_->setToolTip(tr("Hide the rows in which all scenarios agree"));
    connect(only_differences_, &QCheckBox::toggled, this, &ComparePage::showScenarios);
    scenario_table_ = table_view(differences_, tr("Scenarios side by side"), false);
    scenario_table_->setSelectionBehavior(QAbstractItemView::SelectItems);
    scenario_table_->verticalHeader()->show();
    // As the cells are.
    scenario_table_->horizontalHeader()->setDefaultAlignment(
        static_cast<Qt::Alignment>(Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap));
    scenario_table_->setAlternatingRowColors(false);
    scenario_table_->setWordWrap(true);
    scenario_bars_ = new PictureView(tr("Tokens per second of each scenario"));
    connect(scenario_bars_, &PictureView::activated, this, &ComparePage::scenarioActivated);
    connect(scenario_table_->horizontalHeader(), &QHeaderView::sectionDoubleClicked, this,
            &ComparePage::scenarioActivated);

    auto* const answer = new QWidget;
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    auto* const row = new QHBoxLayout;
    row->addWidget(scenario_words_, 1);
    row->addWidget(only_differences_);
    column->addLayout(row);
    column->addWidget(scenario_table_, kAlmostAll);
    column->addWidget(new FittedArea(scenario_bars_));
    column->addStretch(1);
    stack_ = new AnswerStack(answer, tr("Nothing to compare yet"),
                             tr("Each scenario that can be predicted is a column here. The form "
                                "says what is missing in this one."));
    auto* const part = new QWidget;
    scenario_failure_ = new FailureLabel(part);
    auto* const layout = new QVBoxLayout(part);
    layout->addWidget(scenario_failure_);
    layout->addWidget(stack_, 1);
    return part;
}

void ComparePage::setScenarios(std::vector<ComparedScenario> scenarios) {
    scenarios_ = std::move(scenarios);
    scenario_model_->setTable(scenario_table(scenarios_, units_), units_);
    scenario_failure_->forget();
    showScenarios();
}

void ComparePage::failScenarios(const QString& sentence) {
    scenario_failure_->say(sentence, !scenarios_.empty());
}

void ComparePage::setByteUnits(ByteUnits units) {
    units_ = units;
    scenario_model_->setTable(scenario_table(scenarios_, units_), units_);
    systems_->setByteUnits(units);
    showScenarios();
}

void ComparePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fitRows();
}

void ComparePage::fitRows() {
    // Once the columns have their widths.
    QMetaObject::invokeMethod(
        this,
        [this] {
            scenario_table_->resizeRowsToContents();
            fitNames();
        },
        Qt::QueuedConnection);
}

/// Long names of scenarios get several lines.
void ComparePage::fitNames() {
    QHeaderView* const header = scenario_table_->horizontalHeader();
    const QFontMetrics metrics = header->fontMetrics();
    const int line = metrics.lineSpacing();
    int height = line;
    for (int i = 0; i < static_cast<int>(scenarios_.size()); ++i) {
        const QRect room(0, 0, header->sectionSize(i) - line / 2, kMostNameLines * line);
        height = std::max(height, metrics
                                      .boundingRect(room, Qt::TextWordWrap,
                                                    scenarios_[static_cast<std::size_t>(i)].name)
                                      .height());
    }
    header->setFixedHeight(std::min(height, kMostNameLines * line) + line / 2);
}

void ComparePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitRows();
}

void ComparePage::showScenarios() {
    stack_->show_answer(!scenarios_.empty());
    const bool several = scenarios_.size() > 1;
    differences_->setFilterFixedString(
        only_differences_->isChecked() && several ? QStringLiteral("true") : QString());
    int differing = 0;
    for (int row = 0; row < scenario_model_->rowCount(); ++row)
        differing +=
            scenario_model_->headerData(row, Qt::Vertical, TableModel::kMarkedRole).toBool();
    scenario_words_->setText(
        several ? tr("%1 scenarios, %2 of %3 rows differ (bold, on yellow).")
                      .arg(scenarios_.size())
                      .arg(differing)
                      .arg(scenario_model_->rowCount())
                : tr("One scenario: duplicate it and change something to compare."));
    only_differences_->setEnabled(several);
    const bool few = scenarios_.size() <= kFewScenarios;
    QHeaderView* const header = scenario_table_->horizontalHeader();
    header->setSectionResizeMode(few ? QHeaderView::Stretch : QHeaderView::Interactive);
    if (!few) header->setDefaultSectionSize(18 * fontMetrics().height());
    fitRows();
    if (scenarios_.empty()) return scenario_bars_->setPicture({});
    scenario_bars_->setPicture(
        [chart = scenario_bars(scenarios_, units_)](const PictureSpace& space) {
            return bars_picture(chart, space);
        });
}

QByteArray ComparePage::svg() const {
    if (parts_->currentWidget() == systems_) return systems_->svg();
    return scenario_bars_->svg();
}

QString ComparePage::csv() const {
    if (parts_->currentWidget() == systems_) return systems_->csv();
    return scenarios_.empty() ? QString()
                              : QString::fromStdString(to_csv(scenario_model_->table()));
}

}  // namespace sluice

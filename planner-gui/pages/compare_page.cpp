#include "planner-gui/pages/compare_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"

namespace sluice {
namespace {

/// With more columns than this, columns have a fixed width and scroll.
constexpr int kFewScenarios = 4;

constexpr int kMostNameLines = 3;

}  // namespace

ScenariosPart::ScenariosPart()
    : AnswerPage(nullptr),
      model_(new TableModel(this, true)),
      differences_(new QSortFilterProxyModel(this)),
      table_(table_view(differences_, tr("Scenarios side by side"), false)),
      bars_(new PictureView(tr("Tokens per second of each scenario"))),
      words_(text_label(tr("Differences"))),
      only_differences_(new QCheckBox(tr("Only &differences"))) {
    differences_->setSourceModel(model_);
    differences_->setFilterRole(TableModel::kMarkedRole);
    only_differences_->setToolTip(tr("Hide the rows in which all scenarios agree"));
    table_->setSelectionBehavior(QAbstractItemView::SelectItems);
    table_->verticalHeader()->show();
    // Aligned like the cells.
    table_->horizontalHeader()->setDefaultAlignment(
        static_cast<Qt::Alignment>(Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap));
    table_->setAlternatingRowColors(false);
    table_->setWordWrap(true);
    connect(only_differences_, &QCheckBox::toggled, this, &ScenariosPart::showScenarios);
    connect(bars_, &PictureView::activated, this, &ScenariosPart::scenarioActivated);
    connect(table_->horizontalHeader(), &QHeaderView::sectionDoubleClicked, this,
            &ScenariosPart::scenarioActivated);
    layOut(nullptr, makeAnswer(),
           {tr("Nothing to compare yet"),
            tr("Each scenario that can be predicted is a column here. The form says what is "
               "missing in this one."),
            {}},
           {});
    showScenarios();
}

QWidget* ScenariosPart::makeAnswer() {
    auto* const row = new QHBoxLayout;
    row->addWidget(words_, 1);
    row->addWidget(only_differences_);
    auto* const answer = new QWidget;
    auto* const column = new QVBoxLayout(answer);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(row);
    column->addWidget(table_, kAlmostAll);
    column->addWidget(new FittedArea(bars_));
    column->addStretch(1);
    return answer;
}

void ScenariosPart::setScenarios(std::vector<ComparedScenario> scenarios) {
    scenarios_ = std::move(scenarios);
    showScenarios();
}

void ScenariosPart::setByteUnits(ByteUnits units) {
    units_ = units;
    showScenarios();
}

void ScenariosPart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fitRows();
}

void ScenariosPart::fitRows() {
    // After the columns have their widths.
    QMetaObject::invokeMethod(
        this,
        [this] {
            table_->resizeRowsToContents();
            fitNames();
        },
        Qt::QueuedConnection);
}

/// Long names of scenarios take several lines.
void ScenariosPart::fitNames() {
    QHeaderView* const header = table_->horizontalHeader();
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

void ScenariosPart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitRows();
}

void ScenariosPart::showScenarios() {
    model_->setTable(scenario_table(scenarios_, units_), units_);
    showAnswer(!scenarios_.empty());
    const bool several = scenarios_.size() > 1;
    differences_->setFilterFixedString(
        only_differences_->isChecked() && several ? QStringLiteral("true") : QString());
    int differing = 0;
    for (int row = 0; row < model_->rowCount(); ++row)
        differing += model_->headerData(row, Qt::Vertical, TableModel::kMarkedRole).toBool();
    words_->setText(several ? tr("%1 scenarios, %2 of %3 rows differ (bold, on yellow).")
                                  .arg(scenarios_.size())
                                  .arg(differing)
                                  .arg(model_->rowCount())
                            : tr("One scenario: duplicate it and change something to compare."));
    only_differences_->setEnabled(several);
    const bool few = scenarios_.size() <= kFewScenarios;
    QHeaderView* const header = table_->horizontalHeader();
    header->setSectionResizeMode(few ? QHeaderView::Stretch : QHeaderView::Interactive);
    if (!few) header->setDefaultSectionSize(18 * fontMetrics().height());
    fitRows();
    if (scenarios_.empty()) return bars_->setPicture({});
    bars_->setPicture([chart = scenario_bars(scenarios_, units_)](const PictureSpace& space) {
        return bars_picture(chart, space);
    });
}

QByteArray ScenariosPart::svg() const { return bars_->svg(); }

QString ScenariosPart::csv() const {
    return scenarios_.empty() ? QString() : qtext(to_csv(model_->table()));
}

ComparePage::ComparePage(QWidget* parent)
    : Page(parent),
      scenarios_(new ScenariosPart),
      systems_(systems_page()),
      parts_(new QTabWidget) {
    setAccessibleName(tr("Compare"));
    parts_->setDocumentMode(true);
    parts_->addTab(scenarios_, tr("S&cenarios"));
    parts_->addTab(systems_, tr("S&ystems"));
    auto* const layout = new QVBoxLayout(this);
    layout->addWidget(parts_);
}

void ComparePage::setByteUnits(ByteUnits units) {
    scenarios_->setByteUnits(units);
    systems_->setByteUnits(units);
}

const Page& ComparePage::front() const {
    return *static_cast<const Page*>(parts_->currentWidget());
}

QByteArray ComparePage::svg() const { return front().svg(); }

QString ComparePage::csv() const { return front().csv(); }

}  // namespace sluice

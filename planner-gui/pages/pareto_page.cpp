#include "planner-gui/pages/pareto_page.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pages/wrapping_row.h"

namespace sluice {
namespace {

constexpr int kRowsToFit = 20;  // columns are made to fit them, then each so many more

}  // namespace

ParetoPage::ParetoPage(QWidget* parent) : AnswerPage(parent) {
    setAccessibleName(tr("Machines"));
    model_ = new ParetoModel(this);
    sorted_ = new NumberSortProxy(this);
    sorted_->setSourceModel(model_);
    chart_ = new PictureView(tr("Speed over cost"), this);
    chart_->setLeastLines(24, 10);
    table_ = table_view(sorted_, tr("Machines and systems"));
    table_->setSortingEnabled(true);
    table_->sortByColumn(model_->columnOf("usd_per_hour"), Qt::AscendingOrder);
    auto* const halves = new QSplitter(Qt::Vertical, this);
    halves->addWidget(chart_);
    table_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    halves->addWidget(table_);
    halves->setStretchFactor(0, 3);
    halves->setStretchFactor(1, 1);
    halves->setChildrenCollapsible(false);
    halves->setSizes({3000, 2000});  // shares
    foot_ = new AdoptionFoot(tr("Selected machine"),
                             tr("Adopts this machine and system (Enter, double click)"), 3);
    cheapest_ = text_label(tr("Cheapest machine"));
    auto* const parts = new QWidget(this);
    auto* const rows = new QVBoxLayout(parts);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(cheapest_);
    rows->addWidget(halves, 1);
    rows->addWidget(foot_);
    layOut(makeBar(), parts,
           {tr("Which machine is fast for its money?"),
            tr("Run predicts this model with these settings on every machine of the library, with "
               "every system: what each costs and how fast it is. Several GPUs of each are tried "
               "where the system is a cluster."),
            tr("The scenario has changed since these machines were tried.")},
           {cheapest_, chart_, table_});
    connectParts();
    showChart();
    showCurrent();
}

QWidget* ParetoPage::makeBar() {
    auto* const bar = new QWidget(this);
    auto* const row = new WrappingRow;
    bar->setLayout(row);
    cost_ = new QComboBox(bar);
    for (const CostAxis axis : {CostAxis::usd_per_hour, CostAxis::usd_per_million_tokens})
        cost_->addItem(cost_name(axis), static_cast<int>(axis));
    cost_->setAccessibleName(tr("Cost that the picture shows"));
    auto* const label = new QLabel(tr("&Cost"), bar);
    label->setBuddy(cost_);
    run_ = new QPushButton(tr("&Run"), bar);
    run_->setToolTip(
        tr("Predicts the scenario's model and settings on each machine, with each "
           "system"));
    progress_ = new QLabel(bar);
    least_ = new QSpinBox(bar);
    least_->setRange(0, 1'000'000'000);
    least_->setGroupSeparatorShown(true);
    least_->setSpecialValueText(tr("any"));
    least_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    least_->setAccessibleName(tr("Least tokens/s"));
    least_->setToolTip(tr("Which is the cheapest that trains at least so many tokens/s?"));
    auto* const at_least = new QLabel(tr("tokens/s, at &least"), bar);
    at_least->setBuddy(least_);
    for (QWidget* const widget :
         std::initializer_list<QWidget*>{label, cost_, at_least, least_, run_, progress_})
        row->addWidget(widget);
    return bar;
}

void ParetoPage::connectParts() {
    connect(cost_, &QComboBox::currentIndexChanged, this, [this] {
        model_->set_axis(static_cast<CostAxis>(cost_->currentData().toInt()));
        showChart();
    });
    connect(least_, &QSpinBox::valueChanged, this, &ParetoPage::showCheapest);
    connect(run_, &QPushButton::clicked, this, [this] {
        if (isBusy())
            Q_EMIT stopRequested();
        else
            Q_EMIT paretoRequested();
    });
    connect(foot_, &AdoptionFoot::adopted, this, &ParetoPage::adopt);
    connect(this, &AnswerPage::runAgain, this, &ParetoPage::paretoRequested);
    connect(chart_, &PictureView::activated, this, &ParetoPage::adopt);
    connect(table_, &QTableView::activated, this, &ParetoPage::adopt);
    connect(chart_, &PictureView::selectionChanged, this, [this] {
        const int row = chart_->selected();
        if (row == kNoId || row == shown()) return;
        const QModelIndex index = sorted_->mapFromSource(model_->index(row, 0));
        table_->setCurrentIndex(index);
        table_->scrollTo(index);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        chart_->select(shown());
        showCurrent();
    });
}

std::optional<std::size_t> ParetoPage::current() const {
    const QModelIndex index = sorted_->mapToSource(table_->currentIndex());
    if (!index.isValid()) return std::nullopt;
    return static_cast<std::size_t>(index.row());
}

int ParetoPage::shown() const {
    const auto row = current();
    return row ? static_cast<int>(*row) : kNoId;
}

QByteArray ParetoPage::svg() const { return chart_->svg(); }

void ParetoPage::start(int rows) {
    expected_ = rows;
    setBusy(true);
}

void ParetoPage::addRow(const ParetoRow& row) {
    if (isOfBefore()) model_->clear();
    if (model_->rowCount() == 0) {
        showAnswer(true);
        showCurrent();
    }
    model_->add_row(row);
    showChart();
    const int count = model_->rowCount();
    if (!isBusy() || count < kRowsToFit || count % kRowsToFit == 0) fit_columns(table_);
}

void ParetoPage::showBusy() {
    run_->setText(isBusy() ? tr("S&top") : tr("&Run"));
    if (!isBusy()) fit_columns(table_);
    showProgress();
}

void ParetoPage::setByteUnits(ByteUnits units) {
    units_ = units;
    model_->set_byte_units(units);
    showChart();
    showCurrent();
}

void ParetoPage::showChart() {
    chart_->setPicture(
        [rows = model_->rows(), axis = model_->axis(), units = units_](const PictureSpace& space) {
            return pareto_picture(rows, axis, units, space);
        });
    showCheapest();
    showProgress();
}

void ParetoPage::showCheapest() {
    cheapest_->setText(cheapest_words(model_->rows(), least_->value()));
}

void ParetoPage::showProgress() {
    const auto& rows = model_->rows();
    const auto plotted =
        std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.is_plotted(); });
    if (rows.empty() && !isBusy()) {
        progress_->clear();
    } else {
        const QString arrived = isOfBefore() ? tr("%1 of an earlier run").arg(rows.size())
                                : isBusy()
                                    ? tr("%1 of %2 predicted").arg(rows.size()).arg(expected_)
                                    : tr("%1 predicted").arg(rows.size());
        progress_->setText(tr("%1; %2 fit and have a price").arg(arrived).arg(plotted));
    }
}

void ParetoPage::showCurrent() {
    const auto row = current();
    const QString words = row ? row_lines(model_->rows()[*row], units_).join(QStringLiteral("; "))
                              : tr("Select a point or a row to see all of it.");
    foot_->show_selected(words, row && model_->rows()[*row].planned);
}

void ParetoPage::adopt() {
    const auto row = current();
    if (!row || !foot_->can_be_adopted()) return;
    const ParetoRow& chosen = model_->rows()[*row];
    Q_EMIT adopted(QString::fromStdString(chosen.machine), QString::fromStdString(chosen.system));
}

}  // namespace sluice

#include "planner-gui/pages/explore_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/picture_view.h"

namespace sluice {
namespace {

constexpr int kMostCells = 400;  // a cell is 1 to 100 ms

}  // namespace

ExplorePage::ExplorePage(QWidget* parent) : AnswerPage(parent) {
    setAccessibleName(tr("Explore"));
    model_ = new HeatMapModel(this);
    view_ = new PictureView(tr("Heat map"), this);
    view_->setLeastLines(24, 10);
    table_ = table_view(model_, tr("Cells of the heat map"));
    stack_ = new QStackedWidget(this);
    stack_->addWidget(view_);
    table_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    stack_->addWidget(table_);
    foot_ =
        new AdoptionFoot(tr("Selected cell"),
                         tr("Adopts the settings of the selected cell (Enter, double click)"), 3);
    auto* const parts = new QWidget(this);
    auto* const rows = new QVBoxLayout(parts);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(stack_, 1);
    rows->addWidget(foot_);
    layOut(makeBar(), parts,
           {tr("What happens between two options?"),
            tr("Choose what varies on each axis and give its values between commas. Run predicts "
               "each combination."),
            tr("The scenario has changed since this map was made.")},
           {stack_});
    connectParts();
    showProgress();
    showSelection();
}

QWidget* ExplorePage::makeBar() {
    auto* const bar = new QWidget(this);
    auto* const rows = new QVBoxLayout(bar);
    rows->setContentsMargins(0, 0, 0, 0);
    x_ = new AxisEditor(tr("&X"), bar);
    y_ = new AxisEditor(tr("&Y"), bar);
    auto* const axes = new QHBoxLayout;
    axes->addWidget(x_, 1);
    axes->addWidget(y_, 1);
    auto* const buttons = new QHBoxLayout;
    auto* const quantity = new QComboBox(bar);
    for (int i = 0; i < kHeatQuantityCount; ++i)
        quantity->addItem(quantity_name(static_cast<HeatQuantity>(i)));
    quantity->setAccessibleName(tr("Quantity that colours show"));
    connect(quantity, &QComboBox::currentIndexChanged, this, [this](int index) {
        quantity_ = static_cast<HeatQuantity>(index);
        showMap();
    });
    auto* const label = new QLabel(tr("&Colours"), bar);
    label->setBuddy(quantity);
    run_ = new QPushButton(tr("&Run"), bar);
    run_->setToolTip(tr("Predicts a step for each combination"));
    as_table_ = new QPushButton(tr("As &table"), bar);
    as_table_->setCheckable(true);
    progress_ = new QLabel(bar);
    progress_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    buttons->addWidget(label);
    buttons->addWidget(quantity);
    buttons->addWidget(run_);
    buttons->addWidget(as_table_);
    buttons->addWidget(progress_, 1);
    rows->addLayout(axes);
    rows->addLayout(buttons);
    return bar;
}

void ExplorePage::connectParts() {
    connect(x_, &AxisEditor::changed, this, &ExplorePage::showAxes);
    connect(y_, &AxisEditor::changed, this, &ExplorePage::showAxes);
    connect(run_, &QPushButton::clicked, this, [this] {
        if (isBusy())
            Q_EMIT stopRequested();
        else
            run();
    });
    connect(foot_, &AdoptionFoot::adopted, this, &ExplorePage::adopt);
    connect(this, &AnswerPage::runAgain, this, &ExplorePage::run);
    connect(as_table_, &QPushButton::toggled, this, [this](bool table) {
        stack_->setCurrentIndex(table ? 1 : 0);
        stack_->currentWidget()->setFocus();
    });
    connect(view_, &PictureView::activated, this, &ExplorePage::adopt);
    connect(view_, &PictureView::selectionChanged, this, &ExplorePage::showSelection);
    connect(table_, &QTableView::activated, this, &ExplorePage::adopt);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid()) view_->select(id_of(map(), model_->cell_at(current.row())));
            });
}

void ExplorePage::setScenario(const TrainingSpec& training, const MachineProfile& profile,
                              const QString& title) {
    x_->setScenario(training, profile);
    y_->setScenario(training, profile);
    if (!chosen_) {
        x_->choose("batch");
        y_->choose("seq");
        chosen_ = true;
    }
    title_ = title;
    showAxes();
}

void ExplorePage::setAxes(const HeatAxis& x, const HeatAxis& y) {
    const HeatMap map(x, y);
    model_->set_map(map);
    title_of_map_ = title_;
    showMap();
    view_->select(0);
    showSelection();
    showAnswer(true);
    showProgress();
}

void ExplorePage::setCell(int x, int y, const HeatCell& cell) {
    if (const auto wanted = std::exchange(wanted_, std::nullopt)) {
        setAxes(wanted->x, wanted->y);
        title_of_map_ = wanted->title;
        view_->select(id_of(map(), wanted->own));
    }
    const CellIndex at{x, y};
    if (!map().contains(at)) return;
    model_->set_cell(at, cell);
    showMap();
    if (selected() == at) showSelection();
    showProgress();
}

void ExplorePage::showBusy() {
    if (!isBusy()) {
        wanted_.reset();
        fit_columns(table_);
    }
    showAxes();
}

void ExplorePage::setByteUnits(ByteUnits units) {
    units_ = units;
    model_->set_byte_units(units);
    showMap();
    showSelection();
}

void ExplorePage::run() {
    const std::optional<HeatAxis> x = x_->axis(), y = y_->axis();
    if (!x || !y || x->number == y->number) return;
    wanted_ = Wanted{*x, *y, title_, {x_->ownPlace(*x), y_->ownPlace(*y)}};
    setBusy(true);
    view_->setFocus();
    Q_EMIT exploreRequested(*x, *y);
}

void ExplorePage::adopt() {
    const std::optional<CellIndex> at = selected();
    if (at && foot_->can_be_adopted()) Q_EMIT adopted(map().settings(*at));
}

void ExplorePage::showSelection() {
    const std::optional<CellIndex> at = selected();
    const HeatMap& shown = map();
    const QString words =
        at ? cell_lines(shown, *at, units_).join(QStringLiteral("; ")) : QString();
    foot_->show_selected(words, at && shown.cell(*at).state != CellState::refused);
    view_->setAccessibleDescription(words);
    const int row = at ? model_->row_of(*at) : -1;
    if (at && row < model_->rowCount() && table_->currentIndex().row() != row)
        table_->selectRow(row);
}

void ExplorePage::showProgress() {
    const int all = map().columns() * map().rows();
    as_table_->setEnabled(all > 0);
    run_->setText(isBusy() ? tr("S&top") : tr("&Run"));
    if (wanted_) {
        progress_->setText(
            tr("0 of %1 cells").arg(wanted_->x.values.size() * wanted_->y.values.size()));
    } else if (all == 0) {
        progress_->setText(QString());
    } else if (map().computed() < all) {
        progress_->setText(tr("%1 of %2 cells").arg(map().computed()).arg(all));
    } else {
        progress_->setText(tr("%1 cells").arg(all));
    }
}

void ExplorePage::showAxes() {
    const std::optional<HeatAxis> x = x_->axis(), y = y_->axis();
    const bool same = x && y && x->number == y->number;
    const std::size_t cells = x && y ? x->values.size() * y->values.size() : 0;
    const bool too_many = cells > kMostCells;
    run_->setEnabled(isBusy() || (x && y && !same && !too_many));
    showProgress();
    if (isBusy()) return;
    if (same)
        progress_->setText(tr("Both axes vary the same option; choose another."));
    else if (too_many)
        progress_->setText(
            tr("%1 cells, at most %2: give fewer values.").arg(cells).arg(kMostCells));
}

void ExplorePage::showMap() {
    // The model's, which outlives the view's picture.
    view_->setPicture([this](const PictureSpace& space) {
        return heat_map_picture(map(), quantity_, title_of_map_.toStdString(), units_, space);
    });
}

std::optional<CellIndex> ExplorePage::selected() const {
    if (view_->selected() == kNoId) return std::nullopt;
    return cell_of(map(), view_->selected());
}

QByteArray ExplorePage::svg() const { return view_->svg(); }

QString ExplorePage::csv() const { return heat_map_csv(map()); }

}  // namespace sluice

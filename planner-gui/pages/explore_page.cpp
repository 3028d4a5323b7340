#include "planner-gui/pages/explore_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/picture_table.h"

namespace sluice {
namespace {

constexpr int kMostCells = 400;  // a cell takes 1 to 100 ms, with its fastest settings up to 2 s

}  // namespace

ExplorePage::ExplorePage(QWidget* parent) : AnswerPage(parent) {
    setAccessibleName(tr("Explore"));
    parts_ =
        new PictureTable(PictureTable::Arrangement::one,
                         {tr("Heat map"), tr("Cells of the heat map"), tr("Selected cell"),
                          tr("Adopts the settings of the selected cell (Enter, double click)")},
                         [this](int id) -> Described {
                             if (id == kNoId) return {};
                             const CellIndex at = cell_of(map_, id);
                             return {cell_lines(map_, at, units_).join(QStringLiteral("; ")),
                                     map_.state(at) != CellState::refused};
                         });
    parts_->picture()->setLeastLines(24, 10);
    layOut(makeBar(), parts_,
           {tr("How do two options work together?"),
            tr("Choose what varies on each axis and give its values between commas. Run predicts "
               "each combination, with its own fastest settings or with those of the scenario."),
            tr("The scenario has changed since this map was made.")},
           {parts_});
    connectParts();
    showProgress();
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
    settings_ = new QComboBox(bar);
    for (const PointSettings one : {PointSettings::fastest, PointSettings::given}) {
        settings_->addItem(point_settings_name(one), static_cast<int>(one));
        settings_->setItemData(settings_->count() - 1, point_settings_sentence(one),
                               Qt::ToolTipRole);
    }
    settings_->setAccessibleName(tr("Settings of the cells"));
    settings_->setToolTip(point_settings_sentence(PointSettings::fastest));
    connect(settings_, &QComboBox::currentIndexChanged, this,
            [this] { settings_->setToolTip(settings_->currentData(Qt::ToolTipRole).toString()); });
    auto* const settings = new QLabel(tr("Setti&ngs"), bar);
    settings->setBuddy(settings_);
    run_ = askButton(tr("&Run"), tr("S&top"), tr("Predicts a step for each combination"), true);
    as_table_ = new QPushButton(tr("As &table"), bar);
    as_table_->setCheckable(true);
    progress_ = new QLabel(bar);
    progress_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    buttons->addWidget(label);
    buttons->addWidget(quantity);
    buttons->addWidget(settings);
    buttons->addWidget(settings_);
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
    connect(this, &AnswerPage::requested, this, &ExplorePage::run);
    connect(as_table_, &QPushButton::toggled, parts_, &PictureTable::showTable);
    connect(parts_, &PictureTable::adopted, this,
            [this](int id) { Q_EMIT adopted(cell_of(map_, id)); });
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

void ExplorePage::setMap(HeatMap map) {
    map_ = std::move(map);
    title_of_map_ = title_;
    showMap();
    parts_->setTable(heat_map_table(map_, units_), units_);
    parts_->select(0);
    showAnswer(true);
    showProgress();
}

void ExplorePage::setCell(CellIndex at, const ScenarioValue& value) {
    if (const auto wanted = std::exchange(wanted_, std::nullopt)) {
        setMap(wanted->map);
        title_of_map_ = wanted->title;
        parts_->select(id_of(map_, wanted->own));
    }
    if (!map_.contains(at)) return;
    map_.set_cell(at, value);
    showMap();
    parts_->setRow(id_of(map_, at), heat_map_row(map_, at, units_));
    showProgress();
}

void ExplorePage::showBusy() {
    if (!isBusy()) {
        wanted_.reset();
        fit_columns(parts_->table());
    }
    showAxes();
}

void ExplorePage::setByteUnits(ByteUnits units) {
    units_ = units;
    showMap();
    parts_->setTable(heat_map_table(map_, units_), units_);
}

void ExplorePage::run() {
    const std::optional<HeatAxis> x = x_->axis(), y = y_->axis();
    if (!x || !y || x->number == y->number) return;
    wanted_ = Wanted{HeatMap(*x, *y, static_cast<PointSettings>(settings_->currentData().toInt())),
                     title_,
                     {x_->ownPlace(*x), y_->ownPlace(*y)}};
    left_.start();
    setBusy(true);
    parts_->picture()->setFocus();
    Q_EMIT exploreRequested(wanted_->map);
}

void ExplorePage::showProgress() {
    const int all = map_.columns() * map_.rows();
    as_table_->setEnabled(all > 0);
    if (wanted_) {
        progress_->setText(tr("0 of %1 cells").arg(wanted_->map.columns() * wanted_->map.rows()));
    } else if (all == 0) {
        progress_->setText(QString());
    } else if (map_.computed() < all) {
        progress_->setText(tr("%1 of %2 cells%3")
                               .arg(map_.computed())
                               .arg(all)
                               .arg(isBusy() ? left_.words(map_.computed(), all) : QString()));
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
    parts_->setPicture([this](const PictureSpace& space) {
        return heat_map_picture(map_, quantity_, title_of_map_.toStdString(), units_, space);
    });
}

QByteArray ExplorePage::svg() const { return parts_->picture()->svg(); }

QString ExplorePage::csv() const {
    if (map_.columns() == 0) return {};
    return qtext(to_csv(heat_map_table(map_, ByteUnits::decimal)));
}

}  // namespace sluice

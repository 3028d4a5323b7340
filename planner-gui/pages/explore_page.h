// The page "Explore": a heat map over two options, which fills cell by cell.
#pragma once

#include <optional>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pages/axis_editor.h"
#include "planner-gui/pages/time_left.h"

class QComboBox;

namespace sluice {

class PictureTable;

class ExplorePage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ExplorePage(QWidget* parent = nullptr);

    /// The scenario that the axes vary; the map stays until the next run. `title` is printed above
    /// the SVG: "qwen2.5-14b on h200-sxm-pcie5-1.5tb".
    void setScenario(const TrainingSpec& training, const MachineProfile& profile,
                     const QString& title);
    /// Starts a map whose cells are not computed. After Run the page does so itself with the first
    /// cell; until then the earlier map stays.
    void setMap(HeatMap map);
    /// Ignored if the map has no such cell.
    void setCell(CellIndex at, const ScenarioValue& value);
    void setByteUnits(ByteUnits units) override;

    const HeatMap& map() const { return map_; }
    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// Requests the cells of this map: one setCell() each, then setBusy(false).
    void exploreRequested(const sluice::HeatMap& map);
    /// The project is to have this cell's scenario.
    void adopted(sluice::CellIndex at);

  private:
    /// A run whose first cell has not arrived.
    struct Wanted {
        HeatMap map;
        QString title;
        CellIndex own;  ///< the scenario's own cell
    };
    void showBusy() override;
    QWidget* makeBar();
    void connectParts();
    void run();
    void showProgress();
    void showAxes();
    void showMap();

    HeatMap map_;
    AxisEditor* x_ = nullptr;
    AxisEditor* y_ = nullptr;
    PictureTable* parts_ = nullptr;
    QPushButton* run_ = nullptr;
    QPushButton* as_table_ = nullptr;
    QComboBox* settings_ = nullptr;
    QLabel* progress_ = nullptr;
    TimeLeft left_;
    HeatQuantity quantity_ = HeatQuantity::tokens_per_s;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<Wanted> wanted_;
    QString title_, title_of_map_;
    bool chosen_ = false;
};

}  // namespace sluice

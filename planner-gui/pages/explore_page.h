// What happens between two options? A heat map that fills cell by cell.
#pragma once

#include <optional>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pages/axis_editor.h"

namespace sluice {

class PictureTable;

class ExplorePage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ExplorePage(QWidget* parent = nullptr);

    /// What the axes vary around; the map stays until the next run. `title` stands over the SVG:
    /// "qwen2.5-14b on h200-sxm-pcie5-1.5tb".
    void setScenario(const TrainingSpec& training, const MachineProfile& profile,
                     const QString& title);
    /// Starts a map: all cells not computed. When Run is pressed the page does so itself with the
    /// first cell; until then the map of before stays.
    void setAxes(const HeatAxis& x, const HeatAxis& y);
    /// Ignored where the map has no such cell.
    void setCell(CellIndex at, const ScenarioValue& value);
    void setByteUnits(ByteUnits units) override;

    const HeatMap& map() const { return map_; }
    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// The cells of these axes are wanted, by setCell() one by one, then setBusy(false).
    void exploreRequested(const sluice::HeatAxis& x, const sluice::HeatAxis& y);
    /// The settings of a cell are to become the scenario's.
    void adopted(const std::vector<sluice::VariedValue>& settings);

  private:
    /// A run of which no cell has come yet.
    struct Wanted {
        HeatAxis x, y;
        QString title;
        CellIndex own;  ///< the scenario's cell
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
    QLabel* progress_ = nullptr;
    HeatQuantity quantity_ = HeatQuantity::tokens_per_s;
    ByteUnits units_ = ByteUnits::decimal;
    std::optional<Wanted> wanted_;
    QString title_, title_of_map_;
    bool chosen_ = false;
};

}  // namespace sluice

// How fast is it, what does it cost, how long does it take, with how much energy? The numbers of
// the verdict.
#pragma once

#include <QLabel>
#include <QWidget>
#include <array>

#include "planner-gui/session/prediction.h"

class QGridLayout;

namespace sluice {

/// Side by side, what belongs to each below it; where that is too narrow, a line each.
class VerdictFigures : public QWidget {
    Q_OBJECT
  public:
    explicit VerdictFigures(QWidget* parent = nullptr);

    void setPrediction(const ScenarioAnswer& prediction);
    void clear();
    /// They are of before.
    void setPending(bool pending);
    /// A line each: it can always become that narrow.
    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct Figure {
        QLabel* name;
        QLabel* value;
        QLabel* more;
    };
    Figure add(const QString& name, const QString& object);
    std::array<Figure, 4> figures() const { return {speed_, price_, days_, energy_}; }
    void set(const Figure& figure, const QString& value, const QString& more,
             const QString& tooltip);
    void showSpeed(const Prediction& report);
    void showPrice(const CostAnswer& cost, bool buy);
    void showRun(const CostAnswer& cost);
    /// The width of the widest value.
    int valueWidth() const;
    void arrange();

    QGridLayout* grid_;
    Figure speed_, price_, days_, energy_;
    bool lines_ = false;  ///< not side by side
};

}  // namespace sluice

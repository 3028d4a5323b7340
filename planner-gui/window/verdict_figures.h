// How fast is it, what does it cost, how long does it take, how much energy? The numbers of the
// verdict.
#pragma once

#include <QLabel>
#include <QWidget>
#include <array>

#include "planner-gui/session/prediction.h"

class QGridLayout;

namespace sluice {

/// Figures side by side, with details below each; in a narrow window, one line each.
class VerdictFigures : public QWidget {
    Q_OBJECT
  public:
    explicit VerdictFigures(QWidget* parent = nullptr);

    void setPrediction(const ScenarioAnswer& prediction);
    void clear();
    /// Marks the numbers as outdated.
    void setPending(bool pending);
    /// One line per figure, which a narrow window needs.
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
    void showPrice(const CostAnswer& cost, const CostQuery& query);
    void showRun(const CostAnswer& cost);
    /// The width of the widest value.
    int valueWidth() const;
    void arrange();

    QGridLayout* grid_;
    Figure speed_, price_, days_, energy_;
    bool lines_ = false;  ///< one line each, not side by side
};

}  // namespace sluice

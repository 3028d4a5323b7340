// Chooses what an axis varies and over which values.
#pragma once

#include <QWidget>
#include <optional>

#include "planner-gui/pictures/heat_map.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace sluice {

class AxisEditor : public QWidget {
    Q_OBJECT
  public:
    /// `name`: "X"; its Alt key follows `&`.
    explicit AxisEditor(const QString& name, QWidget* parent = nullptr);

    /// What can be chosen. Values that were typed stay; values that were proposed are proposed
    /// again.
    void setScenario(const TrainingSpec& training, const MachineProfile& profile);
    /// Precondition: setScenario() was called. Nothing happens where the scenario lacks it.
    void choose(const std::string& key);
    /// Nothing where the text is wrong: then error() says why.
    const std::optional<HeatAxis>& axis() const { return axis_; }
    /// Where on `axis` the scenario itself is; 0 where it is on none of its values.
    int ownPlace(const HeatAxis& axis) const;
    QString error() const { return error_; }
    QLineEdit* valuesEdit() const { return values_; }
    QComboBox* choice() const { return choice_; }

  Q_SIGNALS:
    void changed();

  private:
    void propose();
    void check();

    TrainingSpec training_;
    MachineProfile profile_;
    std::vector<VariedNumber> numbers_;
    QComboBox* choice_ = nullptr;
    QLineEdit* values_ = nullptr;
    QLabel* message_ = nullptr;
    std::optional<HeatAxis> axis_;
    QString error_;
    bool typed_ = false;
};

}  // namespace sluice

// Which quantity does an axis vary, and over which values? The user chooses.
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
    /// `name`: "X"; `&` precedes its Alt key.
    explicit AxisEditor(const QString& name, QWidget* parent = nullptr);

    /// The quantities to choose from. Typed values stay; proposed values are proposed again.
    void setScenario(const TrainingSpec& training, const MachineProfile& profile);
    /// Precondition: setScenario() was called. No effect if the scenario lacks the quantity.
    void choose(const std::string& key);
    /// Empty if the text is wrong; error() then says why.
    const std::optional<HeatAxis>& axis() const { return axis_; }
    /// The index of the scenario's own value on `axis`; 0 if it is none of the values.
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

// What can be asked next? Buttons below the verdict: settings that fit, or questions.
#pragma once

#include <QStringList>
#include <QWidget>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/prediction.h"

namespace sluice {

class VerdictOffers : public QWidget {
    Q_OBJECT
  public:
    explicit VerdictOffers(QWidget* parent = nullptr);

    /// Null: the scenario is refused.
    void setPrediction(std::shared_ptr<const ScenarioAnswer> prediction);
    void setByteUnits(ByteUnits units);
    /// They give way to suggestions while the scenario does not fit.
    void setQuestions(const QStringList& questions);

  Q_SIGNALS:
    /// A suggestion's.
    void adopted(const std::vector<sluice::Setting>& settings);
    void asked(int question);

  private:
    void showButtons();
    void addSuggestions();
    void addQuestions();

    std::shared_ptr<const ScenarioAnswer> prediction_;
    ByteUnits units_ = ByteUnits::decimal;
    QStringList questions_;
};

}  // namespace sluice

// All systems for one model on one machine: bars and a table.
#pragma once

#include <QByteArray>
#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/compare/comparison.h"

class QLabel;
class QPushButton;

namespace sluice {

class AdoptableBars;

class SystemsPart : public AnswerPage {
    Q_OBJECT
  public:
    explicit SystemsPart(QWidget* parent = nullptr);

    /// Null: none yet.
    void setComparison(std::shared_ptr<const Comparison> comparison);
    void setByteUnits(ByteUnits units);

    /// Empty without a comparison.
    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    /// All systems are to be predicted.
    void compareRequested();
    /// By a double click on a system's bar or row, Enter on them, or the button: the scenario is to
    /// take these settings. Not of GPUs that train together,
    /// which are another machine.
    void adopt(const std::vector<sluice::Setting>& settings, const QString& what);

  private:
    void showBusy() override;
    void showComparison();
    void adoptSystem(int system);

    std::shared_ptr<const Comparison> comparison_;
    ByteUnits units_ = ByteUnits::decimal;

    QLabel* words_;
    QPushButton* compare_;
    AdoptableBars* bars_;
};

}  // namespace sluice

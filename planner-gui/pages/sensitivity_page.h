// What would more of one thing gain, and what limits then?
#pragma once

#include <QByteArray>
#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "sim/answers/search/sensitivity.h"

class QLabel;
class QPushButton;

namespace sluice {

class AdoptableBars;

class SensitivityPage : public AnswerPage {
    Q_OBJECT
  public:
    explicit SensitivityPage(QWidget* parent = nullptr);

    /// Null: none yet.
    void setSensitivity(std::shared_ptr<const Sensitivity> sensitivity);

    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    void sensitivityRequested();
    /// By a double click on a bar or its row, Enter on them, or the button: the scenario is to take
    /// these settings. Only of
    /// changes that numbers of the machine make.
    void adopt(const std::vector<sluice::Setting>& settings, const QString& what);

  private:
    void showBusy() override;
    void adoptUpgrade(int upgrade);

    std::shared_ptr<const Sensitivity> sensitivity_;
    QLabel* words_;
    QPushButton* try_;
    AdoptableBars* bars_;
};

}  // namespace sluice

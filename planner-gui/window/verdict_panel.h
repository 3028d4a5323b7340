// Does it fit, how fast is it, what does it cost? The answer at the top of the window.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/prediction.h"

namespace sluice {

class VerdictFigures;

/// "State bytes: 8, Host memory: 1TB", as the fields of the form are named.
QString in_words(const std::vector<Setting>& settings);

class VerdictPanel : public QFrame {
    Q_OBJECT
  public:
    explicit VerdictPanel(QWidget* parent = nullptr);

    void setPrediction(std::shared_ptr<const ScenarioAnswer> prediction);
    /// Nothing can be predicted; the sentence says why.
    void setRefused(const QString& sentence);
    /// A newer prediction is being made: what is shown is outdated.
    void setPending(bool pending);
    void setByteUnits(ByteUnits units);
    /// Buttons with follow-up questions; suggestions replace them if the scenario does not fit.
    void setQuestions(const QStringList& questions);
    QString headline() const { return headline_->text(); }

  Q_SIGNALS:
    /// The user chose a suggestion.
    void adopted(const std::vector<sluice::Setting>& settings);
    void asked(int question);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void showHeadline();
    void showDetail();
    void showLimit();
    void showConfidence();
    void showOffers();
    void addSuggestions();
    void addQuestions();
    /// A button that adopts a faster plan for the same batch, if there is one.
    void addFasterPlan();
    QPushButton* addOffer(const QString& text, const std::vector<sluice::Setting>& settings);

    std::shared_ptr<const ScenarioAnswer> prediction_;
    ByteUnits units_ = ByteUnits::decimal;
    QLabel *headline_, *detail_, *bound_, *confidence_;
    VerdictFigures* figures_;
    QWidget* offers_;  ///< buttons with follow-up questions
    QStringList questions_;
};

}  // namespace sluice

// What the pages have in common that answer when they are asked.
#pragma once

#include <QWidget>

namespace sluice {

class AnswerStack;
class FailureLabel;
class OutdatedNote;

/// From top to bottom: what asks, why there is no answer, whether it is of an earlier scenario, and
/// the answer or, while there is none, words that say how to get one.
class AnswerPage : public QWidget {
    Q_OBJECT
  public:
    /// While the answer is computed; an earlier one stays until then.
    void setBusy(bool busy);
    bool isBusy() const { return busy_; }
    /// Why there is no answer, or no more of it: the sentence. What is shown stays.
    void fail(const QString& sentence);
    /// Whether the answer is of an earlier scenario. Without an answer nothing is.
    void setOutdated(bool outdated);

  Q_SIGNALS:
    /// An outdated answer has to be made again.
    void runAgain();

  protected:
    struct Sentences {
        QString question, how_to_ask;  ///< in place of the answer
        QString outdated;
    };
    explicit AnswerPage(QWidget* parent);
    /// Once, in the constructor. `dimmed`: parts that show what may be outdated.
    void layOut(QWidget* top, QWidget* answer, const Sentences& sentences,
                const QList<QWidget*>& dimmed);
    /// There is a new answer, or none any more.
    void showAnswer(bool there);
    /// Whether what is shown was there when the page was asked last.
    bool isOfBefore() const { return of_before_; }
    /// As isBusy() says.
    virtual void showBusy() = 0;

  private:
    FailureLabel* failure_;
    OutdatedNote* note_ = nullptr;
    AnswerStack* stack_ = nullptr;
    bool busy_ = false, has_answer_ = false, of_before_ = false;
};

}  // namespace sluice

// What do the pages have in common? What they show can leave the window; those that answer when
// they are asked say how to ask, why there is no answer, and whether it is outdated.
#pragma once

#include <QLabel>
#include <QWidget>
#include <functional>

#include "planner-gui/pictures/byte_units.h"

class QPushButton;
class QStackedWidget;

namespace sluice {

class Page : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;
    virtual void setByteUnits(ByteUnits units) = 0;
    /// The picture and the table that are shown; empty where there is none. The CSV has SI units.
    virtual QByteArray svg() const = 0;
    virtual QString csv() const = 0;
};

/// Why a page could not do what it was asked for, in the colour of what is short. Hidden while
/// there is nothing to say.
class FailureLabel : public QLabel {
    Q_OBJECT
  public:
    explicit FailureLabel(QWidget* page);
    /// `stale`: the page shows an earlier answer, which the label says too.
    void say(const QString& sentence, bool stale);
    void forget();
};

/// Says that a page shows the answer to an earlier scenario, dims it and offers to make it again.
/// Hidden while what is shown is of the scenario as it is now.
class OutdatedNote : public QWidget {
    Q_OBJECT
  public:
    /// `sentence`: what is outdated. `dimmed`: where it is shown.
    OutdatedNote(const QString& sentence, const QList<QWidget*>& dimmed);

    void setOutdated(bool outdated);
    QPushButton* button() const { return again_; }

  Q_SIGNALS:
    void runAgain();

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QPushButton* again_;
    QList<QWidget*> veils_;
    bool outdated_ = false;
};

/// From top to bottom: what asks, why there is no answer, whether it is of an earlier scenario, and
/// the answer or, while there is none, words that say how to get one.
class AnswerPage : public Page {
    Q_OBJECT
  public:
    struct Sentences {
        QString question, how_to_ask;  ///< in place of the answer
        QString outdated;
    };
    /// While the answer is computed; an earlier one stays until then.
    void setBusy(bool busy);
    bool isBusy() const { return busy_; }
    /// Why there is no answer, or no more of it: the sentence. What is shown stays.
    void fail(const QString& sentence);
    /// Whether the answer is of an earlier scenario. Without an answer nothing is.
    void setOutdated(bool outdated);

  Q_SIGNALS:
    /// An answer is wanted, or an outdated one again.
    void requested();
    /// No more of it is wanted.
    void stopRequested();

  protected:
    explicit AnswerPage(QWidget* parent);
    /// Asks; while the answer is computed it says `busy` and, where it `stops`, takes the question
    /// back.
    QPushButton* askButton(const QString& ask, const QString& busy, const QString& help,
                           bool stops);
    /// Once, in the constructor. Null: nothing asks. `dimmed`: parts that show what may be
    /// outdated.
    void layOut(QWidget* top, QWidget* answer, const Sentences& sentences,
                const QList<QWidget*>& dimmed);
    /// There is a new answer, or none any more.
    void showAnswer(bool there);
    /// Whether what is shown was there when the page was asked last.
    bool isOfBefore() const { return of_before_; }
    /// As isBusy() says.
    virtual void showBusy() {}

  private:
    FailureLabel* failure_;
    OutdatedNote* note_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    std::function<void()> show_busy_;  ///< on the button
    bool busy_ = false, has_answer_ = false, of_before_ = false;
};

}  // namespace sluice

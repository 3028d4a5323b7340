// Which behaviour do the pages share? Each exports its picture and table. Pages that answer on
// request say how to ask, why there is no answer, and whether it is outdated.
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
    /// The picture and table that are shown; empty if there is none. The CSV has SI units.
    virtual QByteArray svg() const = 0;
    virtual QString csv() const = 0;
};

/// Why a request failed, in the colour of shortages. Hidden if there is nothing to say.
class FailureLabel : public QLabel {
    Q_OBJECT
  public:
    explicit FailureLabel(QWidget* page);
    /// `stale`: the page shows an earlier answer, and the label says so.
    void say(const QString& sentence, bool stale);
    void forget();
};

/// Says that the answer belongs to an earlier scenario, dims it and offers a new one. Hidden while
/// the answer belongs to the current scenario.
class OutdatedNote : public QWidget {
    Q_OBJECT
  public:
    /// `sentence`: what is outdated. `dimmed`: the widget that shows it.
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

/// From top to bottom: the request, why there is no answer, whether it is outdated, and the answer.
/// While there is no answer, text says how to get one.
class AnswerPage : public Page {
    Q_OBJECT
  public:
    struct Sentences {
        QString question, how_to_ask;  ///< in place of the answer
        QString outdated;
    };
    /// Whether an answer is being computed; an earlier one stays until it arrives.
    void setBusy(bool busy);
    bool isBusy() const { return busy_; }
    /// A sentence why there is no answer, or no more of it. The page keeps what it shows.
    void fail(const QString& sentence);
    /// Whether the answer belongs to an earlier scenario. Without an answer this has no effect.
    void setOutdated(bool outdated);

  Q_SIGNALS:
    /// The user requests an answer, or a new one for an outdated one.
    void requested();
    /// The user stops the answer.
    void stopRequested();

  protected:
    explicit AnswerPage(QWidget* parent);
    /// A button that requests an answer. While that is computed it shows `busy` and, if it `stops`,
    /// cancels the request.
    QPushButton* askButton(const QString& ask, const QString& busy, const QString& help,
                           bool stops);
    /// To be called once, in the constructor. Null: the page has no request. `dimmed`: parts that
    /// may show an outdated answer.
    void layOut(QWidget* top, QWidget* answer, const Sentences& sentences,
                const QList<QWidget*>& dimmed);
    /// An answer has arrived or gone.
    void showAnswer(bool there);
    /// Whether the answer that is shown was there at the last request.
    bool isOfBefore() const { return of_before_; }
    /// The state of isBusy() has changed.
    virtual void showBusy() {}

  private:
    FailureLabel* failure_;
    OutdatedNote* note_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    std::function<void()> show_busy_;  ///< text of the button
    bool busy_ = false, has_answer_ = false, of_before_ = false;
};

}  // namespace sluice

// An answer, or in its place words that say how to get one.
#pragma once

#include <QStackedWidget>

class QLabel;

namespace sluice {

class AnswerStack : public QStackedWidget {
    Q_OBJECT
  public:
    /// `title` and `words` stand there while there is no answer.
    AnswerStack(QWidget* answer, const QString& title, const QString& words,
                QWidget* parent = nullptr);

    void show_answer(bool there);
    /// Why there is none, in place of the answer.
    void show_reason(const QString& sentence);

  private:
    const QString reason_;
    QLabel* words_;
};

}  // namespace sluice

// An answer, or in its place words that say how to get one.
#pragma once

#include <QStackedWidget>

namespace sluice {

class AnswerStack : public QStackedWidget {
    Q_OBJECT
  public:
    /// `title` and `words` stand there while there is no answer.
    AnswerStack(QWidget* answer, const QString& title, const QString& words,
                QWidget* parent = nullptr);

    void show_answer(bool there);
};

}  // namespace sluice

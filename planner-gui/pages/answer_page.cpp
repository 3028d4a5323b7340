#include "planner-gui/pages/answer_page.h"

#include <QVBoxLayout>

#include "planner-gui/pages/answer_stack.h"
#include "planner-gui/pages/failure_label.h"
#include "planner-gui/pages/outdated_note.h"

namespace sluice {

AnswerPage::AnswerPage(QWidget* parent) : QWidget(parent), failure_(new FailureLabel(this)) {}

void AnswerPage::layOut(QWidget* top, QWidget* answer, const Sentences& sentences,
                        const QList<QWidget*>& dimmed) {
    note_ = new OutdatedNote(sentences.outdated, dimmed);
    stack_ = new AnswerStack(answer, sentences.question, sentences.how_to_ask);
    connect(note_, &OutdatedNote::runAgain, this, &AnswerPage::runAgain);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(top);
    column->addWidget(failure_);
    column->addWidget(note_);
    column->addWidget(stack_, 1);
}

void AnswerPage::showAnswer(bool there) {
    has_answer_ = there;
    of_before_ = false;
    note_->setOutdated(false);
    stack_->show_answer(there);
}

void AnswerPage::setBusy(bool busy) {
    busy_ = busy;
    if (busy) {
        of_before_ = has_answer_;
        failure_->forget();
    }
    showBusy();
}

void AnswerPage::fail(const QString& sentence) {
    setBusy(false);
    failure_->say(sentence, of_before_);
}

void AnswerPage::setOutdated(bool outdated) { note_->setOutdated(outdated && has_answer_); }

}  // namespace sluice

#include "planner-gui/pages/answer_stack.h"

#include <QGridLayout>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"

namespace sluice {
namespace {

constexpr double kTitle = 1.3;  // of the font's size
// In heights of a line: of the words, and of an answer.
constexpr int kWidth = 40, kLeastAnswer = 25;

/// Else a scroll area gives what it scrolls the height that it would like to have.
class PlainColumn : public QVBoxLayout {
  public:
    using QVBoxLayout::QVBoxLayout;
    bool hasHeightForWidth() const override { return false; }
};

}  // namespace

AnswerStack::AnswerStack(QWidget* answer, const QString& title, const QString& words,
                         QWidget* parent)
    : QStackedWidget(parent) {
    auto* const heading = new QLabel(title);
    QLabel* const label = text_label(title);
    QFont large = heading->font();
    large.setPointSizeF(kTitle * large.pointSizeF());
    large.setBold(true);
    heading->setFont(large);
    for (QLabel* const one : {heading, label}) one->setAlignment(Qt::AlignCenter);
    label->setText(words);
    label->setMinimumWidth(kWidth / 2 * fontMetrics().height());
    label->setMaximumWidth(kWidth * fontMetrics().height());
    auto* const middle = new QWidget;
    auto* const grid = new QGridLayout(middle);
    grid->addWidget(heading, 1, 1, Qt::AlignCenter);
    grid->addWidget(label, 2, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 8);
    grid->setColumnStretch(2, 1);
    grid->setRowStretch(0, 2);
    grid->setRowStretch(3, 3);
    // Large letters in a small window: it scrolls rather than that pictures are squeezed.
    answer->setMinimumHeight(kLeastAnswer * fontMetrics().height());
    auto* const area = new QScrollArea;
    auto* const holder = new QWidget;
    auto* const column = new PlainColumn(holder);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(answer);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    put_into(area, holder);
    addWidget(middle);
    addWidget(area);
}

void AnswerStack::show_answer(bool there) { setCurrentIndex(there ? 1 : 0); }

}  // namespace sluice

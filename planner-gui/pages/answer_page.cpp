#include "planner-gui/pages/answer_page.h"

#include <QAccessible>
#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr float kVeil = 0.55F;  // opacity
constexpr double kTitle = 1.3;  // of the font size
// In line heights: of the words, and of an answer.
constexpr int kWidth = 40, kLeastAnswer = 25;

void alert(QObject* object) {
    QAccessibleEvent event(object, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
}

/// Covers a widget, which mouse and keyboard still reach.
class Veil : public QWidget {
  public:
    explicit Veil(QWidget* over) : QWidget(over) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setFocusPolicy(Qt::NoFocus);
        over->installEventFilter(this);
        hide();
    }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Resize) resize(parentWidget()->size());
        return QWidget::eventFilter(watched, event);
    }
    void showEvent(QShowEvent*) override {
        resize(parentWidget()->size());
        raise();
    }
    void paintEvent(QPaintEvent*) override {
        QColor colour = palette().color(QPalette::Window);
        colour.setAlphaF(kVeil);
        QPainter(this).fillRect(rect(), colour);
    }
};

/// Without this, a scroll area gives its widget the preferred height.
class PlainColumn : public QVBoxLayout {
  public:
    using QVBoxLayout::QVBoxLayout;
    bool hasHeightForWidth() const override { return false; }
};

/// Shown in place of an answer: how to get one.
QWidget* how_to_ask(const AnswerPage::Sentences& sentences) {
    auto* const heading = new QLabel(sentences.question);
    QLabel* const label = text_label(sentences.question);
    QFont large = heading->font();
    large.setPointSizeF(kTitle * large.pointSizeF());
    large.setBold(true);
    heading->setFont(large);
    for (QLabel* const one : {heading, label}) one->setAlignment(Qt::AlignCenter);
    label->setText(sentences.how_to_ask);
    label->setMinimumWidth(kWidth / 2 * label->fontMetrics().height());
    label->setMaximumWidth(kWidth * label->fontMetrics().height());
    auto* const middle = new QWidget;
    auto* const grid = new QGridLayout(middle);
    grid->addWidget(heading, 1, 1, Qt::AlignCenter);
    grid->addWidget(label, 2, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 8);
    grid->setColumnStretch(2, 1);
    grid->setRowStretch(0, 2);
    grid->setRowStretch(3, 3);
    return middle;
}

/// With large letters in a small window it scrolls, so that pictures keep their size.
QWidget* scrolling(QWidget* answer) {
    answer->setMinimumHeight(kLeastAnswer * answer->fontMetrics().height());
    auto* const area = new QScrollArea;
    auto* const holder = new QWidget;
    auto* const column = new PlainColumn(holder);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(answer);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    put_into(area, holder);
    return area;
}

}  // namespace

FailureLabel::FailureLabel(QWidget* page) : QLabel(page) {
    setObjectName(QStringLiteral("failure"));
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    colour_as_warning(this, page);
    hide();
}

void FailureLabel::say(const QString& sentence, bool stale) {
    const QString words = without_flags(sentence);
    setText(stale ? words + QLatin1Char('\n') + tr("This page shows the earlier answer.") : words);
    setAccessibleName(text());
    show();
    alert(this);
}

void FailureLabel::forget() {
    clear();
    hide();
}

OutdatedNote::OutdatedNote(const QString& sentence, const QList<QWidget*>& dimmed)
    : again_(new QPushButton(tr("Run a&gain"))) {
    QLabel* const label = text_label(tr("Outdated"));
    label->setText(sentence);
    again_->setAccessibleDescription(sentence);
    auto* const row = new QHBoxLayout(this);
    const int gap = fontMetrics().height() / 2;
    row->setContentsMargins(2 * gap, gap / 2, gap, gap / 2);
    row->addWidget(label, 1);
    row->addWidget(again_);
    for (QWidget* const widget : dimmed) veils_ << new Veil(widget);
    connect(again_, &QPushButton::clicked, this, &OutdatedNote::runAgain);
    hide();
}

void OutdatedNote::setOutdated(bool outdated) {
    if (outdated == outdated_) return;
    outdated_ = outdated;
    setVisible(outdated);
    for (QWidget* const veil : veils_) veil->setVisible(outdated);
    if (outdated) alert(this);
}

void OutdatedNote::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor ground = qcolor(colours_of(palette()).waiting);
    QRect edge = rect();
    edge.setWidth(fontMetrics().height() / 3);
    painter.fillRect(edge, ground);
    ground.setAlphaF(0.15F);
    painter.fillRect(rect(), ground);
}

AnswerPage::AnswerPage(QWidget* parent) : Page(parent), failure_(new FailureLabel(this)) {}

void AnswerPage::layOut(QWidget* top, QWidget* answer, const Sentences& sentences,
                        const QList<QWidget*>& dimmed) {
    note_ = new OutdatedNote(sentences.outdated, dimmed);
    stack_ = new QStackedWidget;
    stack_->addWidget(how_to_ask(sentences));
    stack_->addWidget(scrolling(answer));
    connect(note_, &OutdatedNote::runAgain, this, &AnswerPage::requested);
    auto* const column = new QVBoxLayout(this);
    if (top != nullptr) column->addWidget(top);
    column->addWidget(failure_);
    column->addWidget(note_);
    column->addWidget(stack_, 1);
}

QPushButton* AnswerPage::askButton(const QString& ask, const QString& busy, const QString& help,
                                   bool stops) {
    auto* const button = new QPushButton(ask);
    button->setToolTip(help);
    show_busy_ = [=, this] {
        button->setText(busy_ ? busy : ask);
        button->setEnabled(stops || !busy_);
    };
    connect(button, &QPushButton::clicked, this,
            [this] { busy_ ? Q_EMIT stopRequested() : Q_EMIT requested(); });
    return button;
}

void AnswerPage::showAnswer(bool there) {
    has_answer_ = there;
    of_before_ = false;
    failure_->forget();
    note_->setOutdated(false);
    stack_->setCurrentIndex(there ? 1 : 0);
}

void AnswerPage::setBusy(bool busy) {
    busy_ = busy;
    if (busy) {
        of_before_ = has_answer_;
        failure_->forget();
    }
    if (show_busy_) show_busy_();
    showBusy();
}

void AnswerPage::fail(const QString& sentence) {
    setBusy(false);
    failure_->say(sentence, of_before_);
}

void AnswerPage::setOutdated(bool outdated) { note_->setOutdated(outdated && has_answer_); }

}  // namespace sluice

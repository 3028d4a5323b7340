#include "planner-gui/pages/outdated_note.h"

#include <QAccessible>
#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr float kVeil = 0.55F;  // opacity

/// Over all of a widget, which stays within reach of mouse and keyboard.
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

}  // namespace

OutdatedNote::OutdatedNote(const QString& sentence, const QList<QWidget*>& dimmed, QWidget* parent)
    : QWidget(parent), again_(new QPushButton(tr("Run a&gain"))) {
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
    if (!outdated) return;
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
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

}  // namespace sluice

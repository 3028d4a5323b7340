#include "planner-gui/pages/failure_label.h"

#include <QAccessible>
#include <QEvent>

#include "planner-gui/pages/page_parts.h"

namespace sluice {

FailureLabel::FailureLabel(QWidget* page) : QLabel(page) {
    setObjectName(QStringLiteral("failure"));
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    colour_as_warning(this, page->palette());
    page->installEventFilter(this);
    hide();
}

void FailureLabel::say(const QString& sentence, bool stale) {
    setText(stale ? sentence + QLatin1Char('\n') + tr("What is shown here is of before.")
                  : sentence);
    setAccessibleName(text());
    show();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void FailureLabel::forget() {
    clear();
    hide();
}

bool FailureLabel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::PaletteChange)
        colour_as_warning(this, static_cast<QWidget*>(watched)->palette());
    return QLabel::eventFilter(watched, event);
}

}  // namespace sluice

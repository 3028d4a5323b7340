#include "planner-gui/pages/failure_label.h"

#include <QAccessible>

#include "planner-gui/pages/page_parts.h"

namespace sluice {

FailureLabel::FailureLabel(QWidget* page) : QLabel(page) {
    setObjectName(QStringLiteral("failure"));
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    colour_as_warning(this, page);
    hide();
}

void FailureLabel::say(const QString& sentence, bool stale) {
    setText(stale ? sentence + QLatin1Char('\n') + tr("This page shows the earlier answer.")
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

}  // namespace sluice

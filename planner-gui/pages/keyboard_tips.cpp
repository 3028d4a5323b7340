#include "planner-gui/pages/keyboard_tips.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QFocusEvent>
#include <QLabel>
#include <QToolTip>
#include <chrono>

#include "planner-gui/pages/page_parts.h"

namespace sluice {
namespace {

/// As long as a mouse has to rest; who tabs through is not disturbed.
constexpr std::chrono::milliseconds kRest{700};

QString of_cell(const QModelIndex& cell) {
    QStringList tips;
    const QString own = cell.data(Qt::ToolTipRole).toString(),
                  column = cell.model()
                               ->headerData(cell.column(), Qt::Horizontal, Qt::ToolTipRole)
                               .toString();
    for (const QString& tip : {own, column})
        if (!tip.isEmpty() && !tips.contains(tip)) tips << tip;
    return tips.join(QLatin1Char('\n'));
}

}  // namespace

void set_reachable_tip(QWidget* widget, const QString& tip) {
    widget->setToolTip(tip);
    if (auto* const label = qobject_cast<QLabel*>(widget))
        // A cursor in the text shows where the keyboard is.
        label->setTextInteractionFlags(tip.isEmpty() ? Qt::TextSelectableByMouse
                                                     : Qt::TextSelectableByMouse |
                                                           Qt::TextSelectableByKeyboard);
    widget->setFocusPolicy(tip.isEmpty() ? Qt::ClickFocus : Qt::StrongFocus);
}

QString keyboard_tip(const QWidget& widget) {
    if (const auto* const view = qobject_cast<const QAbstractItemView*>(&widget)) {
        const QModelIndex cell = view->currentIndex();
        const QString tip = cell.isValid() ? of_cell(cell) : QString();
        if (!tip.isEmpty()) return tip;
    }
    return widget.toolTip();
}

KeyboardTips::KeyboardTips(QObject* parent) : QObject(parent) {
    soon_.setSingleShot(true);
    soon_.setInterval(kRest);
    connect(&soon_, &QTimer::timeout, this, &KeyboardTips::show);
    qApp->installEventFilter(this);
}

bool KeyboardTips::eventFilter(QObject* watched, QEvent* event) {
    // Styles and windows get the events of their widgets, too.
    auto* const widget = qobject_cast<QWidget*>(watched);
    if (widget != nullptr && event->type() == QEvent::FocusIn) {
        const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
        const bool by_key = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
                            reason == Qt::ShortcutFocusReason;
        reached_ = by_key ? widget : nullptr;
        by_key ? soon_.start() : soon_.stop();
    } else if (event->type() == QEvent::KeyPress) {
        if (auto* const view = qobject_cast<QAbstractItemView*>(watched)) {
            reached_ = view;
            soon_.start();
        }
    }
    return QObject::eventFilter(watched, event);
}

void KeyboardTips::show() {
    if (reached_ == nullptr || !reached_->hasFocus()) return;
    QString tip = keyboard_tip(*reached_);
    if (tip.isEmpty()) return;
    if (!Qt::mightBeRichText(tip)) tip = wrapped_tooltip(tip);
    QRect at = reached_->rect();
    if (auto* const view = qobject_cast<QAbstractItemView*>(reached_.data()))
        if (view->currentIndex().isValid())
            at = view->visualRect(view->currentIndex()).translated(view->viewport()->pos());
    QToolTip::showText(reached_->mapToGlobal(at.bottomLeft()), tip, reached_);
}

}  // namespace sluice

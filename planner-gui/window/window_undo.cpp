#include "planner-gui/window/window_undo.h"

#include <QKeyEvent>

namespace sluice {
namespace {

class UndoFilter : public QObject {
  public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::ShortcutOverride) return QObject::eventFilter(watched, event);
        const auto* const key = static_cast<QKeyEvent*>(event);
        if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
        event->ignore();
        return true;
    }
};

}  // namespace

void leave_undo_to_window(QWidget* editor) { editor->installEventFilter(new UndoFilter(editor)); }

}  // namespace sluice

// Who undoes what was typed into a field? The window, as every key is an edit of the scenario:
// Qt's editors would take the shortcut for a history of their own, which is empty as soon as
// another field was typed into.
#pragma once

#include <QWidget>

namespace sluice {

/// The editor leaves the shortcuts of undo and redo to its window.
void leave_undo_to_window(QWidget* editor);

}  // namespace sluice

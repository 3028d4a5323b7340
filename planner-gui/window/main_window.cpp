#include "planner-gui/window/main_window.h"

namespace sluice {

MainWindow::MainWindow() { setWindowTitle(tr("Sluice planner")); }

}  // namespace sluice

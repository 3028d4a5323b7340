// The window: form at the left, verdict above the pages.
#pragma once

#include <QMainWindow>

namespace sluice {

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    MainWindow();
};

}  // namespace sluice

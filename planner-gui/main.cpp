// sluice-planner: which machine should train this model?
#include <QApplication>

#include "planner-gui/window/main_window.h"

int main(int argc, char** argv) {
    const QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("sluice-planner"));
    QApplication::setApplicationVersion(QStringLiteral(SLUICE_VERSION));
    sluice::MainWindow window;
    window.show();
    return QApplication::exec();
}

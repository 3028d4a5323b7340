// sluice-planner: which machine should train this model?
#include <QApplication>
#include <QCommandLineParser>
#include <QStandardPaths>
#include <clocale>

#include "planner-gui/window/main_window.h"

int main(int argc, char** argv) {
    const QApplication application(argc, argv);
    std::setlocale(LC_NUMERIC,
                   "C");  // Qt's default follows the desktop; 0.5 must be read as 0.5 everywhere
    QApplication::setOrganizationName(QStringLiteral("sluice"));
    QApplication::setApplicationName(QStringLiteral("sluice-planner"));
    QApplication::setApplicationDisplayName(QStringLiteral("Sluice planner"));
    QApplication::setApplicationVersion(QStringLiteral(SLUICE_VERSION));

    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Which machine should train this model?"));
    parser.addPositionalArgument(QStringLiteral("project"), QStringLiteral("a project file"),
                                 QStringLiteral("[PROJECT.json]"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.process(application);

    sluice::MainWindow window(
        QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation));
    window.show();
    window.start(parser.positionalArguments().value(0));
    return QApplication::exec();
}

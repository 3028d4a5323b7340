// How long from a key to the verdict, and how long does the window stand still at most? Medians and
// the worst; no test asserts them.
//   ./dev bench planner
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <vector>

#include "planner-gui/session/example.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/scenario_form.h"

namespace {

using namespace sluice;

/// Counts how long each turn of the event loop takes.
class Turns {
  public:
    template <typename Done>
    void run_until(Done done) {
        while (!done()) {
            QElapsedTimer turn;
            turn.start();
            QCoreApplication::processEvents(QEventLoop::AllEvents);
            worst_ms = std::max(worst_ms, static_cast<double>(turn.nsecsElapsed()) / 1e6);
        }
    }
    double worst_ms = 0;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void bench_model(MainWindow& window, const std::string& layers) {
    PlannedScenario scenario = example_scenario();
    scenario.model.model = "dense:hidden=8192,layers=" + layers;
    scenario.machine.host_memory = "20TB";
    scenario.training = {{"batch", "16"}};
    window.files().start(scenario);
    auto* const batch =
        qobject_cast<QLineEdit*>(window.form().row(QStringLiteral("batch"))->editor());
    const auto shown = [&](PredictionStage stage) {
        return window.prediction() != nullptr &&
               window.prediction()->planned == window.stack().current() &&
               window.prediction()->stage >= stage;
    };
    Turns turns;
    turns.run_until([&] { return shown(PredictionStage::remedies); });
    std::vector<double> verdicts, bands;
    for (int i = 0; i < 15; ++i) {
        batch->setFocus();
        batch->selectAll();
        QElapsedTimer timer;
        timer.start();
        QTest::keyClick(batch, static_cast<Qt::Key>(Qt::Key_1 + i % 9));
        turns.worst_ms = std::max(turns.worst_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        turns.run_until([&] { return shown(PredictionStage::step); });
        verdicts.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        turns.run_until([&] { return shown(PredictionStage::band); });
        bands.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    fmt::print("{:>6} {:>16.1f} {:>14.1f} {:>14.1f} {:>22.1f}\n", layers, median(verdicts),
               *std::max_element(verdicts.begin(), verdicts.end()), median(bands), turns.worst_ms);
}

/// 200 scenarios: duplicated, switched through, undone.
void bench_many(MainWindow& window) {
    window.openExample();
    Turns turns;
    QElapsedTimer timer;
    double worst = 0;
    const auto step = [&](auto action) {
        timer.restart();
        action();
        worst = std::max(worst, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        turns.run_until([] { return true; });
        QElapsedTimer turn;
        turn.start();
        QCoreApplication::processEvents(QEventLoop::AllEvents);
        worst = std::max(worst, static_cast<double>(turn.nsecsElapsed()) / 1e6);
    };
    for (int i = 1; i < 200; ++i)
        step([&] { window.stack().duplicate(window.stack().currentIndex()); });
    for (int i = 0; i < 200; ++i) step([&] { window.stack().setCurrent(i); });
    for (int i = 0; i < 199; ++i) step([&] { window.stack().undoStack().undo(); });
    fmt::print(
        "200 scenarios, added, shown and undone: the window stands still {:.1f} ms at most\n",
        worst);
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", qEnvironmentVariableIsSet("QT_QPA_PLATFORM")
                                   ? qgetenv("QT_QPA_PLATFORM")
                                   : QByteArray("offscreen"));
    QApplication application(argc, argv);
    const QTemporaryDir folder;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    MainWindow window(folder.path());
    window.show();
    fmt::print("{:>6} {:>16} {:>14} {:>14} {:>22}\n", "layers", "key to verdict", "worst",
               "with band", "window stands still");
    for (const char* layers : {"8", "80", "400"}) bench_model(window, layers);
    bench_many(window);
    window.stack().setSaved();
}

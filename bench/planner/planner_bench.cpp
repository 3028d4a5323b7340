// How long from a key to the verdict, how long does an answer take, and how long does the window
// stand still at most? How much memory does it take after many searches? No test asserts it.
//   ./dev bench planner [verdicts|answers|stillness|memory [SEARCHES]]
#include <fmt/format.h>

#include <QApplication>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bench/planner/benched_window.h"
#include "bench/planner/memory_growth.h"
#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/timeline_view.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/scenario_form.h"

namespace {

using namespace sluice;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

PlannedScenario dense(const std::string& layers, const std::string& hidden, int batch) {
    PlannedScenario out = example_scenario();
    out.name = "batch " + std::to_string(batch);
    out.model.model = "dense:hidden=" + hidden + ",layers=" + layers;
    out.machine.host_memory = "20TB";
    out.training = {{"batch", std::to_string(batch)}};
    return out;
}

class Bench : public BenchedWindow {
  public:
    using BenchedWindow::BenchedWindow;

    void verdicts() {
        fmt::print("{:>6} {:>14} {:>8} {:>10}   ms, median and worst of 15 keys\n", "layers",
                   "key to verdict", "worst", "with band");
        for (const char* layers : {"8", "80", "400"}) verdict(layers);
    }
    void answers() {
        fmt::print("\n{:<50} {:>8} {:>14}\n", "from a page's question to its whole answer, s", "",
                   "processor time");
        window_.files().start(example_scenario());
        settle();
        answer("120 B: machines with systems", [this] { find_machines(); });
        answer("120 B: systems", [this] { compare_systems(); });
        answer("120 B: heat map of 63 cells", [this] { explore(); });
        answer("120 B: sensitivity", [this] { find_sensitivity(); });
    }
    void stillness() {
        fmt::print("\n{:<50} {:>8} {:>14}\n", "the window stands still, ms at most", "",
                   "processor time");
        deep();
        jobs();
        files();
        many();
        fmt::print("{:<50} {:>8.1f} {:>14.1f}\n", "all", worst_, worst_busy_);
    }

  private:
    void verdict(const char* layers) {
        window_.pages().setCurrentIndex(0);
        window_.files().start(dense(layers, "8192", 16));
        settle();
        auto* const batch =
            qobject_cast<QLineEdit*>(window_.form().row(QStringLiteral("batch"))->editor());
        std::vector<double> verdicts, bands;
        for (int i = 0; i < 15; ++i) {
            batch->setFocus();
            batch->selectAll();
            QElapsedTimer timer;
            timer.start();
            QTest::keyClick(batch, static_cast<Qt::Key>(Qt::Key_1 + i % 9));
            const auto until = [&](PredictionStage stage, std::vector<double>& times) {
                still_.run_until([&] { return shown(stage); });
                QCoreApplication::processEvents();  // paints it
                times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
            };
            until(PredictionStage::step, verdicts);
            until(PredictionStage::band, bands);
        }
        fmt::print("{:>6} {:>14.1f} {:>8.1f} {:>10.1f}\n", layers, median(verdicts),
                   *std::max_element(verdicts.begin(), verdicts.end()), median(bands));
    }

    template <typename Ask>
    void answer(const char* what, Ask ask) {
        QElapsedTimer timer;
        timer.start();
        const std::clock_t busy = std::clock();
        ask();
        still_.paint();
        fmt::print("{:<50} {:>8.1f} {:>14.1f}\n", what, static_cast<double>(timer.elapsed()) / 1e3,
                   static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC);
    }
    template <typename Work>
    void measure(const char* what, Work work) {
        still_.paint();
        still_.reset();
        work();
        still_.paint();
        fmt::print("{:<50} {:>8.1f} {:>14.1f}\n", what, still_.longest_ms, still_.longest_busy_ms);
        worst_ = std::max(worst_, still_.longest_ms);
        worst_busy_ = std::max(worst_busy_, still_.longest_busy_ms);
    }
    /// A model of 400 layers.
    void deep() {
        Pages& pages = window_.pages();
        measure("400 layers: opened", [&] {
            window_.files().start(dense("400", "8192", 16));
            settle();
        });
        measure("400 layers: 30 keys in its batch", [&] {
            auto* const batch =
                qobject_cast<QLineEdit*>(window_.form().row(QStringLiteral("batch"))->editor());
            for (int i = 0; i < 30; ++i) {
                batch->selectAll();
                QTest::keyClick(batch, static_cast<Qt::Key>(Qt::Key_1 + i % 9));
                QElapsedTimer pause;
                pause.start();
                still_.run_until([&] { return pause.elapsed() > 40; });
            }
            settle();
        });
        for (int page = 0; page < pages.count(); ++page)
            measure(fmt::format("400 layers: page {}", pages.tabText(page).toStdString()).c_str(),
                    [&] {
                        pages.setCurrentIndex(page);
                        still_.paint();
                    });
        pages.setCurrentIndex(0);
        measure("400 layers: zoom and pan of the timeline", [&] {
            auto* const view = pages.timeline().findChild<TimelineView*>();
            for (const Qt::Key key : {Qt::Key_Plus, Qt::Key_Right, Qt::Key_Left, Qt::Key_Minus})
                for (int i = 0; i < 12; ++i) {
                    QTest::keyClick(view, key);
                    still_.paint();
                }
        });
        measure("400 layers: timeline as CSV and SVG", [&] {
            (void)pages.csv();
            still_.paint();
            (void)pages.svg();
        });
    }
    /// Requests of pages, for a model of 80 layers.
    void jobs() {
        Pages& pages = window_.pages();
        window_.files().start(dense("80", "4096", 16));
        settle();
        measure("80 layers: machines with systems", [this] { find_machines(); });
        measure("80 layers: systems", [this] { compare_systems(); });
        measure("80 layers: heat map of 63 cells", [this] { explore(); });
        measure("all measured runs", [&] {
            pages.setCurrentWidget(&pages.validation());
            PlannedScenario measured = window_.stack().current();
            measured.machine = {"h200-pcie5-16vcpu-128gib", {}, {}};
            finish(JobKind::validate, [&] {
                window_.session().validate(measured,
                                           {QStringLiteral(SLUICE_SOURCE_DIR "/validation")});
            });
        });
        measure("80 layers: sensitivity", [this] { find_sensitivity(); });
    }
    /// The report and the page in front as files.
    void files() {
        const QTemporaryDir folder;
        auto* const exports = window_.findChild<Exports*>();
        int written = 0;
        const auto seen = QObject::connect(exports, &Exports::written, [&written] { ++written; });
        const auto measure_file = [&](const char* what, auto write) {
            measure(what, [&] {
                const int before = written;
                write(folder.filePath(QStringLiteral("file")));
                still_.run_until([&] { return written > before; });
            });
        };
        for (const char* machine : {"gh200-480gb", "h100-sxm-pcie5", "a100-80gb-sxm"}) {
            PlannedScenario other = window_.stack().current();
            other.machine = {machine, "20TB", {}};
            window_.stack().add(other);
        }
        settle();
        measure_file("80 layers: report on four machines as HTML",
                     [&](const QString& file) { exports->writeHtml(file); });
        measure_file("80 layers: report on four machines as PDF",
                     [&](const QString& file) { exports->writePdf(file); });
        measure_file("80 layers: page as PNG",
                     [&](const QString& file) { exports->writePng(file); });
        QObject::disconnect(seen);
    }
    void many() {
        Pages& pages = window_.pages();
        ScenarioStack& stack = window_.stack();
        pages.setCurrentIndex(0);
        window_.files().start(dense("8", "4096", 1));
        settle();
        const auto each = [&](int count, auto work) {
            for (int i = 0; i < count; ++i) {
                work(i);
                still_.paint();
            }
        };
        measure("200 scenarios: added",
                [&] { each(199, [&](int i) { stack.add(dense("8", "4096", i + 2)); }); });
        measure("200 scenarios: one after the other",
                [&] { each(200, [&](int i) { stack.setCurrent(i); }); });
        measure("200 scenarios: compared", [&] {
            pages.setCurrentWidget(&pages.compare());
            const auto* const table = pages.compare().findChild<TableModel*>();
            still_.run_until([&] { return table->columnCount() == 200; });
            settle();
        });
        measure("200 scenarios: edited while compared", [&] {
            each(20, [&](int i) {
                PlannedScenario edited = stack.current();
                edited.training["seq"] = std::to_string(1024 + 128 * i);
                stack.edit(edited, {}, {});
            });
            settle();
        });
        measure("200 scenarios: comparison as CSV and SVG", [&] {
            (void)pages.csv();
            still_.paint();
            (void)pages.svg();
        });
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("many.json"));
        measure("200 scenarios: saved", [&] { window_.saveFile(file); });
        measure("200 scenarios: opened, while compared", [&] {
            window_.openFile(file);
            settle();
        });
        pages.setCurrentIndex(0);
        measure("200 scenarios: undone", [&] {
            for (int i = 0; i < 200; ++i) stack.duplicate(i);
            still_.paint();
            still_.reset();
            each(200, [&](int) { stack.undoStack().undo(); });
        });
    }

    double worst_ = 0, worst_busy_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    const QTemporaryDir folder;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    MainWindow window(folder.path());
    window.show();
    Bench bench(window);
    const std::string part = argc > 1 ? argv[1] : "all";
    if (part == "all" || part == "verdicts") bench.verdicts();
    if (part == "all" || part == "answers") bench.answers();
    if (part == "all" || part == "stillness") bench.stillness();
    if (part == "memory") MemoryGrowth(window).measure(argc > 2 ? std::atoi(argv[2]) : 100);
    window.stack().setSaved();
}

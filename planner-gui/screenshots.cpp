// Pictures of the window with real predictions: sluice_planner_screenshots FOLDER [WIDTHxHEIGHT
// [light|dark]]. One a page, and one of a scenario that does not fit.
#include <fmt/format.h>

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <cstdio>

#include "planner-gui/pages/axis_editor.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/memory_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/sensitivity_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/pages.h"

namespace {

using namespace sluice;

constexpr int kMostMs = 120'000;

template <typename Done>
void run_until(Done done) {
    QElapsedTimer timer;
    timer.start();
    while (!done() && timer.elapsed() < kMostMs)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

void rest() {
    QElapsedTimer timer;
    timer.start();
    run_until([&] { return timer.elapsed() > 400; });
}

class Photographer {
  public:
    Photographer(MainWindow& window, QString folder, QString suffix)
        : window_(window), folder_(std::move(folder)), suffix_(std::move(suffix)) {}

    void settle() const {
        run_until([this] {
            const auto now = window_.prediction();
            return now != nullptr && now->planned == window_.stack().current() &&
                   now->stage == PredictionStage::remedies;
        });
    }
    /// Starts a job and waits for its end.
    template <typename Start>
    void finish(JobKind kind, Start start) const {
        bool done = false;
        const auto seen = QObject::connect(&window_.session(), &PlannerSession::finished,
                                           [&](JobKind one) { done = done || one == kind; });
        start();
        run_until([&] { return done; });
        QObject::disconnect(seen);
    }
    void take(const char* name) const {
        rest();
        const QString file =
            QDir(folder_).filePath(QString::fromLatin1(name) + suffix_ + QStringLiteral(".png"));
        if (!window_.grab().save(file))
            fmt::print(stderr, "{}: cannot be written\n", file.toStdString());
    }

  private:
    MainWindow& window_;
    QString folder_, suffix_;
};

void take_all(MainWindow& window, const Photographer& photographer) {
    Pages& pages = window.pages();
    PlannerSession& session = window.session();
    window.openExample();
    photographer.settle();
    const auto front = [&](QWidget& page) { pages.setCurrentWidget(&page); };
    front(pages.timeline());
    photographer.take("timeline");
    front(pages.memory());
    photographer.take("memory");

    front(pages.explore());
    const auto axis = [](const char* field, std::vector<double> values) {
        for (const Option& option : training_options())
            if (std::string_view(option.field) == field)
                return HeatAxis{varied_option(option), std::move(values)};
        return HeatAxis{};
    };
    const HeatAxis x = axis("batch", {16, 32, 64, 128, 256}),
                   y = axis("seq", {512, 1024, 2048, 4096, 8192});
    photographer.finish(JobKind::explore, [&] {
        const auto editors = pages.explore().findChildren<AxisEditor*>();
        editors[0]->valuesEdit()->setText(QString::fromStdString(values_text(x.number, x.values)));
        editors[1]->valuesEdit()->setText(QString::fromStdString(values_text(y.number, y.values)));
        for (AxisEditor* const editor : editors) editor->valuesEdit()->setCursorPosition(0);
        pages.explore().setAxes(x, y);
        Q_EMIT pages.explore().exploreRequested(x, y);
    });
    photographer.take("explore");
    photographer.finish(JobKind::machines, [&] { pages.showMachines(); });
    photographer.take("machines");
    front(pages.sensitivity());
    photographer.finish(JobKind::sensitivity,
                        [&] { Q_EMIT pages.sensitivity().sensitivityRequested(); });
    photographer.take("sensitivity");

    for (const ExampleQuestion& question : example_questions()) {
        if (question.flags.empty()) continue;
        PlannedScenario answer = with_flags(example_scenario(), question.flags);
        answer.name = question.text.toStdString();
        window.stack().add(answer);
    }
    front(pages.compare());
    photographer.finish(JobKind::compare, [&] { Q_EMIT pages.compare().compareRequested(); });
    photographer.settle();
    photographer.take("compare");
    window.stack().setCurrent(1);
    front(pages.memory());
    photographer.settle();
    photographer.take("does-not-fit");

    PlannedScenario measured;
    measured.name = "7B, as measured";
    measured.model.model = "qwen2.5-7b";
    measured.model.layers = "8";
    measured.machine.machine = "h200-pcie5-16vcpu-128gib";
    measured.training = {{"batch", "32"}};
    window.files().start(measured);
    front(pages.validation());
    photographer.finish(JobKind::validate,
                        [&] { session.validate(measured, {QStringLiteral("validation")}); });
    photographer.settle();
    photographer.take("validation");
}

}  // namespace

int main(int argc, char** argv) {
    const QApplication application(argc, argv);
    if (argc < 2) {
        fmt::print(stderr, "sluice_planner_screenshots: name a folder for the pictures\n");
        return 2;
    }
    const QString folder = QDir(QString::fromLocal8Bit(argv[1])).absolutePath();
    const QString size = QString::fromLatin1(argc > 2 ? argv[2] : "1280x800");
    const bool dark = argc > 3 && std::string_view(argv[3]) == "dark";
    QDir().mkpath(folder);
    QDir::setCurrent(QStringLiteral(SLUICE_SOURCE_DIR));  // names of files without it
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    QApplication::setPalette(dark ? dark_palette() : light_palette());
    MainWindow window(settings.path());
    window.resize(size.section(QLatin1Char('x'), 0, 0).toInt(),
                  size.section(QLatin1Char('x'), 1, 1).toInt());
    window.show();
    take_all(window, Photographer(window, folder, dark ? QStringLiteral("-dark") : QString()));
    window.stack().setSaved();
}

// Draws pictures of the window with real predictions: sluice_planner_screenshots FOLDER
// [WIDTHxHEIGHT [light|dark [TIMES]]]; TIMES scales the letters. Shows each page before and after
// its request, a scenario that does not fit, outdated answers, and 400 layers with a very long
// name.
#include <fmt/format.h>

#include <QApplication>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cstdio>

#include "planner-gui/pages/axis_editor.h"
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/homes_page.h"
#include "planner-gui/pages/money_page.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pages/prediction_page.h"
#include "planner-gui/pages/timeline_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/field_row.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/start_page.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace {

using namespace sluice;

template <typename Done>
void wait_until(Done done) {
    if (!QTest::qWaitFor(done, 600'000)) fmt::print(stderr, "a page took more than 10 minutes\n");
}

class Photographer {
  public:
    Photographer(MainWindow& window, QString folder, QString suffix)
        : window_(window), folder_(std::move(folder)), suffix_(std::move(suffix)) {}

    void settle() const {
        wait_until([this] {
            const auto now = window_.prediction();
            return now != nullptr && ask_the_same(now->planned, window_.stack().current()) &&
                   now->stage == PredictionStage::remedies;
        });
    }
    /// Starts a job and waits for its end.
    template <typename Start>
    void finish(JobKind kind, Start start) const {
        const QSignalSpy finished(&window_.session(), &PlannerSession::finished);
        start();
        wait_until([&] {
            return std::ranges::any_of(finished, [kind](const QList<QVariant>& one) {
                return one.front().value<JobKind>() == kind;
            });
        });
    }
    /// With that page in front.
    void take(QWidget& page, const char* name) const {
        window_.pages().setCurrentWidget(&page);
        settle();
        save(name);
    }
    /// Saves what the window shows.
    void save(const char* name) const {
        QTest::qWait(400);  // until the layout is complete and painted
        const QString file =
            QDir(folder_).filePath(QString::fromLatin1(name) + suffix_ + QStringLiteral(".png"));
        if (!window_.grab().save(file))
            fmt::print(stderr, "{}: cannot be written\n", file.toStdString());
    }

  private:
    MainWindow& window_;
    QString folder_, suffix_;
};

/// The start page with its answer: 72 B parameters, fine-tuned in a month.
void take_start(MainWindow& window, const Photographer& photographer) {
    window.openEmpty();
    window.showStart(true);
    photographer.save("start");
    for (const auto& [field, text] : {std::pair("model", "qwen2.5-72b"),
                                      {"tokens", "2B"},
                                      {"days", "30"},
                                      {"budget_usd", "20000"}})
        window.startPage().row(field)->setText(QLatin1String(text));
    photographer.finish(JobKind::start, [&] { window.startPage().findButton()->click(); });
    photographer.save("start-answer");
}

/// The homes of the example, and of layers that do not all live alike.
void take_homes(MainWindow& window, const Photographer& photographer) {
    HomesPage& page = window.pages().homes();
    photographer.take(page, "homes");
    PlannedScenario mixed;
    mixed.name = "7 B with homes";
    mixed.model.model = "qwen2.5-7b";
    mixed.machine.machine = "h200-pcie5-16vcpu-128gib";
    mixed.training = {{"batch", "32"},
                      {"keep_last_layers", "3"},
                      {"host_kept_layers", "4"},
                      {"keep_attention_layers", "12"}};
    window.stack().add(mixed);
    photographer.settle();
    Q_EMIT page.moved(QStringLiteral("resident_layers"), QStringLiteral("6"));
    photographer.take(page, "homes-moved");
    while (window.stack().undoStack().canUndo()) window.stack().undoStack().undo();
    photographer.settle();
}

void take_empty(MainWindow& window, const Photographer& photographer) {
    Pages& pages = window.pages();
    auto* const parts = pages.compare().findChild<QTabWidget*>();
    parts->setCurrentIndex(1);
    photographer.take(pages.compare(), "empty-compare");
    photographer.take(pages.pareto(), "empty-machines");
    photographer.take(pages.explore(), "empty-explore");
    photographer.take(pages.sensitivity(), "empty-sensitivity");
    photographer.take(pages.validation(), "empty-validation");
    photographer.take(pages.timeline(), "timeline");
    photographer.take(pages.memory(), "memory");
    take_homes(window, photographer);
}

void take_map(MainWindow& window, const Photographer& photographer) {
    ExplorePage& page = window.pages().explore();
    window.pages().setCurrentWidget(&page);
    const auto axes = page.findChildren<AxisEditor*>();  // batch and sequence
    const auto type = [](QLineEdit* edit, const QString& text) {
        edit->setText(text);
        Q_EMIT edit->textEdited(text);
        edit->setCursorPosition(0);
    };
    type(axes[0]->valuesEdit(), QStringLiteral("16,32,64,128,256"));
    type(axes[1]->valuesEdit(), QStringLiteral("512,1024,2048,4096,8192"));
    photographer.finish(JobKind::explore, [&] { Q_EMIT page.requested(); });
    photographer.take(page, "explore");
}

void take_answers(MainWindow& window, const Photographer& photographer) {
    Pages& pages = window.pages();
    take_map(window, photographer);
    photographer.finish(JobKind::machines, [&] { pages.showMachines(); });
    photographer.take(pages.pareto(), "machines");
    photographer.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().requested(); });
    photographer.take(pages.sensitivity(), "sensitivity");
    auto* const parts = pages.compare().findChild<QTabWidget*>();
    photographer.finish(JobKind::compare, [&] { Q_EMIT pages.compare().systems().requested(); });
    photographer.take(pages.compare(), "systems");
    parts->setCurrentIndex(0);

    for (const ExampleQuestion& question : example_questions()) {
        if (question.settings.empty()) continue;
        PlannedScenario answer = with_settings(example_scenario(), question.settings);
        answer.name = question.text.toStdString();
        window.stack().add(answer);
    }
    wait_until([&] {
        return pages.compare().csv().contains(qtext(window.stack().project().scenarios[1].name));
    });
    photographer.take(pages.compare(), "compare");
    window.stack().setCurrent(1);
    photographer.take(pages.memory(), "does-not-fit");
    photographer.take(pages.pareto(), "outdated-machines");
    photographer.take(pages.explore(), "outdated-explore");
    photographer.take(pages.sensitivity(), "outdated-sensitivity");
}

/// A machine that can be bought, and the report of all scenarios as PDF.
void take_money(MainWindow& window, const Photographer& photographer, const QString& pdf) {
    PlannedScenario bought = example_scenario();
    bought.model.model = "qwen2.5-14b";
    bought.machine.machine = "b200-sxm";
    bought.name = "14 B on a B200";
    bought.notes.clear();
    window.stack().add(bought);
    photographer.take(window.pages().money(), "money");
    auto* const exports = window.findChild<Exports*>();
    const QSignalSpy written(exports, &Exports::written);
    exports->writePdf(pdf);
    wait_until([&] { return written.count() == 1; });
}

/// A very long name, 400 layers, and bytes in GiB.
void take_large(MainWindow& window, const Photographer& photographer) {
    Pages& pages = window.pages();
    PlannedScenario large = example_scenario();
    large.name =
        "How much memory would the whole model with all of its layers and the states of the first "
        "phase of pre-training need on the machine that was offered to us in spring?";
    large.model.model =
        "dense:layers=400,hidden=2048,heads=16,kv_heads=8,head_dim=128,intermediate=8192,"
        "vocabulary=32000";
    large.money["tokens"] = "15000000000000";
    window.stack().add(large);
    window.setUnits(ByteUnits::binary);
    photographer.take(pages.timeline(), "large-timeline");
    photographer.take(pages.memory(), "large-memory");
    photographer.take(pages.compare(), "large-compare");
    window.setUnits(ByteUnits::decimal);
}

void take_validation(MainWindow& window, const Photographer& photographer) {
    PlannedScenario measured;
    measured.name = "7B, as measured";
    measured.model.model = "qwen2.5-7b";
    measured.model.layers = "8";
    measured.machine.machine = "h200-pcie5-16vcpu-128gib";
    measured.training = {{"batch", "32"}};
    window.stack().setSaved();
    window.files().start(measured);
    ValidationPage& page = window.pages().validation();
    window.pages().setCurrentWidget(&page);
    const QStringList runs = {QStringLiteral("validation/h200-pcie5-16vcpu-128gib"),
                              QStringLiteral("validation/peers-h200.json")};
    photographer.finish(JobKind::validate, [&] { Q_EMIT page.filesChosen(runs); });
    photographer.take(page, "validation");
    Q_EMIT page.runActivated(0);
    photographer.take(window.pages().timeline(), "measured");
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
    const double times = argc > 4 ? QString::fromLatin1(argv[4]).toDouble() : 1;
    if (times > 0 && times != 1) {
        QFont font = QApplication::font();
        font.setPointSizeF(times * font.pointSizeF());
        QApplication::setFont(font);
    }
    QDir().mkpath(folder);
    QDir::setCurrent(QStringLiteral(SLUICE_SOURCE_DIR));  // file names have no prefix then
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    use_palette(dark ? dark_palette() : light_palette());
    MainWindow window(settings.path());
    window.resize(size.section(QLatin1Char('x'), 0, 0).toInt(),
                  size.section(QLatin1Char('x'), 1, 1).toInt());
    window.show();
    const Photographer photographer(window, folder, dark ? QStringLiteral("-dark") : QString());
    take_start(window, photographer);
    window.stack().setSaved();
    window.openExample();
    photographer.settle();
    take_empty(window, photographer);
    take_answers(window, photographer);
    take_money(window, photographer, QDir(folder).filePath(QStringLiteral("report.pdf")));
    take_large(window, photographer);
    take_validation(window, photographer);
    window.stack().setSaved();
}

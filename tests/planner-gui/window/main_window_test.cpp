#include "planner-gui/window/main_window.h"

#include <QFile>
#include <QProcess>
#include <QPushButton>
#include <nlohmann/json.hpp>

#include "planner-gui/session/example.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

namespace {

/// What `sluice` prints.
std::string printed(const QStringList& arguments) {
    QProcess process;
    process.start(QStringLiteral(SLUICE_BINARY), arguments);
    REQUIRE(process.waitForFinished(120'000));
    CHECK(process.exitCode() == 0);
    return process.readAllStandardOutput().toStdString();
}

std::string predict_json(const QString& project) {
    return printed({QStringLiteral("predict"), QStringLiteral("--json"),
                    QStringLiteral("--scenario"), project});
}

}  // namespace

TEST_CASE("window: a first start opens the example with three questions", "[window]") {
    const WindowDriver driver;
    driver.window->start({});
    const auto first = driver.settled();
    CHECK(first->planned == example_scenario());
    CHECK(driver.window->verdict().headline().contains(QStringLiteral("Fits")));
    const auto questions =
        driver.window->verdict().findChildren<QPushButton*>(QStringLiteral("question"));
    REQUIRE(questions.size() == 3);
    QTest::mouseClick(questions[0], Qt::LeftButton);
    CHECK(driver.window->stack().count() == 2);
    const auto answered = driver.settled();
    CHECK(!answered->report().fit.fits());
    CHECK(driver.window->verdict().headline().contains(QStringLiteral("Does not fit")));
}

TEST_CASE("window: less memory until it does not fit, a suggestion, undo, save, the same numbers",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    driver.type("model", "qwen2.5-14b");
    driver.type("machine", "h200-sxm-pcie5-1.5tb");
    driver.type("batch", "83");  // begins with the default
    QTest::keyClick(driver.line("batch"), Qt::Key_Backspace);
    CHECK(driver.line("batch")->text() == QStringLiteral("8"));
    driver.type("batch", "32");
    driver.type("micro_batch", "");
    CHECK(driver.settled()->report().fit.fits());
    driver.type("host_memory", "160GB");
    const auto short_of = driver.settled();
    REQUIRE(!short_of->report().fit.fits());
    REQUIRE(!short_of->report().suggestions.empty());

    const auto buttons = window.verdict().findChildren<QPushButton*>(QStringLiteral("suggestion"));
    REQUIRE(!buttons.empty());
    QTest::mouseClick(buttons.front(), Qt::LeftButton);
    const auto adopted = driver.settled();
    CHECK(adopted->report().fit.fits());
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == short_of->planned);
    CHECK(driver.line("host_memory")->text() == QStringLiteral("160GB"));
    window.stack().undoStack().redo();
    CHECK(driver.settled()->planned == adopted->planned);

    const QString file = driver.folder.filePath(QStringLiteral("a project.json"));
    REQUIRE(window.saveFile(file));
    CHECK(!window.isWindowModified());
    window.stack().duplicate(0);
    CHECK(window.isWindowModified());
    REQUIRE(window.openFile(file));
    const auto reopened = driver.settled();
    CHECK(reopened->planned == adopted->planned);

    const auto cli = nlohmann::json::parse(predict_json(file));
    const auto gui = nlohmann::json::parse(report_json(reopened->report()));
    CHECK(gui["fits"] == cli["fits"]);
    CHECK(gui["device_peak_bytes"] == cli["device_peak_bytes"]);
    CHECK(gui["host_peak_bytes"] == cli["host_peak_bytes"]);
    CHECK(gui["bottleneck_words"] == cli["bottleneck_words"]);
    CHECK(gui["machine"] == cli["machine"]);
    CHECK(gui["training"] == cli["training"]);
    CHECK(gui["assumptions"] == cli["assumptions"]);
    for (const char* key : {"step_s", "tokens_per_s", "tokens_per_s_5_percent",
                            "tokens_per_s_95_percent", "usd_per_million_tokens"})
        CHECK(gui[key].get<double>() == Approx(cli[key].get<double>()).epsilon(1e-9));
}

TEST_CASE("window: a wrong value is marked with the sentence of the command line", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    driver.settled();
    driver.type("batch", "many");
    FieldRow* const batch = window.form().row(QStringLiteral("batch"));
    REQUIRE(test::wait_until([&] { return !batch->mistake().isEmpty(); }));
    QProcess process;
    process.start(QStringLiteral(SLUICE_BINARY),
                  QProcess::splitCommand(QStringLiteral(
                      "predict --model 120b --machine h200-sxm-pcie5-1.5tb --batch many")));
    REQUIRE(process.waitForFinished(60'000));
    CHECK(QStringLiteral("sluice: ") + batch->mistake() ==
          QString::fromUtf8(process.readAllStandardError()).trimmed());
    CHECK(window.verdict().headline() == QStringLiteral("No prediction"));
    driver.type("batch", "64");
    driver.settled();
    CHECK(batch->mistake().isEmpty());
}

TEST_CASE("window: only the options of the chosen system are shown", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const auto shown = [&](const char* field) {
        return window.form().row(QString::fromLatin1(field))->isVisibleTo(&window);
    };
    CHECK(shown("buffer_depth"));
    CHECK(!shown("gpus"));
    auto* const system =
        qobject_cast<QComboBox*>(window.form().row(QStringLiteral("schedule"))->editor());
    system->setFocus();
    QTest::keyClicks(system, QStringLiteral("resident"));
    CHECK(system->currentText() == QStringLiteral("resident"));
    CHECK(!shown("buffer_depth"));
    CHECK(window.stack().current().training.at("schedule") == "resident");
}

TEST_CASE("window: a damaged project says so and leaves everything as it was", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const QString file = driver.folder.filePath(QStringLiteral("broken.json"));
    QFile broken(file);
    REQUIRE(broken.open(QIODevice::WriteOnly));
    broken.write(R"({"format": "sluice project", "version": 1, "scenarios": [{"name": "x"}]})");
    broken.close();
    CHECK(!window.openFile(file));
    CHECK(window.stack().current() == example_scenario());
    CHECK(!window.saveFile(driver.folder.filePath(QStringLiteral("no/such/folder/p.json"))));
    CHECK(window.stack().current() == example_scenario());
}

TEST_CASE("window: another value for a number of the machine, and back", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const double before = driver.settled()->report().tokens_per_s();
    auto* const numbers = window.form().findChild<MachineNumbersModel*>();
    REQUIRE(numbers != nullptr);
    const auto index_of = [&](const QString& path) {
        return numbers->match(numbers->index(0, 0), Qt::DisplayRole, path, 1, Qt::MatchExactly)
            .front()
            .siblingAtColumn(MachineNumbersModel::ValueColumn);
    };
    const QString path = QStringLiteral("gpu.bf16_achieved_gemm_tflops");
    REQUIRE(numbers->setData(index_of(path), QStringLiteral("400"), Qt::EditRole));
    CHECK(driver.settled()->report().tokens_per_s() < before);
    CHECK(window.stack().current().machine.settings ==
          std::vector<std::string>{"gpu.bf16_achieved_gemm_tflops=400"});
    REQUIRE(numbers->setData(index_of(path), QString(), Qt::EditRole));
    CHECK(driver.settled()->report().tokens_per_s() == Approx(before));
}

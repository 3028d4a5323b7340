#include "planner-gui/window/main_window.h"

#include <QFile>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <nlohmann/json.hpp>

#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

TEST_CASE("window: the example is opened with three questions", "[window]") {
    const WindowDriver driver;
    driver.window->start({});
    driver.window->openExample();
    const auto first = driver.settled();
    CHECK(first->planned == example_scenario());
    CHECK(driver.window->verdict().headline().contains(QStringLiteral("Fits")));
    const auto questions =
        driver.window->verdict().findChildren<QPushButton*>(QStringLiteral("question"));
    REQUIRE(questions.size() == 3);
    QTest::mouseClick(questions[0], Qt::LeftButton);
    CHECK(driver.window->stack().count() == 2);
    const auto answered = driver.settled();
    CHECK(!answered->report().plan.fit.fits());
    CHECK(driver.window->verdict().headline().contains(
        QStringLiteral("Fits with other settings; with these it is short")));
}

TEST_CASE("window: the example's questions are shown for the example only", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    const auto buttons = [&](const char* name) {
        return window.verdict().findChildren<QPushButton*>(QLatin1String(name)).size();
    };
    CHECK(buttons("question") == 3);
    driver.type("host_memory", "512GB");
    driver.settled();
    CHECK(buttons("question") == 0);
    CHECK(buttons("suggestion") > 0);
    driver.type("host_memory", "");
    driver.settled();
    CHECK(buttons("question") == 3);
    CHECK(buttons("suggestion") == 0);
    driver.type("model", "qwen2.5-72b");
    driver.settled();
    CHECK(buttons("question") == 0);
}

/// Where the pages begin, once labels have taken the height that their words need.
int top_of_pages(MainWindow& window) {
    for (;;) {
        const int top = window.pages().y();
        QApplication::processEvents();  // all that is posted, also what follows from that
        if (window.pages().y() == top) return top;
    }
}

TEST_CASE("window: what does not fit moves no tab away from under the mouse", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.resize(1280, 800);
    window.openExample();
    driver.type("model", "qwen2.5-72b");
    driver.settled();
    const int top = top_of_pages(window);
    driver.type("host_memory", "512GB");
    CHECK(!driver.settled()->report().plan.fit.fits());
    CHECK(top_of_pages(window) == top);
}

TEST_CASE("window: large letters and a long name leave it as narrow as a small screen",
          "[window]") {
    const QFont before = QApplication::font();
    QFont large = before;
    large.setPointSizeF(before.pointSizeF() * 1.5);
    QApplication::setFont(large);
    {
        const WindowDriver driver;
        MainWindow& window = *driver.window;
        driver.openExample();
        QApplication::processEvents();
        CHECK(window.minimumSizeHint().width() <= 1280);
        const QString file =
            driver.folder.filePath(QString(120, QLatin1Char('m')) + QStringLiteral(".json"));
        QFile config(file);
        REQUIRE(config.open(QIODevice::WriteOnly));
        config.write(R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
            "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8,
            "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 32000,
            "max_position_embeddings": 2048, "tie_word_embeddings": false})");
        config.close();
        window.form().enter(QStringLiteral("model"), file);
        for (const char* memory : {"", "1GB"}) {
            driver.type("host_memory", memory);
            driver.settled();
            for (int page = 0; page < window.pages().count(); ++page) {
                window.pages().setCurrentIndex(page);
                QApplication::processEvents();
                CHECK(window.minimumSizeHint().width() <= 1280);
            }
        }
    }
    QApplication::setFont(before);
}

TEST_CASE("window: a purchase says for how much and of what", "[window]") {
    constexpr const char* kNode = "8 of 8 GPUs";
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario bought = example_scenario();
    bought.model.model = "qwen2.5-14b";
    bought.machine.machine = "mi300x";
    bought.money = {{"ownership", "buy"}, {"node_usd", "50000"}};
    window.files().start(bought);
    const auto more = [&] {
        const CostAnswer& cost = driver.settled()->cost;
        REQUIRE(cost.payment);
        CHECK(cost.payment->price_usd > 0);
        const auto* const label = window.verdict().findChild<QLabel*>(QStringLiteral("price_more"));
        return std::pair(label->text(),
                         QString::fromStdString(format_usd(cost.payment->price_usd)));
    };
    const auto [parts, sum] = more();
    CHECK(sum == QStringLiteral("$170,000"));  // 8 x 15,000 + 50,000
    CHECK(parts.contains(sum));
    CHECK(parts.contains(QString::fromLatin1(kNode)));
    driver.type("price_usd", "30000");
    const auto [whole, price] = more();
    CHECK(whole.contains(price));
    CHECK(whole.contains(QString::fromLatin1(kNode)));
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
    CHECK(driver.settled()->report().plan.fit.fits());
    driver.type("host_memory", "96GB");
    const auto short_of = driver.settled();
    REQUIRE(!short_of->report().plan.fit.fits());
    REQUIRE(!short_of->report().advice.suggestions.empty());

    const auto buttons = window.verdict().findChildren<QPushButton*>(QStringLiteral("suggestion"));
    REQUIRE(!buttons.empty());
    QTest::mouseClick(buttons.front(), Qt::LeftButton);
    const auto adopted = driver.settled();
    CHECK(adopted->report().plan.fit.fits());
    window.stack().undoStack().undo();
    CHECK(driver.settled()->planned == short_of->planned);
    CHECK(driver.line("host_memory")->text() == QStringLiteral("96GB"));
    window.stack().undoStack().redo();
    CHECK(driver.settled()->planned == adopted->planned);

    const QString file = driver.file("a project.json");
    REQUIRE(window.saveFile(file));
    CHECK(!window.isWindowModified());
    window.stack().duplicate(0);
    CHECK(window.isWindowModified());
    REQUIRE(window.openFile(file));
    const auto reopened = driver.settled();
    CHECK(reopened->planned == adopted->planned);

    const auto cli = test::printed_json(
        {QStringLiteral("predict"), QStringLiteral("--json"), QStringLiteral("--scenario"), file});
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
    driver.openExample();
    driver.type("batch", "many");
    FieldRow* const batch = window.form().row(QStringLiteral("batch"));
    REQUIRE(test::wait_until([&] { return !batch->mistake().isEmpty(); }));
    QProcess process;
    process.start(QStringLiteral(SLUICE_BINARY),
                  QProcess::splitCommand(QStringLiteral(
                      "predict --model 120b --machine h200-sxm-pcie5-1.5tb --batch many")));
    REQUIRE(process.waitForFinished(-1));
    CHECK(QStringLiteral("sluice: ") + batch->mistake() ==
          without_flags(QString::fromUtf8(process.readAllStandardError()).trimmed()));
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
    const QString file = driver.file("broken.json");
    QFile broken(file);
    REQUIRE(broken.open(QIODevice::WriteOnly));
    broken.write(R"({"format": "sluice project", "version": 1, "scenarios": [{"name": "x"}]})");
    broken.close();
    CHECK(!window.openFile(file));
    CHECK(window.stack().current() == example_scenario());
    CHECK(!window.saveFile(driver.file("no/such/folder/p.json")));
    CHECK(window.stack().current() == example_scenario());
}

TEST_CASE("window: another value for a number of the machine, and back", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    const double before = driver.settled()->report().tokens_per_s();
    auto* const numbers = window.form().findChild<TableModel*>();
    REQUIRE(numbers != nullptr);
    const auto index_of = [&](const QString& path) {
        const QModelIndexList found =
            numbers->match(numbers->index(0, 0), Qt::EditRole, path, 1, Qt::MatchExactly);
        REQUIRE(found.size() == 1);
        return found.front().siblingAtColumn(numbers->columnOf("value"));
    };
    const QString path = QStringLiteral("gpu.bf16_achieved_gemm_tflops");
    REQUIRE(numbers->setData(index_of(path), QStringLiteral("400"), Qt::EditRole));
    CHECK(driver.settled()->report().tokens_per_s() < before);
    CHECK(window.stack().current().machine.settings ==
          std::vector<std::string>{"gpu.bf16_achieved_gemm_tflops=400"});
    REQUIRE(numbers->setData(index_of(path), QString(), Qt::EditRole));
    CHECK(driver.settled()->report().tokens_per_s() == Approx(before));
}

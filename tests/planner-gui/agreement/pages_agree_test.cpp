// Do the start page, Compare, Machines and Explore print the numbers of the command line's answers
// to the same questions?
#include <fmt/format.h>

#include <QPushButton>
#include <algorithm>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/explore_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/start_page.h"
#include "sim/base/format.h"
#include "tests/planner-gui/end_to_end/person.h"

using namespace sluice;
using test::type;
using test::WindowDriver;

namespace {

constexpr const char* kModel = "qwen3-30b-a3b";

PlannedScenario scenario_on(const std::string& machine) {
    PlannedScenario out;
    out.name = machine;
    out.model.model = kModel;
    out.machine.machine = machine;
    out.training = {{"batch", "16"}};
    out.money = {{"tokens", "2e9"}};
    return out;
}

/// The lines of a card, from its top.
QStringList lines_of(const QPushButton& open) {
    QList<QLabel*> labels = open.parentWidget()->findChildren<QLabel*>();
    std::ranges::sort(labels, {}, [](const QLabel* one) { return one->y(); });
    QStringList out;
    for (const QLabel* const label : labels) out << label->text();
    return out;
}

/// The arguments of a command that `choose` prints, apart from the program's name.
QStringList arguments_of(const std::string& command) {
    QStringList out = QProcess::splitCommand(QString::fromStdString(command));
    while (!out.isEmpty() && out.front() != QLatin1String("predict") &&
           out.front() != QLatin1String("cost"))
        out.removeFirst();
    return out << QStringLiteral("--json");
}

/// `sluice cost` of the question that a page asked, which chooses its own plan.
nlohmann::json cost_of(const PlannedScenario& planned) {
    QStringList asked = {
        QStringLiteral("cost"),      QStringLiteral("--json"),
        QStringLiteral("--model"),   QString::fromStdString(planned.model.model),
        QStringLiteral("--machine"), QString::fromStdString(planned.machine.machine),
        QStringLiteral("--tokens"),  QString::fromStdString(planned.money.at("tokens"))};
    for (const auto& [field, value] : planned.training)
        asked << QString::fromStdString(option_flag(training_option(field)))
              << QString::fromStdString(value);
    return test::printed_json(asked);
}

void check_value(const ScenarioValue& value, const nlohmann::json& cost) {
    REQUIRE(value.fits() == cost["fits"].get<bool>());
    if (!value.fits()) return;
    CHECK(format_thousands(value.tokens_per_s()) ==
          format_thousands(cost["tokens_per_s"].get<double>()));
    REQUIRE(value.usd_per_hour.has_value() == cost.contains("payment"));
    if (!value.usd_per_hour) return;
    const auto& payment = cost["payment"];
    CHECK(format_usd(*value.usd_per_hour) == format_usd(payment["usd_per_hour"].get<double>()));
    CHECK(format_usd(*value.usd_per_million_tokens) ==
          format_usd(payment["usd_per_million_tokens"]["value"].get<double>()));
}

}  // namespace

TEST_CASE("agreement: the start page's cards are the ways that choose prints", "[agreement]") {
    const auto printed = test::printed_json({QStringLiteral("choose"), QStringLiteral("--json"),
                                             QStringLiteral("--model"), QString::fromLatin1(kModel),
                                             QStringLiteral("--tokens"), QStringLiteral("2B"),
                                             QStringLiteral("--days"), QStringLiteral("30"),
                                             QStringLiteral("--budget"), QStringLiteral("20000")});
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.start({});
    type(window, "model", kModel);
    type(window, "tokens", "2B");
    type(window, "days", "30");
    type(window, "budget_usd", "20000");
    driver.finish(JobKind::start,
                  [&] { QTest::mouseClick(window.startPage().findButton(), Qt::LeftButton); });
    QTest::qWait(0);  // earlier cards are deleted
    auto cards = window.startPage().findChildren<QPushButton*>(QStringLiteral("openPlan"));
    std::ranges::sort(cards, {}, [](const QPushButton* one) { return one->parentWidget()->y(); });
    const auto& picks = printed["picks"];
    REQUIRE(cards.size() == static_cast<qsizetype>(picks.size()));
    REQUIRE(picks.size() == 3);
    for (std::size_t i = 0; i < picks.size(); ++i) {
        const auto& pick = picks[i];
        const std::string way = pick["way"];
        INFO(way);
        const QStringList lines = lines_of(*cards[static_cast<qsizetype>(i)]);
        REQUIRE(lines.size() == 4);
        CHECK(lines[0].toStdString() == way + ": " + pick["time_and_money"].get<std::string>());
        CHECK(lines[1].startsWith(QString::fromStdString(pick["why"].get<std::string>())));
        CHECK(lines[2] == window_text(pick["explanation"].get<std::string>()));
        // The card's plan, and the plan of the printed command, have the card's numbers.
        const auto predicted = test::printed_json(arguments_of(pick["commands"][0]));
        const auto cost = test::printed_json(arguments_of(pick["commands"][1]));
        const std::string speed = format_thousands(predicted["tokens_per_s"].get<double>());
        CHECK_THAT(lines[2].toStdString(), ContainsSubstring(speed + " tokens/s"));
        CHECK_THAT(
            lines[0].toStdString(),
            ContainsSubstring(format_usd(cost["payment"]["run_usd"]["value"].get<double>())));
    }
    QTest::mouseClick(cards[0], Qt::LeftButton);
    const auto opened = driver.settled();
    const auto first = test::printed_json(arguments_of(picks[0]["commands"][0]));
    const auto same = test::printed_json(arguments_of(command_line(opened->planned)));
    CHECK(first["training"] == same["training"]);
    CHECK(test::shown(window, "speed").toStdString() ==
          format_thousands(first["tokens_per_s"].get<double>()) + " tokens/s");
    window.stack().setSaved();
}

TEST_CASE("agreement: the Compare page's systems are those of compare", "[agreement]") {
    const WindowDriver driver;
    Pages& pages = driver.window->pages();
    for (const char* machine : {"gh200-480gb", "mi355x"}) {
        INFO(machine);
        const PlannedScenario planned = scenario_on(machine);
        driver.open(planned);
        pages.setCurrentWidget(&pages.compare());
        BarsPage& page = pages.compare().systems();
        driver.finish(JobKind::compare, [&] { Q_EMIT page.requested(); });
        const QStringList asked = {QStringLiteral("compare"),   QStringLiteral("--csv"),
                                   QStringLiteral("--model"),   QString::fromLatin1(kModel),
                                   QStringLiteral("--machine"), QString::fromLatin1(machine),
                                   QStringLiteral("--batch"),   QStringLiteral("16")};
        CHECK(page.csv() == test::printed(asked));
    }
    driver.window->stack().setSaved();
}

TEST_CASE("agreement: the Machines page's rows are the costs of its systems", "[agreement]") {
    const WindowDriver driver;
    Pages& pages = driver.window->pages();
    driver.open(scenario_on("gh200-480gb"));
    driver.finish(JobKind::machines, [&] { pages.showMachines(); });
    std::size_t checked = 0;
    for (const MachineSystem& row : pages.pareto().rows()) {
        const bool asked = (row.machine == "gh200-480gb" || row.machine == "mi355x" ||
                            row.machine == "rtx-pro-6000") &&
                           (row.schedule == "streamed" || row.schedule == "zero3-offload" ||
                            row.schedule == "resident");
        if (!asked) continue;
        INFO(row.schedule << " on " << row.machine);
        PlannedScenario question = scenario_on(row.machine);
        question.training["schedule"] = row.schedule;
        check_value(row.value, cost_of(question));
        ++checked;
    }
    CHECK(checked == 9);
    driver.window->stack().setSaved();
}

TEST_CASE("agreement: the Explore page's cells are predictions of their settings", "[agreement]") {
    const WindowDriver driver;
    const PlannedScenario planned = scenario_on("gh200-480gb");
    driver.open(planned);
    Pages& pages = driver.window->pages();
    ExplorePage& page = pages.explore();
    pages.setCurrentWidget(&page);
    const HeatAxis batch{varied_option(training_option("batch")), {8, 64}};
    const HeatAxis sequence{varied_option(training_option("seq")), {1024, 8192}};
    const auto explore = [&](PointSettings settings) {
        page.setMap(HeatMap(batch, sequence, settings));
        driver.finish(JobKind::explore, [&] { Q_EMIT page.exploreRequested(page.map()); });
        REQUIRE(page.map().computed() == 4);
    };
    const auto check_cells = [&](const auto& answer) {
        for (const int x : {0, 1})
            for (const int y : {0, 1}) {
                const std::string sequences = batch.values[x] == 8 ? "8" : "64",
                                  tokens = sequence.values[y] == 1024 ? "1024" : "8192";
                INFO("batch " << sequences << ", sequence " << tokens);
                answer(*page.map().cell({x, y}), sequences, tokens);
            }
    };

    explore(PointSettings::fastest);
    check_cells(
        [&](const ScenarioValue& cell, const std::string& sequences, const std::string& tokens) {
            PlannedScenario question = planned;
            question.training = {{"batch", sequences}, {"seq", tokens}};
            check_value(cell, cost_of(question));
        });

    explore(PointSettings::given);
    const QString swept = test::printed(
        {QStringLiteral("sweep"), QStringLiteral("--model"), QString::fromLatin1(kModel),
         QStringLiteral("--machine"), QStringLiteral("gh200-480gb"), QStringLiteral("--batch"),
         QStringLiteral("8,64"), QStringLiteral("--seq"), QStringLiteral("1024,8192"),
         QStringLiteral("--all"), QStringLiteral("--columns"),
         QStringLiteral("batch,seq,state,tokens_per_s")});
    check_cells(
        [&](const ScenarioValue& cell, const std::string& sequences, const std::string& tokens) {
            const std::string row =
                cell.fits()
                    ? fmt::format("\n{},{},simulated,{}", sequences, tokens, cell.tokens_per_s())
                    : fmt::format("\n{},{},does not fit,", sequences, tokens);
            CHECK_THAT(swept.toStdString(), ContainsSubstring(row));
        });
    driver.window->stack().setSaved();
}

// Do window, command line, HTML, PDF and CSV give the same numbers, to the digit that they show?
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "planner-gui/pages/money_page.h"
#include "planner-gui/session/session_jobs.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/printed_report.h"
#include "sim/answers/cost/cost.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/scenario/project_file.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/file_content.h"

using namespace sluice;
using test::shown;
using test::WindowDriver;

namespace {

constexpr const char* kModels[] = {"qwen2.5-14b", "qwen2.5-32b", "llama-3.1-70b", "qwen3-30b-a3b",
                                   "qwen3-235b-a22b"};
constexpr const char* kMachines[] = {"gh200-480gb", "h200-sxm-pcie5", "b200-sxm",    "b300-sxm",
                                     "mi355x",      "dgx-spark-gb10", "rtx-pro-6000"};

PlannedScenario scenario_of(const char* model, const char* machine) {
    PlannedScenario out;
    out.name = machine;
    out.model.model = model;
    out.machine.machine = machine;
    out.training = {{"batch", "16"}};
    out.money = {{"tokens", "2e9"}};
    return out;
}

struct Shown {
    std::string speed, usd_per_hour, usd_per_million, run_usd, days;
};

Shown shown_of(const nlohmann::json& cost) {
    const auto& payment = cost["payment"];
    return {format_thousands(cost["tokens_per_s"]),
            format_usd(payment["usd_per_hour"].get<double>()),
            format_usd(payment["usd_per_million_tokens"]["value"].get<double>()),
            format_usd(payment["run_usd"]["value"].get<double>()),
            format_days({cost["days"]["value"].get<double>()})};
}

/// Opens it, and waits until its figures are shown; suggestions and remedies may come later.
void open(const WindowDriver& driver, const PlannedScenario& planned) {
    driver.window->files().start(planned);
    REQUIRE(test::wait_until([&] {
        const auto now = driver.window->prediction();
        return now != nullptr && ask_the_same(now->planned, planned);
    }));
}

void check_window(const MainWindow& window, const Shown& expected) {
    const auto label = [&](const char* name) { return shown(window, name).toStdString(); };
    CHECK(label("speed") == expected.speed + " tokens/s");
    CHECK(label("price") == expected.usd_per_million + " a million tokens");
    CHECK_THAT(label("price_more"), ContainsSubstring(expected.usd_per_hour + " an hour"));
    CHECK(label("days") == expected.days);
    CHECK_THAT(label("days_more"), ContainsSubstring(expected.run_usd + " for 2.00 B tokens"));
}

/// The row of the payment that the costs take.
void check_csv(MainWindow& window, const nlohmann::json& cost) {
    const auto& payment = cost["payment"];
    const std::string csv = window.pages().money().csv().toStdString();
    CHECK_THAT(
        csv, ContainsSubstring(fmt::format(
                 "{},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},",
                 payment["name"].get<std::string>(), payment["gpus_paid"].get<double>(),
                 cost["tokens_per_s"].get<double>(), payment["usd_per_hour"].get<double>(),
                 payment["usd_per_million_tokens"]["value"].get<double>(),
                 cost["days"]["value"].get<double>(), payment["run_usd"]["value"].get<double>())));
}

void check_page(const std::string& html, const std::string& pdf, const Shown& expected) {
    for (const std::string& words :
         {expected.speed, expected.usd_per_hour, expected.usd_per_million, expected.run_usd}) {
        CHECK_THAT(html, ContainsSubstring(">" + words + "</data>"));
        CHECK_THAT(pdf, ContainsSubstring("\n" + words + "\n"));
    }
}

void check_model(const char* model, std::span<const char* const> machines) {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    std::vector<PlannedScenario> all;
    for (const char* machine : machines) all.push_back(scenario_of(model, machine));
    const QString project = driver.file("project.json");
    test::write(project, QByteArray::fromStdString(project_json({all, 0})));
    const Decision decision = decide(decision_request(all.front(), all));
    const std::string html = decision_html(decision);
    const std::string pdf = report_pdf_text(decision).toStdString();
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO(model << " on " << all[i].name);
        const auto cost = test::printed_json(
            {QStringLiteral("cost"), QStringLiteral("--json"), QStringLiteral("--scenario"),
             project + QLatin1Char(':') + QString::fromStdString(all[i].name)});
        const Shown expected = shown_of(cost);
        open(driver, all[i]);
        check_window(window, expected);
        check_csv(window, cost);
        REQUIRE(decision.candidates[i].fits() == cost["fits"].get<bool>());
        if (decision.candidates[i].fits()) check_page(html, pdf, expected);
    }
    window.stack().setSaved();
}

}  // namespace

TEST_CASE("agreement: five models and seven machines", "[agreement]") {
    for (std::size_t model = 0; model < std::size(kModels); ++model)
        check_model(kModels[model], std::span(kMachines).subspan(model, 3));
}

TEST_CASE("agreement: five models on each of seven machines", "[.][nightly]") {
    for (const char* const model : kModels) check_model(model, kMachines);
}

TEST_CASE("agreement: a purchase price that is not known is asked for everywhere", "[agreement]") {
    const WindowDriver driver;
    const PlannedScenario planned = scenario_of("qwen2.5-14b", "gh200-480gb");
    const QString project = driver.file("project.json");
    test::write(project, QByteArray::fromStdString(project_json({{planned}, 0})));
    const auto cost = test::printed_json(
        {QStringLiteral("cost"), QStringLiteral("--json"), QStringLiteral("--scenario"), project});
    CHECK_THAT(cost["purchase_missing"].get<std::string>(),
               ContainsSubstring("give the whole as --price-usd"));
    const std::string asked = "give the whole as \"Purchase price\"";
    const auto window = driver.open(planned);
    CHECK(!window->cost.can_break_even());
    const Table ways = ways_to_pay_table(window->cost, window->together);
    CHECK_THAT(cell_text(ways.rows.back().cells.back(), Unit::text), ContainsSubstring(asked));
    const Decision decision = decide(decision_request(planned, {planned}));
    CHECK_THAT(decision_html(decision),
               ContainsSubstring("give the whole as &quot;Purchase price"));
    CHECK_THAT(report_pdf_text(decision).toStdString(), ContainsSubstring(asked));

    PlannedScenario to_buy = planned;
    to_buy.money["ownership"] = "buy";
    driver.open(to_buy);
    CHECK(shown(*driver.window, "price") == QStringLiteral("no purchase price known"));
    to_buy.money["price_usd"] = "40000";
    driver.open(to_buy);
    CHECK(shown(*driver.window, "price_more").contains(QStringLiteral("bought for $40,000")));
    driver.window->stack().setSaved();
}

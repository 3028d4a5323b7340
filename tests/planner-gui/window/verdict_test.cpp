// The verdict is whole whatever the size of the letters and of the window.
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>

#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

namespace {

/// Letters so many times as large, until it goes.
class Letters {
  public:
    explicit Letters(double times) : before_(QApplication::font()) {
        QFont font = before_;
        font.setPointSizeF(times * font.pointSizeF());
        QApplication::setFont(font);
    }
    ~Letters() { QApplication::setFont(before_); }
    Letters(const Letters&) = delete;
    Letters& operator=(const Letters&) = delete;

  private:
    QFont before_;
};

void let_layouts_settle() {
    for (int i = 0; i < 4; ++i) {
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }
}

QRect place(const VerdictPanel& verdict, const char* label) {
    auto* const found = verdict.findChild<QLabel*>(QString::fromLatin1(label));
    REQUIRE(found != nullptr);
    return {found->mapTo(&verdict, QPoint()), found->size()};
}

/// Every word and button is there as large as it needs, and none is over another.
void check_whole(const VerdictPanel& verdict) {
    QList<QRect> places;
    for (const QWidget* const part : verdict.findChildren<QWidget*>()) {
        const auto* const label = qobject_cast<const QLabel*>(part);
        if (label == nullptr && qobject_cast<const QPushButton*>(part) == nullptr) continue;
        if (!part->isVisible() || (label != nullptr && label->text().isEmpty())) continue;
        INFO((label != nullptr ? label->text() : part->accessibleName()).toStdString());
        const bool wraps = label != nullptr && label->wordWrap();
        CHECK(part->width() >= (wraps ? part->minimumSizeHint() : part->sizeHint()).width());
        CHECK(part->height() >=
              (wraps ? part->heightForWidth(part->width()) : part->sizeHint().height()));
        const QRect rect(part->mapTo(&verdict, QPoint()), part->size());
        CHECK(verdict.rect().contains(rect));
        for (const QRect& other : places) CHECK(!rect.intersects(other));
        places << rect;
    }
    CHECK(places.size() > 10);
}

const QScrollArea& area_of(const VerdictPanel& verdict) {
    const auto* const area =
        qobject_cast<const QScrollArea*>(verdict.parentWidget()->parentWidget());
    REQUIRE(area != nullptr);
    return *area;
}

}  // namespace

TEST_CASE("verdict: nothing is cut, with letters of any size", "[window]") {
    const double times = GENERATE(1.0, 1.3, 1.7);
    const Letters letters(times);
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.resize(1280, 800);
    window.openExample();
    for (const char* memory : {"", "1TB"}) {
        driver.type("host_memory", memory);
        driver.settled();
        let_layouts_settle();
        INFO("letters " << times << ", host memory " << memory);
        check_whole(window.verdict());
        const QScrollArea& area = area_of(window.verdict());
        CHECK(window.verdict().width() <= area.viewport()->width());
        // It scrolls only where there is no room for it.
        if (times < 1.5) CHECK(window.verdict().height() <= area.viewport()->height());
    }
}

TEST_CASE("verdict: figures stand side by side where there is room, else a line each", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.openExample();
    driver.settled();
    const auto columns = [&](int width) {
        window.resize(width, 800);
        let_layouts_settle();
        check_whole(window.verdict());
        const VerdictPanel& verdict = window.verdict();
        const bool beside = place(verdict, "speed").top() == place(verdict, "energy").top();
        CHECK((place(verdict, "speed").left() == place(verdict, "energy").left()) == !beside);
        return beside;
    };
    const int narrow = window.minimumSizeHint().width();
    CHECK(columns(2000));
    CHECK(!columns(narrow));
    CHECK(columns(2000));
}

TEST_CASE("verdict: nothing below it moves while a value is wrong or a price is not known",
          "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    window.resize(1280, 800);
    window.openExample();
    driver.settled();
    let_layouts_settle();
    const int below = window.pages().mapTo(&window, QPoint()).y();
    driver.type("batch", "no");
    REQUIRE(test::wait_until([&] { return window.prediction() == nullptr; }));
    let_layouts_settle();
    CHECK(window.pages().mapTo(&window, QPoint()).y() == below);
    driver.type("batch", "64");
    driver.type("machine", "mi355x");
    driver.settled();
    let_layouts_settle();
    CHECK(window.pages().mapTo(&window, QPoint()).y() == below);
}

TEST_CASE("verdict: a machine without a purchase price fits anyway", "[window]") {
    const WindowDriver driver;
    PlannedScenario planned = example_scenario();
    planned.machine.machine = "h200-nvl-pcie5";
    const Seconds rented = driver.open(planned)->report().step.seconds;
    planned.money = {{"ownership", "buy"}};
    const auto bought = driver.open(planned);
    CHECK(bought->report().step.seconds == rented);
    CHECK(!bought->cost.payment);
    const auto* const price = driver.window->verdict().findChild<QLabel*>(QStringLiteral("price"));
    CHECK(price->text() == QStringLiteral("no purchase price known"));
}

TEST_CASE("verdict: a faster plan for the same batch is adopted by a click", "[window]") {
    const WindowDriver driver;
    PlannedScenario planned;
    planned.model.model = "qwen2.5-7b";
    planned.machine.machine = "h200-sxm-pcie5";
    planned.training = {{"batch", "8"}};
    const auto slow = driver.open(planned);
    REQUIRE(slow->report().faster_plan);
    const auto offer = [&] {
        return driver.window->verdict().findChild<QPushButton*>(QStringLiteral("faster_plan"));
    };
    REQUIRE(offer() != nullptr);
    QTest::mouseClick(offer(), Qt::LeftButton);
    const auto fast = driver.settled();
    CHECK(fast->report().step.seconds == Approx(*slow->report().faster_plan->step));
    CHECK(fast->report().asked.training.batch == 8);
    CHECK(!fast->report().faster_plan);
    CHECK(offer() == nullptr);
}

TEST_CASE("verdict: where the plan that would be chosen fits, it says so", "[window]") {
    const WindowDriver driver;
    PlannedScenario planned;
    planned.model.model = "qwen2.5-14b";
    planned.machine.machine = "h100-sxm-pcie5";
    planned.training = {{"batch", "128"}, {"seq", "4096"}};
    REQUIRE(with_fastest_plan(planned, given_options(planned)).step);
    const auto as_given = driver.open(planned);
    REQUIRE(!as_given->report().plan.fit.fits());
    CHECK(driver.window->verdict().headline().contains(
        QStringLiteral("Fits with other settings; with these it is short ")));
    planned.training["micro_batch"] = "128";  // nothing helps
    planned.machine.host_memory = "64GB";
    REQUIRE(!driver.open(planned)->report().faster_plan);
    CHECK(driver.window->verdict().headline().contains(QStringLiteral("Does not fit: short ")));
}

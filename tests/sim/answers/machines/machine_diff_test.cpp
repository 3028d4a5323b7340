#include "sim/answers/machines/machine_diff.h"

#include <nlohmann/json.hpp>

#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Quantity number(const char* path, double value, std::optional<double> low = {},
                std::optional<double> high = {}) {
    Quantity q;
    q.path = path;
    q.value = value;
    q.low = low;
    q.high = high;
    return q;
}

Curve curve(const char* path, std::vector<std::vector<double>> points) {
    Curve c;
    c.path = path;
    c.points = std::move(points);
    return c;
}

KernelEntry kernels(std::vector<KernelPoint> points) {
    KernelEntry entry;
    entry.path = "kernels.swiglu";
    entry.measured.points = std::move(points);
    return entry;
}

MachineProfile first() {
    MachineProfile p;
    p.id = "one";
    p.texts = {{"gpu.name", "H200"}, {"link.type", "PCIe 5"}};
    p.flags = {{"host.unified_memory", false}};
    p.quantities = {number("host.cores", 16), number("link.a", 50, 49.0, 51.0),
                    number("link.b", 40, 39.0, 41.0), number("gpu.only", 1)};
    p.curves = {
        curve("link.curve.x", {{1, 10}, {2, 20}, {3, 30}}),
        curve("host.contention", {{0, 1, 1, 0, 1, 0.9, 0.9, 1}, {0, 1, 1, 50, 1, 0.8, 0.7, 0.6}})};
    p.kernels = {kernels({{{64, 128}, 10, 9, 11, 0}, {{64, 256}, 20, 19, 21, 0}})};
    return p;
}

MachineProfile second() {
    MachineProfile p = first();
    p.id = "two";
    p.texts[1].second = "PCIe 4";
    p.flags[0].second = true;
    p.quantities = {number("host.cores", 16), number("link.a", 51, 50.0, 52.0),
                    number("link.b", 20, 19.0, 21.0), number("gpu.other", 1)};
    p.curves = {
        curve("link.curve.x", {{2, 21}, {3, 27}, {4, 44}}),
        curve("host.contention", {{0, 1, 1, 0, 1, 0.9, 0.9, 1}, {0, 1, 1, 50, 1, 0.8, 0.7, 0.3}})};
    p.kernels = {
        kernels({{{64, 128}, 11, 9, 12, 0}, {{64, 256}, 26, 19, 27, 0}, {{1, 1}, 5, 4, 6, 0}})};
    return p;
}

}  // namespace

TEST_CASE("machine diff: numbers by relative change, with ranges that overlap or not", "[report]") {
    const MachineDiff diff = diff_machines(first(), second());
    REQUIRE(diff.numbers.size() == 2);
    CHECK(diff.numbers[0].path == "link.b");
    CHECK(diff.numbers[0].relative == Approx(-0.5));
    CHECK(diff.numbers[0].ranges_overlap == false);
    CHECK(diff.numbers[1].path == "link.a");
    CHECK(diff.numbers[1].relative == Approx(0.02));
    CHECK(diff.numbers[1].ranges_overlap == true);
    CHECK(diff.only_a == std::vector<std::string>{"gpu.only"});
    CHECK(diff.only_b == std::vector<std::string>{"gpu.other"});
    CHECK(diff.equal == 2);  // host.cores, gpu.name
}

TEST_CASE("machine diff: curves and kernel times where both have a point", "[report]") {
    const MachineDiff diff = diff_machines(first(), second());
    REQUIRE(diff.curves.size() == 2);
    CHECK(diff.curves[0].common == 2);  // at 2 and 3
    CHECK(diff.curves[0].largest == Approx(-0.1));
    CHECK(diff.curves[0].where == "3");
    CHECK(diff.curves[1].path == "host.contention");
    CHECK(diff.curves[1].common == 2);  // lanes and work say where, shares what
    CHECK(diff.curves[1].largest == Approx(-0.5));
    CHECK(diff.curves[1].where == "0, 1, 1, 50");
    REQUIRE(diff.kernels.size() == 1);
    CHECK(diff.kernels[0].common == 2);
    CHECK(diff.kernels[0].mean == Approx(0.2));  // +10% and +30%
    CHECK(diff.kernels[0].largest == Approx(0.3));
    CHECK(diff.kernels[0].where == "64 x 256");
}

TEST_CASE("machine diff: texts and flags; a machine equals itself", "[report]") {
    const MachineDiff diff = diff_machines(first(), second());
    REQUIRE(diff.texts.size() == 2);
    CHECK(diff.texts[0].path == "link.type");
    CHECK(diff.texts[0].b == "PCIe 4");
    CHECK(diff.texts[1].a == "false");
    const MachineDiff none = diff_machines(first(), first());
    CHECK(none.numbers.empty());
    CHECK(none.curves.empty());
    CHECK(none.kernels.empty());
    CHECK(none.texts.empty());
    CHECK(none.equal == 10);
    MachineProfile a = first(), b = first();
    a.file = "old/one.json";
    b.file = "new/one.json";
    CHECK(diff_machines(a, b).a == "old/one.json");
    CHECK(diff_machines(a, b).b == "new/one.json");
}

TEST_CASE("machine diff: a number that is not known is in neither", "[report]") {
    MachineProfile a = first(), b = second();
    a.quantities[1].value.reset();
    const MachineDiff diff = diff_machines(a, b);
    CHECK(diff.numbers.size() == 1);
    CHECK(diff.only_b == std::vector<std::string>{"link.a", "gpu.other"});
}

TEST_CASE("machine diff: as text and as JSON", "[report]") {
    const MachineDiff diff = diff_machines(first(), second());
    const std::string text = machine_diff_text(diff);
    CHECK_THAT(text, ContainsSubstring("A: one\nB: two\n"));
    CHECK_THAT(text, ContainsSubstring("-50.0%  39 to 41 and 19 to 21: apart"));
    CHECK_THAT(text, ContainsSubstring("+2.0%  49 to 51 and 50 to 52: overlap"));
    CHECK_THAT(text, ContainsSubstring("only in A: gpu.only\n"));
    const auto json = nlohmann::json::parse(machine_diff_json(diff));
    CHECK(json["numbers"][0]["path"] == "link.b");
    CHECK(json["numbers"][0]["ranges_overlap"] == false);
    CHECK(json["kernels"][0]["common_shapes"] == 2);
    CHECK(json["only_b"] == nlohmann::json{"gpu.other"});
}

#include "planner-gui/pictures/homes.h"

#include <map>

#include "planner-gui/pictures/memory_stack.h"
#include "tests/catch.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

constexpr const char* kHost = "h200-sxm-pcie5-1.5tb";

/// Bytes of a stack's segments by name.
std::map<std::string, Bytes> homes_of(const MemoryStack& stack) {
    std::map<std::string, Bytes> out;
    for (const MemorySegment& segment : stack.segments) out[segment.name] += segment.bytes;
    return out;
}

TrainingSpec with_homes() {
    TrainingSpec training = test::batch_of(8);
    training.resident_layers = 6;
    training.resident_tables = ResidentTables::head;
    training.keep_last_layers = 5;
    training.host_kept_layers = 2;
    return training;
}

}  // namespace

TEST_CASE("homes add up to the peaks, kind by kind", "[pictures]") {
    for (const auto& [machine, training] : {std::pair(kHost, test::batch_of(8)),
                                            {kHost, with_homes()},
                                            {"dgx-spark-gb10", test::batch_of(8)}}) {
        CAPTURE(machine, training.resident_layers);
        const auto report = test::predicted("qwen2.5-7b", machine, training);
        const std::vector<MemoryStack> kinds = memory_stacks(*report);
        const std::vector<MemoryStack> homes = memory_stacks(*report, Segments::homes);
        REQUIRE(homes.size() == kinds.size());
        for (std::size_t i = 0; i < homes.size(); ++i) {
            CHECK(homes[i].used == kinds[i].used);
            CHECK(homes[i].segments.size() > kinds[i].segments.size() / 2);
            Bytes at = 0;
            for (const MemorySegment& segment : homes[i].segments) {
                CHECK(segment.from == at);
                at += segment.bytes;
            }
            CHECK(at == homes[i].used);
        }
    }
}

TEST_CASE("a resident layer's states move from the host to the device", "[pictures]") {
    TrainingSpec training = test::batch_of(8);
    const auto before = test::predicted("qwen2.5-7b", kHost, training);
    training.resident_layers = 6;
    const auto after = test::predicted("qwen2.5-7b", kHost, training);
    const auto was = memory_stacks(*before, Segments::homes);
    const auto is = memory_stacks(*after, Segments::homes);
    const std::string resident = "resident layers, weights and states";
    CHECK(!homes_of(was[0]).contains(resident));
    const Bytes moved = homes_of(is[0]).at(resident);
    Bytes left = 0;
    for (const char* const name : {"weights in bf16", "rest of the masters, and moments"})
        left += homes_of(was[1]).at(name) - homes_of(is[1]).at(name);
    CHECK(static_cast<double>(left) == Approx(static_cast<double>(moved)));
}

TEST_CASE("the words say the step before one home moved", "[pictures]") {
    const auto before = test::predicted("qwen2.5-7b", kHost, test::batch_of(8));
    TrainingSpec training = test::batch_of(8);
    training.resident_layers = 6;
    const auto after = test::predicted("qwen2.5-7b", kHost, training);
    CHECK(moved_home(*before, *after) == Setting{"resident_layers", "0"});
    CHECK(home_words(*after, nullptr) == format_seconds(after->step.seconds) + " a step");
    CHECK(home_words(*after, before.get()) ==
          format_seconds(after->step.seconds) + " a step, was " +
              format_seconds(before->step.seconds) + " with Resident layers 0");
    CHECK(after->step.seconds < before->step.seconds);
    CHECK(moved_home(*before, *before) == std::nullopt);
    training.batch = 16;  // a second difference, and one that is no home
    const auto larger = test::predicted("qwen2.5-7b", kHost, training);
    CHECK(moved_home(*before, *larger) == std::nullopt);
    CHECK(moved_home(*after, *larger) == std::nullopt);
    CHECK(home_words(*larger, after.get()) == format_seconds(larger->step.seconds) + " a step");
    const auto elsewhere = test::predicted("qwen2.5-7b", "dgx-spark-gb10", test::batch_of(8));
    CHECK(moved_home(*elsewhere, *after) == std::nullopt);
}

TEST_CASE("the strip has a cell for each layer, by home", "[pictures]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec training = with_homes();
    training.keep_attention_layers = 7;
    training.deferred_layers = 22;
    const Placement homes = homes_of(model, training);
    REQUIRE(homes.sections.layers == 28);
    const auto report = test::predicted("qwen2.5-7b", kHost, with_homes());
    const Picture picture = homes_picture(*report, homes, ByteUnits::decimal, {1000, 300, 13});
    CHECK(picture.keys.ids.size() == 28);
    CHECK_THAT(tooltip_of(picture, 5), ContainsSubstring("weights and states: on the device"));
    CHECK_THAT(tooltip_of(picture, 6), ContainsSubstring("on the host, updated beside"));
    CHECK_THAT(tooltip_of(picture, 27), ContainsSubstring("kept for backward: all on the device"));
    training.deferred_layers = 0;
    training.visiting_layers = 3;
    training.late_moment_layers = 19;
    const Picture visits =
        homes_picture(*report, homes_of(model, training), ByteUnits::decimal, {1000, 300, 13});
    CHECK_THAT(tooltip_of(visits, 6), ContainsSubstring("on the host, visit the device"));
    CHECK_THAT(tooltip_of(visits, 9), ContainsSubstring("moments beside the next backward"));
    CHECK(place_of(picture, 27)->right() <= picture.width);
    CHECK(picture.height >= place_of(picture, 27)->bottom());
    training.schedule = Schedule("resident");
    CHECK(homes_of(model, training).sections.layers == 0);
    CHECK(resident_up_to(8, training) == 9);
    CHECK(resident_up_to(5, training) == 5);
}

TEST_CASE("the table of homes says what the stacks show", "[pictures]") {
    const auto report = test::predicted("qwen2.5-7b", kHost, with_homes());
    const std::string csv = to_csv(homes_table(*report));
    CHECK(csv.starts_with("memory,home,bytes\n"));
    CHECK_THAT(csv, ContainsSubstring("device,all," +
                                      std::to_string(report->plan.fit.device().peak.bytes) + "\n"));
    const MemoryStack device = memory_stacks(*report, Segments::homes)[0];
    for (const MemorySegment& segment : device.segments)
        CHECK_THAT(csv, ContainsSubstring(segment.name));
}

}  // namespace sluice

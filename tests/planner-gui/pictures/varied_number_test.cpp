#include "planner-gui/pictures/varied_number.h"

#include <algorithm>
#include <string>

#include "sim/base/input_error.h"
#include "tests/catch.h"

namespace sluice {
namespace {

const Option& option_of(const std::string& field) {
    for (const Option& option : training_options())
        if (option.field == field) return option;
    throw std::runtime_error(field);
}

VariedNumber machine_number(const std::string& path) {
    for (const VariedNumber& number : varied_numbers(Schedule("streamed")))
        if (number.key == path) return number;
    throw std::runtime_error(path);
}

std::vector<double> proposed(const std::string& field, const TrainingSpec& training) {
    return proposed_values(varied_option(option_of(field)), training,
                           read_machine_profile("h200-sxm-pcie5-1.5tb"));
}

}  // namespace

TEST_CASE("an axis varies what the schedule has, and numbers that a profile has", "[pictures]") {
    const std::vector<VariedNumber> numbers = varied_numbers(Schedule("streamed"));
    const auto has = [&](const std::string& key) {
        return std::any_of(numbers.begin(), numbers.end(),
                           [&](const VariedNumber& number) { return number.key == key; });
    };
    CHECK(has("batch"));
    CHECK(has("host.memory_capacity_gb"));
    CHECK_FALSE(has("gpus"));  // cluster only
    const std::vector<std::string>& known = machine_numbers();
    for (const VariedNumber& number : numbers)
        if (number.option == nullptr)
            CHECK(std::find(known.begin(), known.end(), number.key) != known.end());
}

TEST_CASE("proposed values surround the current one", "[pictures]") {
    TrainingSpec training;
    training.batch = 32;
    CHECK(proposed("batch", training) == std::vector<double>{4, 8, 16, 32, 64, 128, 256});
    training.batch = 48;
    CHECK(proposed("batch", training) == std::vector<double>{8, 16, 32, 48, 64, 128, 256, 512});
    training.batch = 12;
    CHECK(proposed("micro_batch", training) == std::vector<double>{0, 1, 2, 4});
    CHECK(proposed("seq", training).front() == 512);
    CHECK(proposed("seq", training).back() == 131072);
    CHECK(proposed("buffer_depth", training) == std::vector<double>{1, 2, 3, 4});
    CHECK(proposed("recompute", training) == std::vector<double>{0, 1, 2});
    const MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    CHECK(proposed_values(machine_number("host.memory_capacity_gb"), training, profile) ==
          std::vector<double>{750, 1125 - 5, 1500, 2250, 3000, 4500, 6000});
}

TEST_CASE("every proposal is read back from its text, in range", "[pictures]") {
    const MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    for (const Choice& schedule : training_options().front().choices) {
        TrainingSpec training;
        training.schedule = Schedule(schedule_table()[static_cast<std::size_t>(schedule.value)]);
        for (const VariedNumber& number : varied_numbers(training.schedule)) {
            INFO(schedule.name << " " << number.key);
            const std::vector<double> values = proposed_values(number, training, profile);
            REQUIRE_FALSE(values.empty());
            CHECK(std::is_sorted(values.begin(), values.end()));
            CHECK(parse_values(number, values_text(number, values)) == values);
        }
    }
}

TEST_CASE("wrong values say so", "[pictures]") {
    const VariedNumber batch = varied_option(option_of("batch"));
    CHECK(parse_values(batch, "8, 16") == std::vector<double>{8, 16});
    CHECK_THROWS_WITH(parse_values(batch, "8,x"), ContainsSubstring("Batch is x"));
    CHECK_THROWS_WITH(parse_values(batch, "8,8"), ContainsSubstring("twice"));
    const VariedNumber memory = machine_number("host.memory_capacity_gb");
    CHECK_THROWS_WITH(parse_values(memory, "256,-1"),
                      ContainsSubstring("Host memory is \"-1\", expected a number above 0"));
    CHECK_THROWS_AS(parse_values(memory, "256,,512"), InputError);
}

TEST_CASE("values as they are shown", "[pictures]") {
    CHECK(value_label(varied_option(option_of("seq")), 131072) == "131,072");
    CHECK(value_label(varied_option(option_of("checkpoints")), 1) == "host");
    CHECK(value_label(varied_option(option_of("device_budget_bytes")), 80e9) == "80.0 GB");
}

}  // namespace sluice

#include "sim/specs/scenario/changed_scenario.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

PlannedScenario planned() {
    PlannedScenario out;
    out.model.model = "qwen2.5-7b";
    out.machine = {"gh200-480gb", "400GB", {"link.host_to_device_gb_per_s=300"}};
    out.training = {{"batch", "16"}, {"buffer_depth", "3"}};
    return out;
}

}  // namespace

TEST_CASE("changed scenario: takes the settings of a suggestion", "[scenario]") {
    const PlannedScenario changed = with_settings(
        planned(),
        {{"host_memory", "512GB"}, {"micro_batch", "8"}, {"recompute", "full"}, {"tokens", "2e9"}});
    CHECK(changed.machine.host_memory == "512GB");
    CHECK(changed.training ==
          std::map<std::string, std::string>{
              {"batch", "16"}, {"buffer_depth", "3"}, {"micro_batch", "8"}, {"recompute", "full"}});
    CHECK(changed.money == std::map<std::string, std::string>{{"tokens", "2e9"}});
    CHECK(changed.model == planned().model);
    CHECK(changed.machine.settings == planned().machine.settings);
}

TEST_CASE("changed scenario: a number of the machine has one value", "[scenario]") {
    const std::string link = "link.host_to_device_gb_per_s";
    CHECK(with_value(planned(), link, "110").machine.settings ==
          std::vector<std::string>{link + "=110"});
    CHECK(with_value(planned(), "gpu.memory_capacity_gb", "80").machine.settings.size() == 2);
}

TEST_CASE("changed scenario: how much the host holds is stated once", "[scenario]") {
    const PlannedScenario upgraded = with_settings(
        planned(), {{"gpu.memory_capacity_gb", "141.1"}, {"host.memory_capacity_gb", "624.5"}});
    CHECK(upgraded.machine.host_memory == "624.5GB");
    CHECK(upgraded.machine.settings.size() == 2);
    CHECK(resolve(upgraded).machine.host.memory_capacity == 624'500'000'000);
    CHECK(resolve(with_value(upgraded, "host_memory", "96GB")).machine.host.memory_capacity ==
          96'000'000'000);
    CHECK(with_value(planned(), "host.memory_capacity_gb", "96").machine.host_memory == "96GB");
}

TEST_CASE("changed scenario: another system takes of the settings what it has", "[scenario]") {
    const PlannedScenario resident = on_machine(planned(), "gh200-480gb", "resident");
    CHECK(resident.training ==
          std::map<std::string, std::string>{{"batch", "16"}, {"schedule", "resident"}});
    CHECK(resident.machine == planned().machine);
    CHECK(on_machine(planned(), "gh200-480gb", "no-such-system").training.at("buffer_depth") ==
          "3");
}

TEST_CASE("changed scenario: another machine has its own host", "[scenario]") {
    PlannedScenario small = planned();
    small.machine.host_memory = "64GB";
    CHECK(on_machine(small, "l40s", "streamed").machine == PlannedMachine{"l40s", {}, {}});
    CHECK(resolve(on_machine(small, "l40s", "streamed")).machine.host.memory_capacity ==
          768'000'000'000);
}

TEST_CASE("changed scenario: a price is of its machine, buying or renting of the plan",
          "[scenario]") {
    PlannedScenario paid = planned();
    paid.money = {{"usd_per_hour", "3"}, {"years", "4"}};
    CHECK(on_machine(paid, "gh200-480gb", "resident").money == paid.money);
    CHECK(on_machine(paid, "l40s", "resident").money ==
          std::map<std::string, std::string>{{"years", "4"}});
    paid.money = {{"offer", "Lambda"}};
    CHECK(on_machine(paid, "l40s", "resident").money.empty());
    paid.money = {{"price_usd", "40000"}};
    CHECK(on_machine(paid, "l40s", "resident").money ==
          std::map<std::string, std::string>{{"ownership", "buy"}});
}

#include "sim/specs/scenario/scenario.h"

#include "sim/specs/scenario/money_options.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

PlannedScenario scenario_of_7b() {
    PlannedScenario out;
    out.model.model = "qwen2.5-7b";
    out.machine.machine = "gh200-480gb";
    return out;
}

/// "field: sentence" of what is refused.
std::string mistake(const PlannedScenario& scenario) {
    try {
        resolve(scenario);
    } catch (const InputError& error) {
        return error.field() + ": " + error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("planned scenario: resolves to the specs that its values name", "[scenario]") {
    PlannedScenario scenario = scenario_of_7b();
    scenario.model.layers = "4";
    scenario.machine.host_memory = "256GB";
    scenario.training = {{"batch", "32"}, {"micro_batch", "16"}};
    scenario.money = {{"tokens", "5e9"}, {"ownership", "buy"}};
    const Scenario out = resolve(scenario);
    CHECK(out.model.layer_count() == 4);
    CHECK(out.machine.host.memory_capacity == 256'000'000'000);
    CHECK(out.training.micro_batch == 16);
    CHECK(out.money.tokens == 5e9);
    CHECK(out.money.ownership == Ownership::buy);
    CHECK(out.machine.changes == std::vector<std::string>{"--host-memory 256GB"});
}

TEST_CASE("planned scenario: a mistake names its field", "[scenario]") {
    const auto with = [](auto change) {
        PlannedScenario scenario = scenario_of_7b();
        change(scenario);
        return mistake(scenario);
    };
    using P = PlannedScenario;
    CHECK(mistake(scenario_of_7b()).empty());
    CHECK_THAT(with([](P& p) { p.model.model = ""; }), ContainsSubstring("model: --model is"));
    CHECK_THAT(with([](P& p) { p.model.model = "qwen2.5-8b"; }), ContainsSubstring("model: "));
    CHECK_THAT(with([](P& p) { p.model.layers = "1.5"; }),
               ContainsSubstring("layers: --layers is 1.5, expected a whole number"));
    CHECK_THAT(with([](P& p) { p.machine.machine = "gh2000"; }), ContainsSubstring("machine: "));
    CHECK_THAT(with([](P& p) { p.machine.host_memory = "12"; }),
               ContainsSubstring("host_memory: --host-memory is 12"));
    CHECK_THAT(with([](P& p) { p.machine.settings = {"link.rate=3"}; }),
               ContainsSubstring("settings: --set"));
    CHECK_THAT(with([](P& p) {
                   p.training = {{"batch", "x"}};
               }),
               ContainsSubstring("batch: --batch is x, expected"));
    CHECK_THAT(with([](P& p) {
                   p.training = {{"batch", "9"}, {"micro_batch", "2"}};
               }),
               ContainsSubstring("batch: --batch is 9, expected a multiple of --micro-batch"));
    CHECK_THAT(with([](P& p) {
                   p.money = {{"tokens", "-1"}};
               }),
               ContainsSubstring("tokens: --tokens is -1, expected a number from 1 to 1e+18"));
    CHECK_THAT(with([](P& p) {
                   p.money = {{"offer", "x"}, {"ownership", "buy"}};
               }),
               ContainsSubstring("ownership: --offer and --ownership buy are two ways to pay"));
}

TEST_CASE("planned scenario: its command line, quoted for a shell", "[scenario]") {
    PlannedScenario scenario = scenario_of_7b();
    scenario.model.model = "my models/it's one/config.json";
    scenario.model.untied = true;
    scenario.training = {{"micro_batch", "16"}, {"batch", "32"}};
    scenario.money = {{"tokens", "5e9"}};
    CHECK(command_line(scenario) ==
          "./dev predict --model 'my models/it'\\''s one/config.json' --untied --machine "
          "gh200-480gb --batch 32 --micro-batch 16 --plan given");
    CHECK_THAT(command_line(scenario, "cost"), ContainsSubstring("./dev run sluice cost --model"));
    CHECK_THAT(command_line(scenario, "cost"), ContainsSubstring("--tokens 5e9"));
    scenario.money["ownership"] = "own";
    CHECK_THAT(command_line(scenario), ContainsSubstring("--plan given --ownership own"));
    scenario.money["ownership"] = "buy";
    CHECK_THAT(command_line(scenario), !ContainsSubstring("--ownership"));
}

TEST_CASE("planned scenario: a larger vocabulary, and none that is smaller", "[scenario]") {
    PlannedModel model{.model = "qwen2.5-7b", .layers = {}};
    const std::int64_t before = read_model(model).vocabulary;
    model.vocabulary = std::to_string(before + 64);
    CHECK(read_model(model).vocabulary == before + 64);
    PlannedScenario scenario = scenario_of_7b();
    scenario.model = model;
    CHECK_THAT(command_line(scenario),
               ContainsSubstring(" --resize-vocabulary " + std::to_string(before + 64)));
    for (const char* wrong : {"152063", "160000.5", "1e9", "many"}) {
        model.vocabulary = wrong;
        try {
            read_model(model);
            FAIL(wrong);
        } catch (const InputError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("--resize-vocabulary is"));
            CHECK_THAT(error.what(), ContainsSubstring(wrong));
        }
    }
}

TEST_CASE("planned scenario: every money option has a flag and a help", "[scenario]") {
    for (const MoneyOption& option : money_options()) {
        CHECK(money_flag(option).starts_with("--"));
        CHECK(std::string(option.help) != "");
    }
}

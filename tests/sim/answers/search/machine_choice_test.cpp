#include "sim/answers/search/machine_choice.h"

#include <fmt/format.h>

#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("machine choice: the front is what nothing beats", "[search]") {
    using Front = std::vector<std::size_t>;
    // Cost and speed: 1 costs more and is slower than 0; 3 costs as much as 2 and is slower.
    CHECK(pareto_front({{1, 10}, {2, 9}, {3, 20}, {3, 15}, {5, 21}}) == Front{0, 2, 4});
    CHECK(pareto_front({}).empty());
    CHECK(pareto_front({{1, 1}, {1, 1}}) == Front{0});
}

TEST_CASE("machine choice: the cheapest of those that do it", "[search]") {
    const ModelSpec model = read_model("llama-3.1-8b");
    const MachineChoices any = choose_machine(model, {}, 0, false, {}, 512e9);
    REQUIRE(any.cheapest() != nullptr);
    const double wanted = 5000;
    const MachineChoices choices = choose_machine(model, {}, wanted, false, {}, 512e9);
    REQUIRE(choices.cheapest() != nullptr);
    const MachineChoice& cheapest = *choices.cheapest();
    CHECK(cheapest.report.tokens_per_s() >= wanted);
    CHECK(cheapest.cost.run.usd_per_hour >= any.cheapest()->cost.run.usd_per_hour);
    int slow = 0;
    for (const MachineChoice& choice : choices.machines) {
        INFO(choice.id);
        CHECK(choice.report.band);
        slow += choice.does_it ? 0 : 1;
        if (choice.does_it && choice.cost.payment)
            CHECK(choice.cost.run.usd_per_hour >= cheapest.cost.run.usd_per_hour);
    }
    CHECK(slow > 0);
    CHECK(choices.machines.size() + choices.left_out.size() + choices.without_price.size() ==
          library_machines().size());
    // Test machines, old ones, and those without a public price.
    CHECK(std::ranges::count(choices.without_price, "v100-32gb-sxm") == 1);
    CHECK_THAT(machine_choices_text(choices), ContainsSubstring("not shown, since no price"));
    const MachineChoices all =
        choose_machine(model, {}, wanted, false, {}, 512e9, false, nullptr, true);
    CHECK(all.without_price.empty());
    CHECK(all.machines.size() + all.left_out.size() == library_machines().size());
    CHECK_THAT(machine_choices_text(choices), ContainsSubstring("least an hour " + cheapest.id));
    CHECK_THAT(to_svg(machine_choices_picture(choices)),
               ContainsSubstring(cheapest.id + "</text>"));
    CHECK_THAT(machine_choices_csv(choices), ContainsSubstring("\n" + cheapest.id + ","));
}

TEST_CASE("machine choice: each machine has its own fastest plan", "[search]") {
    ModelSpec model = read_model("llama-3.1-8b");
    truncate_layers(model, 8);
    const std::set<std::string> free;
    const MachineChoices given = choose_machine(model, {}, 0, false, {}, {}, false);
    const MachineChoices chosen = choose_machine(model, {}, 0, false, {}, {}, false, &free);
    CHECK_THAT(machine_choices_text(chosen), ContainsSubstring("plan: auto"));
    CHECK_THAT(machine_choices_text(given), !ContainsSubstring("plan: auto"));
    for (const MachineChoice& one : chosen.machines) {
        INFO(one.id);
        const auto before = std::ranges::find(given.machines, one.id, &MachineChoice::id);
        if (before->report.plan.fit.fits())
            CHECK(one.report.step.seconds <= before->report.step.seconds);
        CHECK(one.changes == changed_settings({}, one.report.asked.training));
        CHECK(one.report.asked.training.resident_layers <= 8);
    }
}

TEST_CASE("machine choice: machines that no program trains on are counted only if asked",
          "[search]") {
    const ModelSpec model = read_model("llama-3.1-8b");
    const auto find = [](const MachineChoices& choices, const std::string& id) {
        return std::ranges::find(choices.machines, id, &MachineChoice::id);
    };
    const MachineChoices today = choose_machine(model, {}, 0, false, {}, {});
    CHECK_FALSE(find(today, "mi355x")->does_it);
    CHECK(find(today, "h200-sxm-pcie5")->does_it);
    CHECK_THAT(machine_choices_text(today),
               ContainsSubstring("not counted, since no program trains this way there today: ") &&
                   ContainsSubstring("(sluice-train is known to run on NVIDIA GPUs only)"));
    CHECK_THAT(machine_choices_csv(today), !ContainsSubstring("\nmi355x,"));
    for (const MachinePoint& point : machine_points(today, CostAxis::usd_per_hour))
        CHECK(today.machines[point.machine].report.asked.runs_today.runs());
    const MachineChoices planned = choose_machine(model, {}, 0, false, {}, {}, true);
    CHECK(find(planned, "mi355x")->does_it);
    CHECK_THAT(machine_choices_text(planned), !ContainsSubstring("not counted"));
    CHECK_THAT(machine_choices_csv(planned), ContainsSubstring("\nmi355x,"));
    TrainingSpec theirs;
    theirs.schedule = Schedule("megatrain");
    CHECK(find(choose_machine(model, theirs, 0, false, {}, {}), "mi355x")->does_it);
}

TEST_CASE("machine choice: where none does it", "[search]") {
    const MachineChoices none = choose_machine(read_model("llama-3.1-8b"), {}, 1e9, false, {}, {});
    CHECK(none.cheapest() == nullptr);
    CHECK_THAT(machine_choices_text(none), ContainsSubstring("no machine of the library"));
}

TEST_CASE(
    "machine choice: no machine with memory that it cannot have, and what more costs is stated",
    "[search]") {
    // 14B needs 184 GB of host memory: not a DGX Spark, whose 128 GB are soldered.
    const MachineChoices choices =
        choose_machine(read_model("qwen2.5-14b"), {}, 0, false, {}, 1e12);
    const auto find = [&](const std::string& id) -> const MachineChoice& {
        for (const MachineChoice& choice : choices.machines)
            if (choice.id == id) return choice;
        throw std::runtime_error("no " + id);
    };
    CHECK(!find("dgx-spark-gb10").does_it);
    CHECK(find("dgx-spark-gb10").report.plan.fit.host().usable < 128'000'000'000);
    CHECK(find("gh200-480gb").does_it);
    CHECK(find("gh200-480gb").report.plan.fit.host().usable < 480'000'000'000);
    const std::string text = machine_choices_text(choices);
    CHECK_THAT(text, ContainsSubstring("host memory: these machines are predicted with less than "
                                       "1.00 TB, since they cannot have more: ") &&
                         ContainsSubstring("prices: the extra price of the given host memory"));
    CHECK(choices.capped.find("dgx-spark-gb10") != std::string::npos);
    CHECK(choices.unpriced.find("rtx-3090") != std::string::npos);
    CHECK(choices.unpriced.find("h100-pcie") == std::string::npos);       // 1.54 TB, assumed
    CHECK(choices.unpriced.find("h200-sxm-pcie5") == std::string::npos);  // it has 2 TB
    CHECK(choices.unpriced.find("gh200-480gb") == std::string::npos);
    const MachineChoices as_sold = choose_machine(read_model("qwen2.5-14b"), {}, 0, false, {}, {});
    CHECK(as_sold.unpriced.empty());
    CHECK(as_sold.capped.empty());
}

TEST_CASE("machine choice: a machine that fits with smaller states says so", "[search]") {
    ModelSpec model = read_model("llama-3.1-70b");
    truncate_layers(model, 8);
    constexpr double kHost = 20e9;
    const std::set<std::string> free, fixed = {"state_bytes"};
    TrainingSpec asked;
    asked.batch = 8;
    const MachineChoices choices = choose_machine(model, asked, 0, false, {}, kHost, false, &free);
    const auto gh200 = std::ranges::find(choices.machines, "gh200-480gb", &MachineChoice::id);
    REQUIRE(gh200 != choices.machines.end());
    CHECK_FALSE(gh200->does_it);
    REQUIRE(gh200->smaller_states);
    CHECK(gh200->smaller_states->bytes < 12);
    CHECK_THAT(machine_choices_text(choices),
               ContainsSubstring("\nfits with smaller optimizer states: ") &&
                   ContainsSubstring(fmt::format("gh200-480gb with --state-bytes {} (",
                                                 gh200->smaller_states->bytes)));
    const MachineChoices given = choose_machine(model, asked, 0, false, {}, kHost, false, &fixed);
    CHECK_THAT(machine_choices_text(given), !ContainsSubstring("smaller optimizer states"));
}

// Which words of a command line are wrong, which model was meant, and
// whose settings does another system have?
#include <nlohmann/json.hpp>

#include "tests/sim/base/program_run.h"

using namespace sluice::test;

TEST_CASE("cli: what the command line itself has wrong names the subcommand and its help",
          "[cli]") {
    for (const auto& [arguments, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"choose --compuet fp8",
              "unknown option \"--compuet\"; did you mean \"--compute\"?; see sluice choose "
              "--help"},
             {"choose --micro-batch 4",
              "unknown option \"--micro-batch\"; see sluice choose --help"},
             {"--compute fp8", "unknown option \"--compute\"; see sluice --help"},
             {"predict --batch 3 --batch 4",
              "--batch is given twice, expected once; see sluice predict --help"},
             {"predict --batch 3 --batch 4 --batch=5",
              "--batch is given 3 times, expected once; see sluice predict --help"},
             {"predict --batch", "--batch is given without a value; see sluice predict --help"},
             {"predict --batch --seq 5",
              "--batch is given without a value; see sluice predict --help"},
             {"predict here",
              "unexpected word \"here\"; the name of an option begins with --; see "
              "sluice predict --help"},
             {"models shw",
              "unknown command \"shw\"; did you mean \"show\"?; see sluice models --help"},
             {"fir --find batch",
              "unknown command \"fir\"; did you mean \"fit\"?; see sluice --help"},
             {"models show", "name is required; see sluice models show --help"}})
        CHECK(run_sluice(arguments).output == "sluice: " + sentence + "\n");
}

TEST_CASE("cli: each command takes a model by its size and says once what it took", "[cli]") {
    const std::string note =
        "model 70B: llama-3.1-70b (70.55 B parameters), about that size; also "
        "qwen2.5-72b (72.71 B)\n";
    const std::string on = " --model 70B --layers 4 --machine h200-sxm-pcie5-1.5tb --batch 8 ";
    for (const std::string& command : std::vector<std::string>{
             "predict" + on, "explain" + on, "cost" + on, "compare --schedules streamed" + on,
             "fit --find seq" + on, "sweep" + on, "models show 70B"}) {
        INFO(command);
        const Result result = run_sluice(command);
        CHECK(result.status == 0);
        // After the answer: nothing may come before the sentence of a mistake.
        CHECK(result.output.ends_with(note));
        CHECK(result.output.find(note) == result.output.size() - note.size());
        CHECK_THAT(result.output, ContainsSubstring("llama-3.1-70b"));
        CHECK(shell(kSluice + command + " 2>/dev/null").output.find(note) == std::string::npos);
    }
}

TEST_CASE("cli: another system is predicted as its users run it", "[cli]") {
    const std::string resident =
        "predict --model qwen2.5-7b --machine h200-sxm-pcie5 "
        "--schedule resident --batch 8 ";
    const auto of_users =
        nlohmann::json::parse(run_sluice(resident + "--plan users --json").output);
    const auto fastest = nlohmann::json::parse(run_sluice(resident + "--plan auto --json").output);
    CHECK(of_users["plan"] == "users");
    CHECK(of_users["training"]["recompute"] == "full");
    CHECK(fastest["plan"] == "auto");
    CHECK(fastest["training"]["recompute"] == "none");
    CHECK_THAT(run_sluice(resident + "--plan users").output,
               ContainsSubstring("settings     as its users run it: recompute full"));
    CHECK_THAT(run_sluice(resident + "--plan auto").output,
               ContainsSubstring("settings     fastest plan (--plan auto); --plan users shows "));
    CHECK_THAT(run_sluice(resident + "--plan given").output,
               ContainsSubstring("settings     as given (--plan given); --plan users shows "));
    CHECK_THAT(run_sluice("predict --model qwen2.5-7b --layers 2 --machine h200-sxm-pcie5").output,
               !ContainsSubstring("settings     "));
    check_sluice_mistake("cost --model qwen2.5-7b --machine h200-sxm-pcie5 --plan users",
                         {"--plan is \"users\"", "given or auto"});
    check_sluice_mistake("predict --machine h200-sxm-pcie5 --model " + std::string(100'000, 'x'),
                         {"unknown model \"xxx", "xxx...xxx", "sluice models"});
}

#include "sim/specs/scenario/project_file.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"
#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"
#include "tests/sim/specs/scenario/example_project.h"

using namespace sluice;
using test::example_project;

namespace {

std::string refused(const std::string& text) {
    try {
        parse_project(text, "p.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("project file: what is written is read back, mistakes too", "[scenario]") {
    CHECK(parse_project(project_json(example_project()), "p.json") == example_project());
    Project larger = example_project();
    larger.scenarios[0].model.vocabulary = "150000";
    CHECK_THAT(project_json(larger), ContainsSubstring("\"vocabulary\": 150000"));
    CHECK(parse_project(project_json(larger), "p.json") == larger);
}

TEST_CASE("project file: numbers stay numbers, with the digits that were typed", "[scenario]") {
    const std::string text = project_json(example_project());
    CHECK_THAT(text, ContainsSubstring("\"batch\": 64"));
    CHECK_THAT(text, ContainsSubstring("\"tokens\": \"2e9\""));
    CHECK(parse_project(
              R"({"format": "sluice project", "version": 1, "scenarios": [
                  {"name": "", "model": "120b", "machine": "x", "training": {"batch": 32}}]})",
              "p.json")
              .scenarios[0]
              .training.at("batch") == "32");
}

TEST_CASE("project file: what only looks like a number stays as it was typed", "[scenario]") {
    for (const char* typed :
         {"inf", "-inf", "nan", "1e400", "-0", "1e16", "1e+16", "12345678901234567890"}) {
        CAPTURE(typed);
        Project project = example_project();
        project.scenarios[0].training["batch"] = typed;
        project.scenarios[0].model.layers = typed;
        CHECK(parse_project(project_json(project), "p.json") == project);
    }
}

TEST_CASE("project file: the question of the start page and its ways are kept", "[scenario]") {
    Project project = example_project();
    CHECK_THAT(project_json(project), ContainsSubstring("\"version\": 1"));
    AskedRun run;
    run.fields = {{"model", "72B"}, {"tokens", "2B"}, {"days", "30"}, {"owned_gpus", "2"}};
    run.ways = project.scenarios;
    project.asked_run = run;
    const std::string text = project_json(project);
    // An older program says that it is too old, rather than that a key is unknown.
    CHECK_THAT(text, ContainsSubstring("\"version\": 2"));
    CHECK(parse_project(text, "p.json") == project);
    CHECK_THAT(refused(R"({"format": "sluice project", "version": 2, "scenarios": [)"
                       R"({"name": "a", "model": "120b", "machine": "x"}],)"
                       R"("asked_run": {"question": {"modle": "7B"}, "ways": []}})"),
               ContainsSubstring("did you mean \"model\""));
    project.asked_run->fields["task"] = "distillation";
    CHECK_THAT(refused(project_json(project)),
               ContainsSubstring("p.json: asked_run.question.task is \"distillation\", expected "
                                 "fine-tuning or pretraining"));
}

TEST_CASE("project file: each mistake is one sentence with file, field and value", "[scenario]") {
    CHECK_THAT(refused("{\"format\":"), ContainsSubstring("p.json"));
    CHECK_THAT(refused("[]"), ContainsSubstring("p.json"));
    CHECK_THAT(refused("{}"), ContainsSubstring("p.json: format is missing"));
    CHECK_THAT(refused(R"({"format": 3})"), ContainsSubstring("p.json: format"));
    CHECK_THAT(refused(R"({"format": "other"})"), ContainsSubstring("is \"other\", expected"));
    CHECK_THAT(refused(R"({"format": "sluice project", "version": 3, "news": 1})"),
               ContainsSubstring("p.json: version is 3, expected at most 2"));
    const std::string start = R"({"format": "sluice project", "version": 1, )";
    CHECK_THAT(refused(start + R"("scenarios": []})"), ContainsSubstring("scenarios is empty"));
    CHECK_THAT(refused(start + R"("scenarois": []})"),
               ContainsSubstring("did you mean \"scenarios\""));
    const std::string one = R"({"name": "a", "model": "120b", "machine": "gh200-480gb")";
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(, "training": {"bach": 3}}]})"),
               ContainsSubstring("did you mean \"batch\""));
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(, "layers": [3]}]})"),
               ContainsSubstring("scenarios[0].layers"));
    CHECK_THAT(refused(start + R"("scenarios": [)" + one + R"(}], "current": 1})"),
               ContainsSubstring("current is 1"));
}

TEST_CASE("project file: a full disk while it is saved loses nothing", "[scenario]") {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("p.json", project_json(example_project()));
    Project larger = example_project();
    larger.scenarios[0].notes = std::string(100'000, 'x');
    // No file may grow beyond 64 kB: writing fails as it does where no space is left.
    struct rlimit before {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit full = before;
    full.rlim_cur = 65'536;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
    std::string sentence;
    try {
        write_file(file, project_json(larger));
    } catch (const InputError& error) {
        sentence = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK_THAT(sentence, ContainsSubstring(file + ": cannot be written"));
    CHECK(parse_project(read_text_file(file), file) == example_project());
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("project file: a file and a scenario in it are named together", "[scenario]") {
    const test::TemporaryFolder folder;
    const std::string file = folder.write("a: b/p.json", project_json(example_project()));
    CHECK(read_planned_scenario(file).name == "mistakes are kept: ü");
    CHECK(read_planned_scenario(file + ":120 B on one H200").model.model == "120b");
    CHECK_THROWS_WITH(read_planned_scenario(file + ":120 B on one H100"),
                      ContainsSubstring("did you mean \"120 B on one H200\""));
    // A name may hold a colon, and so may a file's.
    const std::string kept = "mistakes are kept: ü";
    CHECK(read_planned_scenario(file + ":" + kept).name == kept);
    Project twice = example_project();
    for (PlannedScenario& planned : twice.scenarios) planned.name = kept;
    const std::string other_file = folder.write("of 12:30.json", project_json(twice));
    CHECK(read_planned_scenario(other_file).name == kept);
    CHECK_THROWS_WITH(read_planned_scenario(other_file + ":" + kept),
                      ContainsSubstring("12:30.json has 2 scenarios of that name; rename"));
    CHECK_THROWS_WITH(read_planned_scenario("gone.json:a: b"),
                      ContainsSubstring("gone.json: no such file"));
}

TEST_CASE("project file: a page carries it, whatever its names hold", "[scenario]") {
    Project project = example_project();
    project.scenarios[0].name = "</script><!-- <b>\"1\"</b>";
    const std::string element = project_element(project);
    CHECK(element.find("</script>") == element.size() - std::string("</script>\n").size());
    const std::string page = "<!doctype html>\n<html><body>" + element + "</body></html>";
    CHECK(is_page(page));
    CHECK(!is_page(project_json(project)));
    CHECK(parse_project(page, "page.html") == project);
}

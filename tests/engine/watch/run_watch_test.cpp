// Does the page of --watch show the run, need no other file, and end with it?
#include "engine/watch/run_watch.h"

#include <limits>

#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/sim/report/xml_nesting.h"

using namespace sluice;

namespace {

StepRecord record_of(std::int64_t step) {
    StepRecord record;
    record.step = step;
    record.outcome.loss = 5.0 / static_cast<double>(step);
    record.outcome.gradient_norm = 1.25;
    record.learning_rate = 3e-4;
    record.seconds = 0.5;
    record.tokens = 4000;
    record.device = 2'000'000'000;
    record.host = 3'000'000'000;
    record.gpu_joules = 350;
    return record;
}

RunFacts facts() {
    RunFacts out{"tiny & <fast>", "a GPU", 10, 2'500'000'000, 4'000'000'000, 0.4};
    out.settings = {{"weights", "loaded from <base>"}, {"steps", "10 of 4 sequences"}};
    return out;
}

void no_warning(const std::string& sentence) { FAIL(sentence); }

bool refreshes(const std::string& page) {
    return page.find("http-equiv=\"refresh\" content=\"10\"") != std::string::npos;
}

}  // namespace

TEST_CASE("watch: a page is there from the start, loads itself again and ends with the run",
          "[watch]") {
    const TempFolder temp;
    RunWatch watch(temp.path("new/folder"), facts(), 0, std::nullopt, no_warning);
    const std::string first = temp.read("new/folder/index.html");
    CHECK(nesting_error(first) == std::nullopt);
    CHECK(refreshes(first));
    for (std::int64_t step = 1; step <= 3; ++step) watch.add(record_of(step));
    watch.note("something odd & <rare>");
    CHECK(watch.is_due());
    MeasuredParts measured;
    measured.against_plan = "80% of plan; optimizer 12% slower than planned";
    watch.write("step 3 of 10, 0:04 left", "out/step-00000002", measured);
    watch.end("Finished after step 3 of 10.", "out/step-00000003", measured);
    CHECK_FALSE(watch.is_due());
    const std::string last = temp.read("new/folder/index.html");
    CHECK(nesting_error(last) == std::nullopt);
    CHECK_FALSE(refreshes(last));
    for (const char* words :
         {"tiny &amp; &lt;fast&gt; on a GPU", "Finished after step 3 of 10.", "1.6667",
          "8,000 tokens/s", "10,000 tokens/s", "80% of plan; optimizer 12% slower than planned",
          "2.0 GB of 2.5 GB planned", "700 W", "out/step-00000003",
          "step 3: something odd &amp; &lt;rare&gt;", "Power of the GPU",
          "loaded from &lt;base&gt;", "10 of 4 sequences"})
        CHECK_THAT(last, ContainsSubstring(words));
    for (const char* other_file : {"src=", "href=", "url(", "@import", "<script"})
        CHECK(last.find(other_file) == std::string::npos);
}

TEST_CASE("watch: the predicted speed is that of the newest step's kind", "[watch]") {
    const auto page_of = [](bool ahead) {
        const TempFolder temp;
        RunFacts both = facts();
        both.expected_step_ahead = 0.25;
        RunWatch watch(temp.path(), both, 0, std::nullopt, no_warning);
        StepRecord record = record_of(1);
        record.outcome.ahead = ahead;
        watch.add(record);
        watch.end("Finished.", "", std::nullopt);
        return temp.read("index.html");
    };
    CHECK_THAT(page_of(false), ContainsSubstring("10,000 tokens/s, 400.0 ms"));
    CHECK_THAT(page_of(true), ContainsSubstring("16,000 tokens/s, 250.0 ms"));
    // Steps of both kinds may alternate, so the chart has both levels.
    for (const bool ahead : {false, true})
        CHECK_THAT(page_of(ahead), ContainsSubstring("predicted, above for steps that update"));
}

TEST_CASE("watch: the page of a run that goes on has the log's steps", "[watch]") {
    const TempFolder temp;
    const std::string log = temp.write("log", "{\"step\":1,\"loss\":5,\"validation_loss\":4.5}\n");
    RunWatch watch(temp.path(), facts(), 1, log, no_warning);
    watch.add(record_of(2));
    watch.end("Finished.", "", std::nullopt);
    CHECK_THAT(temp.read("index.html"), ContainsSubstring("4.5000 (lowest 4.5000 at step 1)"));
}

TEST_CASE("watch: a page of something else is not replaced, also not through a link", "[watch]") {
    const TempFolder temp;
    const std::string own = temp.write("own.html", "<html>my home page</html>");
    const std::string page = temp.path("w/index.html");
    std::filesystem::create_directory(temp.path("w"));
    const auto refusal = [&] {
        return input_error_of([&] { create_watch_folder(temp.path("w")); });
    };
    std::filesystem::copy_file(own, page);
    CHECK(refusal() == "--watch " + temp.path("w") + ": " + page +
                           " is no page of this version of sluice-train, which would replace it; "
                           "remove it if an older version wrote it, or give another folder");
    for (const std::string& target : {own, temp.path("gone"), temp.path("w")}) {
        std::filesystem::remove(page);
        std::filesystem::create_symlink(target, page);
        CHECK_FALSE(refusal().empty());
    }
    CHECK(temp.read("own.html") == "<html>my home page</html>");
    std::filesystem::remove(page);
    { const RunWatch first(temp.path("w"), facts(), 0, std::nullopt, no_warning); }
    const RunWatch second(temp.path("w"), facts(), 0, std::nullopt, no_warning);
}

TEST_CASE("watch: a folder that cannot be written is refused, one that is lost is told once",
          "[watch]") {
    const TempFolder temp;
    const std::string file = temp.write("file", "");
    CHECK_THROWS_WITH(RunWatch(file, facts(), 0, std::nullopt, no_warning),
                      ContainsSubstring("--watch " + file));
    int told = 0;
    RunWatch watch(temp.path("w"), facts(), 0, std::nullopt, [&](const std::string& sentence) {
        ++told;
        CHECK_THAT(sentence, ContainsSubstring("--watch"));
    });
    std::filesystem::remove_all(temp.path("w"));
    watch.end("One.", "", std::nullopt);
    watch.end("Two.", "", std::nullopt);
    CHECK(told == 1);
}

TEST_CASE("watch: a loss that is not finite leaves a gap", "[watch]") {
    const TempFolder temp;
    RunWatch watch(temp.path(), facts(), 0, std::nullopt, no_warning);
    StepRecord record = record_of(1);
    record.outcome.loss = std::numeric_limits<double>::quiet_NaN();
    watch.add(record);
    watch.end("The loss is not finite.", "", std::nullopt);
    CHECK(nesting_error(temp.read("index.html")) == std::nullopt);
}

TEST_CASE("watch: each named set of held-out data has its numbers", "[watch]") {
    const TempFolder temp;
    RunWatch watch(temp.path(), facts(), 0, std::nullopt, no_warning);
    StepRecord record = record_of(1);
    record.validation = {2.5, {{"chats", 2.25}, {"code", 3.5}}};
    watch.add(record);
    watch.end("Finished.", "", std::nullopt);
    std::string events;
    for (const std::string& name : temp.names())
        if (name.starts_with("events.")) events = temp.read(name);
    for (const char* tag :
         {"loss/validation", "loss/validation_sets/chats", "loss/validation_sets/code"})
        CHECK_THAT(events, ContainsSubstring(tag));
    CHECK(step_json(record)["validation_losses"]["code"] == 3.5);
    CHECK_FALSE(step_json(record_of(1)).contains("validation_losses"));
    CHECK(validation_words(*record.validation) == "2.5000 (chats 2.2500, code 3.5000)");
}

#include "engine/train/run_summary.h"

#include "engine/train/run_defaults.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

ComingRun coming_run() {
    ComingRun run;
    run.settings.load = "base";
    run.settings = with_rates(run.settings, {});
    run.settings = with_steps(run.settings, {}, 1234, 8);
    run.settings.data = {"a.bin", "b.bin"};
    run.settings.out = "out";
    run.training.batch = 8;
    run.data = {1024, 1234, 1'300'000, 650'000, 511, 2, 1, 9000};
    return run;
}

}  // namespace

TEST_CASE("run summary: it says all that a fine-tune can have wrong", "[train]") {
    CHECK(run_summary(coming_run()) ==
          "this run\n"
          "  weights     loaded from base\n"
          "  data        1,234 sequences of 1,024 tokens from a.bin, b.bin; 50% of the tokens are "
          "learned\n"
          "  left out    2 documents longer than a sequence and cut; 1 document left out by ./dev "
          "data; 9,000 tokens of these; 511 tokens at the end of files\n"
          "  steps       100 of 8 sequences: 0.648 epochs of the data\n"
          "  optimizer   AdamW, learning rate 2e-05 after 3 steps of warm-up, cosine to 2e-06; "
          "betas 0.9 and 0.999, weight decay 0, norm at most 1\n"
          "  saved to    out, at the end\n"
          "  precision   activations in bf16, 12 bytes of state a parameter\n"
          "  plan        as by default\n"
          "  expected    not known before the first steps, which say the time left\n");
}

TEST_CASE("run summary: random weights, and a run that keeps nothing", "[train]") {
    ComingRun run = coming_run();
    run.settings.load = std::nullopt;
    run.settings.out = std::nullopt;
    run.settings.seed = 3;
    const std::string text = run_summary(run);
    CHECK_THAT(text, ContainsSubstring("weights     random, of seed 3\n"));
    CHECK_THAT(text, ContainsSubstring("saved to    NOT SAVED: the weights are lost at the end"));
}

TEST_CASE("run summary: a run that goes on, with its end by the prediction", "[train]") {
    ComingRun run = coming_run();
    run.settings.data = {"a.bin", "b.bin", "c.bin", "d.bin", "e.bin"};
    run.settings.save_every = 10;
    run.settings.validation = {{"", {"held.bin"}}};
    run.validation = {DataFacts{1024, 12, 13'000, 13'000, 0}};
    run.continues_from = "out/step-00000060";
    run.done = 60;
    run.now = 1'000'000'000;
    run.settings.expected = ExpectedStep();
    run.settings.expected->step = 90;
    const std::string text = run_summary(run);
    CHECK_THAT(text, ContainsSubstring("weights     continue from out/step-00000060, with its "));
    CHECK_THAT(text, ContainsSubstring("from a.bin, b.bin, c.bin and 2 more;"));
    CHECK_THAT(text, ContainsSubstring("steps       61 to 100 of 8 sequences"));
    CHECK_THAT(text, ContainsSubstring("validation  12 sequences of 1,024 tokens from held.bin; "
                                       "100% of the tokens are learned; every 100 steps\n"));
    CHECK_THAT(text, ContainsSubstring("saved to    out, every 10 steps and at the end\n"));
    CHECK_THAT(text, ContainsSubstring("expected    90.00 s a step, 1:00:00 for all; the end is "
                                       "about " +
                                       local_minute(run.now + 3600)));
}

TEST_CASE("run summary: a run that only evaluates has no steps", "[train]") {
    ComingRun run = coming_run();
    run.settings.evaluate_only = true;
    run.settings.validation = {{"", {"held.bin"}}};
    run.validation = {DataFacts{1024, 12, 13'000, 13'000, 0}};
    CHECK(
        run_summary(run) ==
        "this run\n"
        "  weights     loaded from base\n"
        "  steps       none: the validation loss alone is found\n"
        "  validation  12 sequences of 1,024 tokens from held.bin; 100% of the tokens are learned\n"
        "  precision   activations in bf16, 12 bytes of state a parameter\n"
        "  plan        as by default\n");
}

TEST_CASE("run summary: sequences beyond the model's positions are said", "[train]") {
    ComingRun run = coming_run();
    CHECK(run_warnings(run).empty());
    run.longest_sequence = 1024;
    CHECK(run_warnings(run).empty());
    run.longest_sequence = 512;
    REQUIRE(run_warnings(run).size() == 1);
    CHECK_THAT(run_warnings(run).front(),
               ContainsSubstring("sequences of 1,024 tokens are longer than the model's "
                                 "max_position_embeddings of 512"));
}

TEST_CASE("run summary: each set of held-out data has its line", "[train]") {
    ComingRun run = coming_run();
    run.settings.validation = {{"chats", {"a.bin", "b.bin"}}, {"code", {"c.bin"}}};
    run.settings.patience = 3;
    run.validation = {DataFacts{1024, 12, 13'000, 13'000, 0}, DataFacts{1024, 2, 2'049, 1'025, 0}};
    CHECK_THAT(run_summary(run),
               ContainsSubstring(
                   "  validation  chats: 12 sequences of 1,024 tokens from a.bin, b.bin; 100% of "
                   "the tokens are learned\n"
                   "  validation  code: 2 sequences of 1,024 tokens from c.bin; 50% of the tokens "
                   "are learned; every 100 steps, until 3 losses are no lower in a row\n"));
}

TEST_CASE("run summary: the course of the learning rate", "[train]") {
    ComingRun run = coming_run();
    run.settings.schedule = LearningRateKind::wsd;
    CHECK_THAT(run_summary(run),
               ContainsSubstring("warm-up, wsd to 2e-06 in the last 10% of the steps; betas"));
    run.settings.schedule = LearningRateKind::inverse_sqrt;
    CHECK_THAT(run_summary(run), ContainsSubstring("warm-up, inverse-sqrt; betas"));
}

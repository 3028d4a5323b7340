// Is every training option read, shown and refused by its one declaration?
#include "sim/specs/scenario/training_spec.h"

#include <fmt/format.h>

#include <set>

#include "sim/plan/schedules/megatrain_memory.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

TrainingSpec parse(const std::string& text) { return parse_training_spec(text, "training.json"); }

std::string parse_error(const std::string& text) {
    return input_error_of([&] { parse(text); });
}

std::string check_error(const std::string& text) {
    return input_error_of([&] { check_training_spec(parse(text)); });
}

const Option& option_named(const std::string& field) {
    for (const Option& option : training_options()) {
        if (field == option.field) return option;
    }
    throw std::out_of_range(field);
}

}  // namespace

TEST_CASE("training spec: an empty file gives the defaults, which are valid", "[plan]") {
    const TrainingSpec spec = parse("{}");
    const TrainingSpec standard;
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        CHECK(option.get(spec) == option.get(standard));
    }
    CHECK_NOTHROW(check_training_spec(spec));
}

TEST_CASE("training spec: every field is read into its member", "[plan]") {
    const TrainingSpec spec = parse(R"({
        "schedule": "megatrain", "batch": 64, "micro_batch": 16, "seq": 2048, "buffer_depth": 3,
        "gradient_slabs": 4, "host_gradient_slabs": 5, "recompute": "keep_attention",
        "keep_last_layers": 6, "deferred_layers": 3, "checkpoints": "host", "checkpoint_interval": 7, "state_bytes": 8,
        "optimizer_threads": 9, "clipping": "exact", "loss_chunk_tokens": 1000,
        "feed_forward_chunk_tokens": 500, "distinct_tokens": 900,
        "device_budget_bytes": "80GB", "host_budget_bytes": 1.5e12
    })");
    CHECK(spec.schedule == Schedule("megatrain"));
    CHECK(spec.batch == 64);
    CHECK(spec.micro_batch == 16);
    CHECK(spec.sequence == 2048);
    CHECK(spec.buffer_depth == 3);
    CHECK(spec.gradient_slabs == 4);
    CHECK(spec.host_gradient_slabs == 5);
    CHECK(spec.recompute == Recompute::keep_attention);
    CHECK(spec.keep_last_layers == 6);
    CHECK(spec.deferred_layers == 3);
    CHECK(spec.checkpoints == CheckpointPlacement::host);
    CHECK(spec.own.of<MegaTrainOptions>().checkpoint_interval == 7);
    CHECK(spec.state_bytes == 8);
    CHECK(spec.optimizer_threads == 9);
    CHECK(spec.clipping == Clipping::exact);
    CHECK(spec.loss_chunk_tokens == 1000);
    CHECK(spec.feed_forward_chunk_tokens == 500);
    CHECK(spec.distinct_tokens == 900);
    CHECK(spec.device_budget_bytes == 80e9);
    CHECK(spec.host_budget_bytes == 1.5e12);
    CHECK(spec.tokens() == 64 * 2048);
    CHECK(spec.micro_batches() == 4);
    CHECK(spec.micro_batch_block().tokens() == 16 * 2048);
    CHECK(spec.micro_batch_block().feed_forward_chunk == 500);
    CHECK(spec.batch_block().tokens() == 64 * 2048);
}

TEST_CASE("training spec: without a micro-batch the whole batch passes at once", "[plan]") {
    const TrainingSpec spec = parse(R"({"batch": 24})");
    CHECK(spec.micro_batch_sequences() == 24);
    CHECK(spec.micro_batches() == 1);
}

TEST_CASE("training spec: an option set from its own text keeps its value", "[plan]") {
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        std::vector<double> values = {option.low, option.high};
        for (const Choice& choice : option.choices) values.push_back(choice.value);
        for (const double value : values) {
            CAPTURE(value);
            TrainingSpec spec;
            option.set(spec, value);
            const std::string text = option_text(spec, option);
            CAPTURE(text);
            TrainingSpec copy;
            set_option(copy, option, text, option_flag(option));
            CHECK(option.get(copy) == value);
        }
    }
}

TEST_CASE("training spec: every option has a name of its own, a flag, a help text and a range",
          "[plan]") {
    std::set<std::string> flags;
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        CHECK(flags.insert(option_flag(option)).second);
        CHECK(option_flag(option).find('_') == std::string::npos);
        CHECK_FALSE(std::string(option.help).empty());
        CHECK(option.low < option.high);
        const TrainingSpec standard;
        CHECK(option.get(standard) >= option.low);
        CHECK(option.get(standard) <= option.high);
        // A choice for each value between the bounds.
        if (!option.choices.empty()) {
            CHECK(static_cast<double>(option.choices.size()) == option.high - option.low + 1);
        }
    }
    CHECK(option_flag(option_named("micro_batch")) == "--micro-batch");
}

TEST_CASE("training spec: an unknown key suggests the nearest", "[plan]") {
    CHECK_THAT(parse_error(R"({"mirco_batch": 4})"),
               ContainsSubstring("training.json") && ContainsSubstring("\"mirco_batch\"") &&
                   ContainsSubstring("did you mean \"micro_batch\"?"));
    CHECK_THAT(parse_error(R"({"a_very_different_key": 4})"),
               ContainsSubstring("\"a_very_different_key\"") && !ContainsSubstring("did you mean"));
}

TEST_CASE("training spec: a set takes all of its members, or some with commas", "[plan]") {
    const Option& targets = option_named("adapter_targets");
    TrainingSpec spec;
    CHECK(option_text(spec, targets) == "all");
    set_option(spec, targets, "v,q", "--adapter-targets");
    CHECK(spec.adapter_targets == (kQuery | kValue));
    CHECK(option_text(spec, targets) == "q,v");
    set_option(spec, targets, "q,k,v,o,gate,up,down", "--adapter-targets");
    CHECK(option_text(spec, targets) == "all");
    for (const char* const text : {"", "q,", ",q", "q v", "x", "all,q", "5"})
        CHECK_THAT(
            parse_error(fmt::format(R"({{"adapter_targets": "{}"}})", text)),
            ContainsSubstring("adapter_targets is ") &&
                ContainsSubstring("expected all, or one or several of q,k,v,o,gate,up,down"));
}

TEST_CASE("training spec: every number beyond its range names the field, the value and the range",
          "[plan]") {
    for (const Option& option : training_options()) {
        if (!option.choices.empty() || !option.members.empty()) continue;
        CAPTURE(option.field);
        for (const double value :
             {option.low - 1, -1e6, option.high + 1, option.high * 10, 1e300}) {
            const std::string shown = fmt::format("{}", value);
            CAPTURE(shown);
            const std::string text = fmt::format(R"({{"{}": {}}})", option.field, shown);
            const std::string range = option.numbers.empty() ? fmt::format("from {:.0f} to {:.0f}",
                                                                           option.low, option.high)
                                                             : "expected " + option.numbers;
            CHECK_THAT(parse_error(text),
                       ContainsSubstring(fmt::format("training.json: {} is ", option.field)) &&
                           ContainsSubstring(range));
        }
    }
}

TEST_CASE("training spec: every value that is no such value is named", "[plan]") {
    struct Mistake {
        const char* text;
        std::vector<const char*> parts;
    };
    const std::vector<Mistake> mistakes = {
        {R"({"batch": -8})", {"batch is -8", "sequences", "from 1"}},
        {R"({"batch": 0})", {"batch is 0"}},
        {R"({"batch": 2.5})", {"batch is 2.5", "whole number"}},
        {R"({"batch": 1e300})", {"batch is 1e+300", "1000000"}},
        {R"({"batch": "eight"})", {"batch is \"eight\"", "whole number"}},
        {R"({"batch": "nan"})", {"batch is \"nan\""}},
        {R"({"batch": "inf"})", {"batch is \"inf\""}},
        {R"({"batch": ""})", {"batch is "}},
        {R"({"batch": true})", {"batch is true"}},
        {R"({"batch": [8]})", {"batch is [8]"}},
        {R"({"batch": {"size": 8}})", {"batch is {\"size\":8}"}},
        {R"({"schedule": "stream"})",
         {"schedule is \"stream\"", "streamed or megatrain", "did you mean \"streamed\"?"}},
        {R"({"schedule": 0})", {"schedule is \"0\"", "streamed or megatrain"}},
        {R"({"recompute": "keep-attention"})",
         {"recompute is \"keep-attention\"", "did you mean \"keep_attention\"?"}},
        {R"({"clipping": true})", {"clipping is \"true\"", "auto or exact or speculative or off"}},
        {R"({"checkpoints": ["host"]})", {"checkpoints is [\"host\"]"}},
        {R"({"device_budget_bytes": "80 apples"})", {"device_budget_bytes is \"80 apples\"", "80"}},
        {R"({"device_budget_bytes": -1})", {"device_budget_bytes is -1", "memory size"}},
        {R"({"host_budget_bytes": "-1GB"})", {"host_budget_bytes is \"-1GB\""}},
        {R"({"host_budget_bytes": "9e9TB"})", {"host_budget_bytes is "}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.text);
        const std::string message = parse_error(mistake.text);
        CHECK_THAT(message, ContainsSubstring("training.json: "));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("training spec: a flag's mistake names the flag", "[plan]") {
    TrainingSpec spec;
    CHECK_THAT(input_error_of(
                   [&] { set_option(spec, option_named("micro_batch"), "4x", "--micro-batch"); }),
               ContainsSubstring("--micro-batch is 4x") && ContainsSubstring("sequences"));
    CHECK(spec.micro_batch == 0);
}

TEST_CASE("training spec: a file that is cut anywhere or no object is named", "[plan]") {
    const std::string whole = R"({"batch": 8, "recompute": "none"})";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_THAT(parse_error(whole.substr(0, length)),
                   ContainsSubstring("training.json: line 1:") && ContainsSubstring("truncated"));
    }
    CHECK_THAT(parse_error("[1]"), ContainsSubstring("training.json") && ContainsSubstring("[1]"));
    CHECK_THAT(parse_error("8"), ContainsSubstring("training.json") && ContainsSubstring("8"));
    CHECK_THAT(parse_error(R"({"batch": 1e999})"),
               ContainsSubstring("training.json") && ContainsSubstring("too large"));
}

TEST_CASE("training spec: rules between options name both values and what to change", "[plan]") {
    CHECK_THAT(check_error(R"({"batch": 8, "micro_batch": 3})"),
               ContainsSubstring("--batch is 8") && ContainsSubstring("--micro-batch (3)") &&
                   ContainsSubstring("multiple"));
    CHECK_THAT(check_error(R"({"batch": 8, "micro_batch": 16})"),
               ContainsSubstring("--micro-batch is 16") && ContainsSubstring("batch (8)"));
    for (const int state_bytes : {7, 9, 10, 11}) {
        CAPTURE(state_bytes);
        CHECK_THAT(check_error(fmt::format(R"({{"state_bytes": {}}})", state_bytes)),
                   ContainsSubstring(fmt::format("--state-bytes is {}", state_bytes)) &&
                       ContainsSubstring("12") && ContainsSubstring("8") && ContainsSubstring("6"));
    }
    CHECK_THAT(check_error(R"({"kept_bits": 12})"),
               ContainsSubstring("--kept-bits is 12, expected 16 (bf16) or 8"));
    CHECK_NOTHROW(check_training_spec(parse(R"({"kept_bits": 8})")));
    for (const char* state_bytes : {"3", "4.5", "13", "\"abc\""}) {
        CAPTURE(state_bytes);
        CHECK_THAT(parse_error(fmt::format(R"({{"state_bytes": {}}})", state_bytes)),
                   ContainsSubstring("expected 12 (fp32), 8 (bf16 moments), 6 (8-bit moments), 5"));
    }
    for (const int state_bytes : {6, 8, 12}) {
        CAPTURE(state_bytes);
        CHECK_NOTHROW(
            check_training_spec(parse(fmt::format(R"({{"state_bytes": {}}})", state_bytes))));
    }
}

TEST_CASE("training spec: passes are equal parts of a batch", "[plan]") {
    CHECK(parse(R"({"batch": 8, "passes": 4})").micro_batches_of_a_pass() == 1);
    CHECK(parse(R"({"batch": 8, "passes": 2, "micro_batch": 1})").micro_batches_of_a_pass() == 4);
    CHECK_THAT(check_error(R"({"batch": 8, "passes": 3})"),
               ContainsSubstring("--passes is 3, expected a divisor of the 8 sequences"));
    CHECK_THAT(check_error(R"({"batch": 8, "passes": 16})"), ContainsSubstring("8 sequences"));
    CHECK_THAT(check_error(R"({"batch": 8, "micro_batch": 2, "passes": 8})"),
               ContainsSubstring("--passes is 8, expected a divisor of the 4 micro-batches"));
    CHECK_THAT(check_error(R"({"batch": 8, "passes": 2, "checkpoints": "host"})"),
               ContainsSubstring("--checkpoints is host with 2 passes"));
}

TEST_CASE("training spec: half of the inputs are saved of one micro-batch, with two slots",
          "[plan]") {
    CHECK_NOTHROW(check_training_spec(parse(R"({"saved_inputs": "half"})")));
    CHECK_THAT(check_error(R"({"saved_inputs": "half", "batch": 8, "micro_batch": 2})"),
               ContainsSubstring("--saved-inputs is half with 4 micro-batches, expected one"));
    CHECK_THAT(check_error(R"({"saved_inputs": "half", "buffer_depth": 1})"),
               ContainsSubstring("--saved-inputs is half with one weight slot"));
}

TEST_CASE("training spec: chunks too small to plan say the least that would do", "[plan]") {
    // 8 x 1,000,000 tokens over 100,000 chunks are 80 tokens each.
    CHECK_THAT(check_error(R"({"seq": 1000000, "feed_forward_chunk_tokens": 1})"),
               ContainsSubstring("--feed-forward-chunk-tokens is 1") &&
                   ContainsSubstring("8000000 tokens") && ContainsSubstring("at least 80"));
    CHECK_NOTHROW(
        check_training_spec(parse(R"({"seq": 1000000, "feed_forward_chunk_tokens": 80})")));
    CHECK_THAT(check_error(R"({"seq": 1000000, "loss_chunk_tokens": 79})"),
               ContainsSubstring("--loss-chunk-tokens is 79") && ContainsSubstring("at least 80"));
    // Tokens are cut within a micro-batch.
    CHECK_NOTHROW(check_training_spec(
        parse(R"({"seq": 1000000, "micro_batch": 1, "loss_chunk_tokens": 11})")));
}

TEST_CASE("training spec: megatrain refuses every option that it has not", "[plan]") {
    CHECK_NOTHROW(check_training_spec(parse(R"({"schedule": "megatrain", "batch": 32})")));
    for (const char* other :
         {R"("state_bytes": 8)", R"("recompute": "none")", R"("keep_last_layers": 1)",
          R"("checkpoints": "host")", R"("buffer_depth": 3)", R"("feed_forward_chunk_tokens": 64)",
          R"("distinct_tokens": 64)"}) {
        CAPTURE(other);
        const std::string text = R"({"schedule": "megatrain", )" + std::string(other) + "}";
        CHECK_THAT(check_error(text), ContainsSubstring("megatrain") && ContainsSubstring("leave"));
    }
}

TEST_CASE("training spec: streamed refuses what only megatrain has", "[plan]") {
    CHECK_THAT(check_error(R"({"checkpoint_interval": 8})"),
               ContainsSubstring("--checkpoint-interval is 8") && ContainsSubstring("streamed"));
}

TEST_CASE("training spec: a schedule's own options are read, and refused with ours", "[plan]") {
    std::size_t own_options = 0;
    for (const ScheduleRecord& record : schedule_table())
        for (const Option& own : record.own_options) {
            CAPTURE(own.field);
            ++own_options;
            const Option& option = training_option(own.field);
            const TrainingSpec standard;
            const double other = option.get(standard) == option.low ? option.high : option.low;
            TrainingSpec set;
            option.set(set, other);
            const std::string text = fmt::format(
                R"({{"schedule": "{}", "{}": {}}})", record.name, own.field,
                option.choices.empty() ? option_text(set, option)
                                       : fmt::format("\"{}\"", option_text(set, option)));
            const TrainingSpec spec = parse(text);
            CHECK(option.get(spec) == other);
            CHECK(option.get(standard) != other);
            TrainingSpec ours = spec;
            ours.schedule = {};
            CHECK(input_error_of([&] { check_training_spec(ours); }) ==
                  fmt::format("{} is {}, which the schedule streamed does not have; leave it out",
                              option_flag(option), option_text(set, option)));
        }
    CHECK(own_options == 11);
}

TEST_CASE("training spec: the own options of several schedules are kept side by side", "[plan]") {
    const TrainingSpec spec = parse(
        R"({"sharding": "none", "offload": "masters", "busy_experts": 3, "fork": "views",
            "overlap_comm": 0, "offload_percent": 5})");
    const std::map<std::string, std::string> expected = {
        {"sharding", "none"}, {"offload", "masters"}, {"busy_experts", "3"},
        {"fork", "views"},    {"overlap_comm", "0"},  {"offload_percent", "5"}};
    for (const Option& option : training_options()) {
        CAPTURE(option.field);
        const auto set = expected.find(option.field);
        CHECK(option_text(spec, option) ==
              (set == expected.end() ? option_text(TrainingSpec{}, option) : set->second));
    }
}

TEST_CASE("training spec: more micro-batches than can be planned are refused", "[plan]") {
    CHECK_THAT(check_error(R"({"batch": 20000, "micro_batch": 1})"),
               ContainsSubstring("--micro-batch is 1") && ContainsSubstring("at least 20"));
}

}  // namespace sluice

// Which model does a person mean by a size or a part of a name, and what is said about it?
#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

TEST_CASE("model of: what read_model() takes stays as it is typed", "[model]") {
    for (const char* text : {"qwen2.5-7b", "Qwen/Qwen2.5-7B", "120b", "120B",
                             "dense:layers=2,hidden=256", "./my-model", "config.json"}) {
        CHECK(model_of(text) == text);
        CHECK(model_note(text).empty());
    }
    CHECK(read_model("120B").name == "120b");
}

TEST_CASE(
    "model of: a size is the model with it in its name, else the nearest; neighbours are said",
    "[model]") {
    CHECK(model_of("72B") == "qwen2.5-72b");
    // phi-4 is nearer to 14 B with 14.66 B, but is not called 14b.
    CHECK(model_note("14B") ==
          "model 14B: qwen3-14b (14.77 B parameters), about that size; also qwen2.5-14b (14.77 B), "
          "phi-4 (14.66 B)");
    // 70.55 B and 72.71 B parameters: 0.6% and 2.4% from 71 B.
    for (const char* text : {"70B", "71B", "70,600,000,000"})
        CHECK(model_note(text) == std::string("model ") + text +
                                      ": llama-3.1-70b (70.55 B parameters), about that size; also "
                                      "qwen2.5-72b (72.71 B)");
    CHECK_THAT(model_note("7B"), ContainsSubstring("mistral-7b-v0.1 (7.24 B parameters)") &&
                                     ContainsSubstring("also qwen2.5-7b (7.62 B)"));
    CHECK_THAT(input_error_of([] { model_of("37T", "--model"); }),
               ContainsSubstring("--model is \"37T\"") && ContainsSubstring("sluice models"));
}

TEST_CASE("model of: a part is the one name that has it", "[model]") {
    CHECK(model_of("30b-a3b") == "qwen3-30b-a3b");
    CHECK(model_note("30B-A3B") ==
          "model 30B-A3B: qwen3-30b-a3b (30.53 B parameters), the only name of the library with "
          "that part");
    // Several have it, none has it, too short to tell: read_model() says that there is none.
    for (const char* text : {"qwen", "gpt-2", "x", "7", ""}) {
        CHECK(model_of(text) == text);
        CHECK(model_note(text).empty());
    }
}

}  // namespace
}  // namespace sluice

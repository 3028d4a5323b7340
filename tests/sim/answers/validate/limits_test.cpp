// When is a validation beyond its limits?
#include "sim/answers/validate/validation.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;

namespace {

/// Tokens/s are off by +25% and -20%; memory of one is off by 3 and -2%.
Validation two_runs() {
    Validation v;
    v.runs = {made_run("a", "look", 1, 0.8), made_run("b", "look", 1, 1.25)};
    v.runs[1].run.device = v.runs[1].run.host = 100;
    v.runs[1].predicted_device = 103;
    v.runs[1].predicted_host = 98;
    v.summaries = summarize(v.runs);
    return v;
}

}  // namespace

TEST_CASE("limits: each names the runs beyond it", "[validate]") {
    using Sentences = std::vector<std::string>;
    const Validation v = two_runs();
    CHECK(beyond_limits(v, {}).empty());
    CHECK(beyond_limits(v, {0.21, {}, {}}) ==
          Sentences{"tokens/s are off by more than 21%: a (+25.0%)"});
    CHECK(beyond_limits(v, {0.1, {}, {}}) ==
          Sentences{"tokens/s are off by more than 10%: a (+25.0%), b (-20.0%)"});
    CHECK(beyond_limits(v, {{}, 0.2, {}}) ==
          Sentences{"the mean error of tokens/s is more than 20%: 22.5%"});
    CHECK(beyond_limits(v, {{}, {}, 0.025}) ==
          Sentences{"memory is off by more than 2.5%: b (device +3.0%)"});
    CHECK(beyond_limits(v, {{}, {}, 0.01}) ==
          Sentences{"memory is off by more than 1%: b (device +3.0%), b (host -2.0%)"});
    CHECK(beyond_limits(v, {0.3, 0.3, 0.3}).empty());
    CHECK(beyond_limits(v, {0.1, 0.1, 0.01}).size() == 3);
}

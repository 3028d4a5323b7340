// Does the rest of the program have what each kind of home declares, in its place?
#include <algorithm>

#include "sim/plan/homes/home_kind.h"
#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("homes: our schedule has their options, each before the one that it names", "[plan]") {
    const std::vector<Option>& all = training_options();
    for (const Option& option : home_options()) {
        CAPTURE(option.field);
        const auto place = std::ranges::find(all, std::string_view(option.field), &Option::field),
                   next = std::ranges::find(all, std::string_view(option.before), &Option::field);
        REQUIRE(place != all.end());
        REQUIRE(next != all.end());
        CHECK(place < next);
        CHECK(has_option(Schedule(), option));
        // The user's task says which weights are trained; the plan says where they live.
        const bool of_task = std::string_view(option.field).starts_with("adapter_");
        CHECK(option.group == (of_task ? OptionGroup::task : OptionGroup::placement));
    }
}

TEST_CASE("homes: values of all kinds are tried, those that cost the least speed first", "[plan]") {
    const ModelSpec model = parse_generic_model("layers=8,hidden=256,vocabulary=5000,tied=0");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    TrainingSpec t;
    t.compute = Compute::fp8;
    t.resident_tables = ResidentTables::both;
    for (const HomeKind& kind : home_kinds())
        if (kind.layers != nullptr) t.*kind.layers = 1;
    REQUIRE(!refusal_of(t));
    const auto fields = [&](Effect effect) {
        std::vector<std::string> out;
        for (const OptionChange& change : changes_of({model, machine, t}, effect))
            if (out.empty() || out.back() != change.option->field)
                out.emplace_back(change.option->field);
        return out;
    };
    CHECK(fields(Effect::frees_memory) ==
          std::vector<std::string>{"keep_last_layers", "host_kept_layers", "resident_layers",
                                   "deferred_layers", "visiting_layers", "weight_code_layers",
                                   "resident_tables", "clipping", "micro_batch", "checkpoints",
                                   "keep_attention_layers", "saved_inputs", "loss_chunk_tokens",
                                   "buffer_depth"});
    CHECK(fields(Effect::takes_memory) ==
          std::vector<std::string>{"recompute", "keep_last_layers", "weight_code_layers"});
}

TEST_CASE("homes: a broken rule is a value, and an error where it is asked for", "[plan]") {
    TrainingSpec t;
    t.visiting_layers = 2;
    CHECK(!refusal_of(t));
    t.clipping = Clipping::speculative;
    const std::optional<Refusal> why = refusal_of(t);
    REQUIRE(why);
    CHECK(why->field == "visiting_layers");
    CHECK(why->sentence ==
          "--visiting-layers is 2 with --clipping speculative, expected 0; leave it out, or give "
          "--clipping auto");
    CHECK_THROWS_WITH(check_training_spec(t), why->sentence);
    const ModelSpec model = parse_generic_model("layers=4,hidden=256,vocabulary=5000");
    t.clipping = Clipping::exact;
    t.resident_layers = 1, t.late_moment_layers = 2;
    REQUIRE(home_refusal(model, t));
    CHECK(home_refusal(model, t)->sentence ==
          "--late-moment-layers is 2, expected at most the 1 layers that are neither resident nor "
          "visiting");
}

}  // namespace sluice

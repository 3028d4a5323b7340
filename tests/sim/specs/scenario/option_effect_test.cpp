// Which options are refused, since others leave nothing of their effect?
#include "sim/specs/scenario/option_effect.h"

#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("option effect: a value that changes nothing is refused with its field", "[specs]") {
    const ModelSpec model = parse_generic_model("layers=28,hidden=1024");
    TrainingSpec training;
    training.batch = 4;
    training.sequence = 2048;
    CHECK(!without_effect(model, training));
    struct Wrong {
        void (*set)(TrainingSpec&);
        const char* sentence;
    };
    const auto refused_in = [&](const Wrong& wrong) {
        TrainingSpec changed = training;
        wrong.set(changed);
        const std::optional<Refusal> why = without_effect(model, changed);
        return why ? why->sentence : "";
    };
    using T = TrainingSpec;
    for (const Wrong& one : std::initializer_list<Wrong>{
             {[](T& t) { t.recompute = Recompute::none, t.keep_last_layers = 3; },
              "--keep-last-layers is 3 with --recompute none, by which all layers keep everything; "
              "leave one out"},
             {[](T& t) { t.keep_last_layers = 25, t.host_kept_layers = 20; },
              "--host-kept-layers is 20, expected at most the 3 layers that --keep-last-layers 25 "
              "leaves"},
             {[](T& t) { t.keep_last_layers = 5, t.keep_attention_layers = 5; },
              "--keep-attention-layers is 5, expected more than --keep-last-layers 5, whose layers "
              "keep attention's output, too; leave one out"},
             {[](T& t) { t.compute = t.stream_weights = Compute::fp8, t.resident_layers = 28; },
              "--stream-weights is fp8 with all 28 layers resident, whose weights are not copied; "
              "leave it out"},
             {[](T& t) { t.feed_forward_chunk_tokens = 8193; },
              "--feed-forward-chunk-tokens is 8193, expected at most the 8192 tokens of a batch"},
             {[](T& t) { t.loss_chunk_tokens = 8193; },
              "--loss-chunk-tokens is 8193, expected at most the 8192 tokens of a batch"},
             {[](T& t) { t.distinct_tokens = 8193; },
              "--distinct-tokens is 8193, expected at most the 8192 tokens of a batch"},
             {[](T& t) { t.host_gradient_slabs = 29; },
              "--host-gradient-slabs is 29, expected at most 28: the model has 28 layers"},
             {[](T& t) { t.buffer_depth = 29; },
              "--buffer-depth is 29, expected at most 28: the model has 28 layers"}})
        CHECK(refused_in(one) == one.sentence);
    for (const auto set : std::initializer_list<void (*)(T&)>{
             [](T& t) { t.recompute = Recompute::none; },
             [](T& t) { t.keep_last_layers = 25, t.host_kept_layers = 3; },
             [](T& t) { t.keep_last_layers = 5, t.keep_attention_layers = 6; },
             [](T& t) { t.compute = t.stream_weights = Compute::fp8, t.resident_layers = 27; },
             [](T& t) { t.feed_forward_chunk_tokens = t.distinct_tokens = 8192; },
             [](T& t) { t.host_gradient_slabs = t.gradient_slabs = t.buffer_depth = 28; },
             // More layers than the model has are refused elsewhere.
             [](T& t) { t.keep_last_layers = 29; },
             // The default chunk of the loss is no mistake of a small batch.
             [](T& t) { t.batch = 1, t.sequence = 16; }})
        CHECK(refused_in({set, ""}).empty());
}

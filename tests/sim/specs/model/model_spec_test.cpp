// Are the layers of each family laid out, counted and cut as its publisher does?
#include "sim/specs/model/model_spec.h"

#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

/// Windows of the layers, in order: 0 is full attention.
std::vector<std::int64_t> windows(const ModelSpec& model) {
    std::vector<std::int64_t> out;
    for (int i = 0; i < model.layer_count(); ++i) out.push_back(model.layer(i).attention.window);
    return out;
}

/// `count` layers of which every `full_every`-th has full attention, the others `window`.
std::vector<std::int64_t> windows_but_every(int full_every, std::int64_t window, int count) {
    std::vector<std::int64_t> out;
    for (int i = 1; i <= count; ++i) out.push_back(i % full_every == 0 ? 0 : window);
    return out;
}

}  // namespace

TEST_CASE("model spec: untying the embeddings adds one output projection", "[model]") {
    ModelSpec model = read_model("qwen2.5-0.5b");
    REQUIRE(model.tied_embeddings);
    CHECK(head_parameters(model) == 896);  // the final norm
    model.tied_embeddings = false;
    // vocabulary x hidden = 151936 x 896 = 136134656
    CHECK(head_parameters(model) == 136'134'656 + 896);
    CHECK(total_parameters(model) == 494'032'768 + 136'134'656);
    CHECK(active_parameters(model) == 494'032'768 + 136'134'656);
}

TEST_CASE("model spec: eight layers of an untied model keep both embeddings", "[model]") {
    ModelSpec model = read_model("qwen2.5-7b");
    REQUIRE_FALSE(model.tied_embeddings);
    truncate_layers(model, 8);
    CHECK(model.layer_count() == 8);
    // Embedding and projection 2 x 152064 x 3584, final norm 3584, layers 8 x 233057792.
    CHECK(total_parameters(model) == 2 * 544'997'376 + 3'584 + 8 * 233'057'792LL);
}

TEST_CASE("model spec: cutting to all layers changes nothing", "[model]") {
    ModelSpec model = read_model("qwen2.5-7b");
    truncate_layers(model, 28);
    CHECK(total_parameters(model) == 7'615'616'512);
}

TEST_CASE("model spec: cutting away every layer of a kind drops that kind", "[model]") {
    ModelSpec model = read_model("deepseek-v3");
    const std::int64_t sparse = largest_layer_parameters(model);
    CHECK(sparse == 11'507'286'272);
    truncate_layers(model, 3);
    CHECK(model.kinds.size() == 1);
    // Latent attention 187105280 + its two norms 1536 + 512, two norms of 7168,
    // feed-forward 3 x 7168 x 18432 = 396361728.
    CHECK(largest_layer_parameters(model) == 187'105'280 + 2'048 + 14'336 + 396'361'728);
}

TEST_CASE("model spec: --layers must be between one and the layers there are", "[model]") {
    ModelSpec model = read_model("qwen2.5-7b");
    for (const int count : {0, -1, 29, 1'000'000'000}) {
        CAPTURE(count);
        CHECK_THAT(input_error_of([&] { truncate_layers(model, count); }),
                   ContainsSubstring("--layers") && ContainsSubstring(std::to_string(count)) &&
                       ContainsSubstring("28") && ContainsSubstring("qwen2.5-7b"));
    }
    CHECK(model.layer_count() == 28);
}

TEST_CASE("model spec: equal layers are one kind", "[model]") {
    const ModelSpec model = read_model("llama-3.1-70b");
    CHECK(model.layer_count() == 80);
    CHECK(model.kinds.size() == 1);
}

TEST_CASE("model spec: DeepSeek V3 has three dense layers, then 58 of experts", "[model]") {
    const ModelSpec model = read_model("deepseek-v3");
    REQUIRE(model.layer_count() == 61);
    for (int i = 0; i < 61; ++i) {
        CAPTURE(i);
        const FeedForwardSpec& feed_forward = model.layer(i).feed_forward;
        CHECK(feed_forward.experts == (i < 3 ? 0 : 256));
        CHECK(feed_forward.experts_per_token == (i < 3 ? 0 : 8));
        CHECK(feed_forward.intermediate == (i < 3 ? 18'432 : 2'048));
        CHECK(feed_forward.shared_intermediate == (i < 3 ? 0 : 2'048));
    }
}

TEST_CASE("model spec: sliding windows alternate with full attention as each family does",
          "[model]") {
    // gpt-oss and Gemma 2 start with a window and alternate; Gemma 3 has five, then one full.
    CHECK(windows(read_model("gpt-oss-120b")) == windows_but_every(2, 128, 36));
    CHECK(windows(read_model("gpt-oss-20b")) == windows_but_every(2, 128, 24));
    CHECK(windows(read_model("gemma-2-27b")) == windows_but_every(2, 4096, 46));
    CHECK(windows(read_model("gemma-3-27b-pt")) == windows_but_every(6, 1024, 62));
}

TEST_CASE("model spec: every layer of Mistral 7B has the window, of Mixtral none", "[model]") {
    CHECK(windows(read_model("mistral-7b-v0.1")) == std::vector<std::int64_t>(32, 4096));
    CHECK(windows(read_model("mixtral-8x7b-v0.1")) == std::vector<std::int64_t>(32, 0));
}

TEST_CASE("model spec: GPT-2 has learned positions, biases and an ungated feed-forward",
          "[model]") {
    const ModelSpec model = read_model("gpt2");
    // Tokens 50257 x 768 and positions 1024 x 768.
    CHECK(embedding_parameters(model) == 38'597'376 + 786'432);
    // Tied: the final LayerNorm's weight and bias.
    CHECK(head_parameters(model) == 2 * 768);
    // qkv 3 x 768 x 768 + 2304; output 768 x 768 + 768; up 3072 x 768 + 3072;
    // down 768 x 3072 + 768; two LayerNorms of 2 x 768.
    CHECK(layer_parameters(model, model.layer(0)) ==
          1'769'472 + 2'304 + 589'824 + 768 + 2'359'296 + 3'072 + 2'359'296 + 768 + 3'072);
}

TEST_CASE("model spec: the tensors of a layer add up to its parameters", "[model]") {
    for (const std::string& name : library_models()) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        for (const LayerSpec& kind : model.kinds) {
            std::int64_t sum = 0;
            for (const ParameterTensor& tensor : layer_tensors(model, kind)) {
                CAPTURE(tensor.name);
                CHECK(tensor.elements() > 0);
                sum += tensor.rows * tensor.columns * tensor.count;
            }
            CHECK(sum == layer_parameters(model, kind));
        }
    }
}

TEST_CASE("model spec: a token passes all of a dense layer and few experts of a sparse one",
          "[model]") {
    const ModelSpec dense = read_model("llama-3.1-8b");
    CHECK(active_layer_parameters(dense, dense.layer(0)) == 218'112'000);

    const ModelSpec sparse = read_model("mixtral-8x7b-v0.1");
    // One expert is 3 x 4096 x 14336 = 176160768; six of the eight are left out.
    CHECK(layer_parameters(sparse, sparse.layer(0)) -
              active_layer_parameters(sparse, sparse.layer(0)) ==
          6 * 176'160'768LL);
}

}  // namespace sluice

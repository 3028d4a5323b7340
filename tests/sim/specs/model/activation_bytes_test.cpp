// Does a layer hold and keep the bytes that its shape says, counted by hand?
#include "sim/specs/model/attention_workspace.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("activations: the activations of a small layer, byte by byte", "[model]") {
    const ModelSpec model = parse_generic_model(
        "layers=1,hidden=256,heads=4,kv_heads=2,head_dim=64,intermediate=512,vocabulary=100");
    const ActivationBytes bytes = activation_bytes_per_token(model, model.layer(0));
    CHECK(bytes.input == 512);  // 256 x 2
    CHECK(bytes.residual == 512);
    CHECK(bytes.attention_output == 512 + 16);  // 4 x 64 x 2, and 4 statistics of 4 bytes
    // q, k, v (4 + 2 x 2) x 64 x 2 = 1024; attention output; residual; gate and up 2 x 512 x 2.
    CHECK(bytes.attention_kept + bytes.feed_forward_kept == 1024 + 528 + 512 + 2048);
    // In 8 bits: gate and up 2 x 512 x 1, and 2 x 4 groups of 2 bytes.
    CHECK(bytes.gate_up - bytes.gate_up_8_bit == 2048 - 1024 - 16);
    // Input and normed input, q, k, v, attention output.
    CHECK(bytes.forward_attention == 512 + 512 + 1024 + 528);
    // Normed input, gate and up, their product 512 x 2.
    CHECK(bytes.forward_feed_forward == 512 + 2048 + 1024);
    // Normed input, q, k, v, attention output, residual.
    CHECK(bytes.backward_attention == 512 + 1024 + 528 + 512);
    // Gradients of q, k, v; that of the attention output is where the residual was.
    CHECK(bytes.attention_gradients == 1024);
}

TEST_CASE("activations: attention wider than the model has a place for its gradient", "[model]") {
    const ModelSpec model = parse_generic_model(
        "layers=1,hidden=256,heads=8,kv_heads=2,head_dim=64,intermediate=512,vocabulary=100");
    const ActivationBytes bytes = activation_bytes_per_token(model, model.layer(0));
    CHECK(bytes.attention_gradients == 8 * 64 * 2 + (8 + 2 * 2) * 64 * 2);
}

TEST_CASE("activations: attention's workspace holds as many heads as 4 GiB do", "[model]") {
    const auto bytes = [](std::int64_t sequence, std::int64_t heads, std::int64_t kv_heads,
                          std::int64_t head_dim) {
        return attention_workspace_bytes({1, sequence, heads, kv_heads, head_dim});
    };
    const auto at_once = [](std::int64_t sequence, std::int64_t heads, std::int64_t kv_heads) {
        return attention_at_once({1, sequence, heads, kv_heads, 128}).kv_heads;
    };
    // The query gradient in fp32, a number for each of 4 heads, keys and values of all heads.
    // Rows are those of whole tiles, 128 for 100 tokens, and 256 bytes are beside them.
    CHECK(bytes(100, 4, 2, 64) == 256 + 128 * (4 * 64 * 4 + 4 * 4 + 2 * 4 * 64 * 2));
    // Keys and values as many as queries have no others.
    CHECK(bytes(100, 4, 4, 64) == 256 + 128 * (4 * 64 * 4 + 4 * 4));
    // 28,784 bytes a token, four key/value heads: of 149,210 tokens they are 4 GiB.
    CHECK(at_once(149'213, 28, 4) == 4);
    CHECK(at_once(149'214, 28, 4) == 2);
    CHECK(at_once(524'288, 28, 4) == 1);
    CHECK(at_once(100'000'000, 28, 4) == 1);
    // With room for the gradients of q, k and v of the part.
    CHECK(bytes(524'288, 28, 4, 128) == std::int64_t{524'288} * (28'784 / 4 + (7 + 2) * 128 * 2));
    CHECK(attention_in_parts({1, 149'214, 28, 4, 128}));
    CHECK_FALSE(attention_in_parts({1, 149'213, 28, 4, 128}));
    // 24,672 bytes a token: a third of twelve heads is too large, a quarter is not.
    CHECK(at_once(600'000, 24, 12) == 3);
}

TEST_CASE("activations: gradients that repeat are those of a few sequences at a time", "[model]") {
    // The gradients of a row's 1,024 scores in bf16, its number, keys and values: 2,564 bytes for
    // each of 28 heads.
    const AttentionBatch seven_b{32, 1024, 28, 4, 128};
    CHECK(attention_at_once(seven_b).sequences == 8);
    CHECK_FALSE(attention_in_parts(seven_b));
    CHECK(attention_workspace_bytes(seven_b) == 256 + std::int64_t{8 * 1024} * 28 * 2'564);
    // In equal parts: of 19 sequences 7, 7 and 5.
    CHECK(attention_at_once({19, 1024, 28, 4, 128}).sequences == 7);
    CHECK(attention_at_once({1, 1024, 28, 4, 128}).sequences == 1);
    // A tile of scores is 64 wide.
    CHECK(attention_workspace_per_token({1, 1000, 1, 1, 64}) == 2 * 1024 + 4);
    // One sequence of 2,048 tokens and 128 heads is too large: half of them at a time.
    const AttentionBatch large{4, 2048, 128, 16, 128};
    CHECK(attention_at_once(large).sequences == 1);
    CHECK(attention_at_once(large).kv_heads == 8);
    CHECK(attention_at_once(large).heads == 64);
    CHECK(attention_in_parts(large));
    // Longer ones, and documents, do not repeat.
    CHECK_FALSE(attention_repeats({1, kLongestRepeated + 1, 32, 8, 128}));
    CHECK_FALSE(attention_repeats({4, 1024, 32, 8, 128, true}));
    CHECK(attention_at_once({40, 1024, 32, 8, 128, true}).sequences == 40);
}

TEST_CASE("activations: experts hold a copy of every token that they are sent", "[model]") {
    const ModelSpec model = read_model("mixtral-8x7b-v0.1");
    const ActivationBytes bytes = activation_bytes_per_token(model, model.layer(0));
    // Normed input 8192 bytes; two experts: copies 2 x 8192, gate and up 2 x 2 x 28672, product
    // 2 x 28672; of eight experts a logit with its gradient, of two five numbers.
    CHECK(bytes.forward_feed_forward == 8192 + 2 * 8192 + 4 * 28'672 + 2 * 28'672 + 8 * 6 + 2 * 20);
    // Copies of the output's gradient, too.
    CHECK(bytes.backward_feed_forward == bytes.forward_feed_forward + 2 * 8192);
    // For each of two experts gate and up with 14336 bytes and 112 groups of 2 bytes.
    CHECK(bytes.gate_up_8_bit == 2 * 2 * (14'336 + 224));
}

TEST_CASE("activations: norms behind the halves, and of q and k, keep their inputs", "[model]") {
    ModelSpec model = parse_generic_model(
        "layers=1,hidden=256,heads=4,kv_heads=2,head_dim=64,intermediate=512,vocabulary=100");
    const ActivationBytes plain = activation_bytes_per_token(model, model.layer(0));
    model.kinds[0].norms = 4;
    const ActivationBytes gemma = activation_bytes_per_token(model, model.layer(0));
    CHECK(gemma.attention_kept - plain.attention_kept == 512);
    CHECK(gemma.feed_forward_kept - plain.feed_forward_kept == 512);
    CHECK(gemma.backward_attention - plain.backward_attention == 512);
    CHECK(gemma.backward_feed_forward - plain.backward_feed_forward == 512);
    CHECK(gemma.forward_feed_forward == plain.forward_feed_forward);
    model.kinds[0].norms = 2;
    model.kinds[0].attention.qk_norm = true;
    const ActivationBytes normed = activation_bytes_per_token(model, model.layer(0));
    CHECK(normed.attention_kept - plain.attention_kept == (4 + 2) * 64 * 2);
    CHECK(normed.backward_attention - plain.backward_attention == (4 + 2) * 64 * 2);
}

}  // namespace sluice

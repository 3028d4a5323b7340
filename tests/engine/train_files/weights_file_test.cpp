#include "engine/train/weights_file.h"

#include <cmath>
#include <limits>

#include "engine/data/checksum.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"
#include "tests/engine/train_files/weights_on_disk.h"

using namespace sluice;

namespace {

/// The nearest master of a precision.
float rounded(float value, int state_bytes) {
    std::uint16_t high = 0, low = 0;
    ParameterBlock block;
    block.high = &high;
    block.low = &low;
    block.state_bytes = state_bytes;
    set_master(block, 0, value);
    return master_of(block, 0);
}

/// Each number of the model equals that of the same name that was written.
void check_loaded(const TinyStore& tiny, const std::string& path) {
    const Checkpoint file = open_checkpoint(path);
    for (const NamedTensor& t : tiny.store.tensors()) {
        INFO(t.name);
        std::vector<float> expected(static_cast<std::size_t>(t.elements())), found;
        read_as_fp32(file.tensor(t.name), 0, t.elements(), expected.data());
        const ParameterBlock& block = tiny.store.block(t.section);
        for (std::int64_t i = t.offset; i < t.offset + t.elements(); ++i)
            found.push_back(master_of(block, i));
        for (float& value : expected) value = rounded(value, block.state_bytes);
        CHECK(found == expected);
    }
}

std::string load_error(const std::string& path, const ModelSpec& model) {
    TinyStore tiny(model);
    tiny.fill(7);
    const std::string before = tiny.bytes();
    const std::string message = input_error_of([&] { load_weights(path, tiny.model, tiny.store); });
    CHECK(tiny.bytes() == before);
    return message;
}

}  // namespace

TEST_CASE("weights: every type and family is loaded, rounded as the masters are", "[train_files]") {
    const TempFolder temp;
    for (const char* family : {"qwen2", "qwen3", "llama", "mistral"}) {
        for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
            for (const int state_bytes : {12, 8, 6, 5, 4}) {
                const unsigned resident = state_bytes == 8 ? 0b1010 : 0;
                TinyStore tiny(tiny_model(family, dtype == Dtype::f16), state_bytes, resident);
                const std::string path =
                    write_weights(temp.path("model.safetensors"), weights_of(tiny.model, dtype));
                load_weights(path, tiny.model, tiny.store);
                check_loaded(tiny, path);
            }
        }
    }
}

TEST_CASE("weights: shards are loaded by their folder", "[train_files]") {
    const TempFolder temp;
    TinyStore saved(tiny_model()), loaded(tiny_model());
    load_weights(write_weights(temp.path("one"), weights_of(saved.model, Dtype::bf16)), saved.model,
                 saved.store);
    write_tensors(temp.path(), "model", reader_of(saved.store), weight_tensors(saved.store), 500);
    CHECK(std::filesystem::exists(temp.path("model.safetensors.index.json")));
    load_weights(temp.path(), loaded.model, loaded.store);
    CHECK(loaded.bytes() == saved.bytes());
}

TEST_CASE("weights: those beside their checksums are verified", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    tiny.store.initialise(3, 0.02F);
    std::vector<FileChecksum> files = write_tensors(temp.path(), "model", reader_of(tiny.store),
                                                    weight_tensors(tiny.store), 100'000);
    REQUIRE(files.size() == 1);
    files.push_back({"optimizer/optimizer.safetensors", 1});  // not read, so it may be gone
    temp.write(kChecksumsFile, checksum_text(files));
    load_weights(temp.path(), tiny.model, tiny.store);
    std::string bytes = temp.read(files[0].name);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    temp.write(files[0].name, bytes);
    for (const std::string& path : {temp.path(), temp.path(files[0].name)}) {
        const std::string message = load_error(path, tiny.model);
        CHECK_THAT(message, ContainsSubstring("its bytes are not those that were saved"));
        CHECK_THAT(message, ContainsSubstring("or remove " + temp.path(kChecksumsFile)));
    }
    std::filesystem::remove(temp.path(kChecksumsFile));
    load_weights(temp.path(), tiny.model, tiny.store);
}

TEST_CASE("weights: rotary buffers and the equal projection of a tied model are ignored",
          "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model("llama", true));
    FileTensors tensors = weights_of(tiny.model, Dtype::bf16);
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {
        Dtype::f32, {1}, std::string(4, '\0')};
    const std::string path = write_weights(temp.path("w"), tensors);
    load_weights(path, tiny.model, tiny.store);
    check_loaded(tiny, path);
}

TEST_CASE("weights: a tensor too few or too many is told before anything is written",
          "[train_files]") {
    const TempFolder temp;
    const ModelSpec untied = tiny_model("llama"), tied = tiny_model("llama", true);
    const FileTensors tensors = weights_of(untied, Dtype::bf16);
    const std::string path = temp.path("w");

    FileTensors without = tensors;
    without.erase("lm_head.weight");
    CHECK(load_error(write_weights(path, without), untied) ==
          path +
              ": has no tensor \"lm_head.weight\", so its output projection is its embedding; "
              "leave out --untied, or give a --model with tie_word_embeddings true");
    without.erase("model.layers.1.mlp.up_proj.weight");
    CHECK(load_error(write_weights(path, without), tied) ==
          path +
              ": has no tensor \"model.layers.1.mlp.up_proj.weight\", expected one of shape [14, "
              "10]; give the --model of these weights, not tiny");
    CHECK(load_error(write_weights(path, tensors), tied) ==
          path +
              ": tensor \"lm_head.weight\" differs from \"model.embed_tokens.weight\", expected "
              "the same numbers, tiny being tied; give --untied, or a --model with "
              "tie_word_embeddings false");
    CHECK(input_error_of([&] { check_weights(path, tied); }) == load_error(path, tied));
    check_weights(path, untied);
}

TEST_CASE("weights: another shape, type or architecture is told before anything is written",
          "[train_files]") {
    const TempFolder temp;
    const ModelSpec untied = tiny_model("llama");
    const FileTensors tensors = weights_of(untied, Dtype::bf16);
    const std::string path = temp.path("w");

    FileTensors transposed = tensors;
    std::swap(transposed["model.layers.0.mlp.down_proj.weight"].shape[0],
              transposed["model.layers.0.mlp.down_proj.weight"].shape[1]);
    CHECK(load_error(write_weights(path, transposed), untied) ==
          path +
              ": tensor \"model.layers.0.mlp.down_proj.weight\" has shape [14, 10], expected [10, "
              "14]; give the --model of these weights, not tiny");

    FileTensors integers = tensors;
    integers["model.norm.weight"].dtype = Dtype::i16;
    CHECK(load_error(write_weights(path, integers), untied) ==
          path +
              ": tensor \"model.norm.weight\" is I16, expected BF16, F16, F32 or F64; convert the "
              "checkpoint to BF16");

    CHECK(load_error(write_weights(path, weights_of(tiny_model("qwen2"), Dtype::bf16)), untied) ==
          path +
              ": has tensor \"model.layers.0.self_attn.k_proj.bias\" and 5 more, expected no such "
              "tensor in 2 layers of tiny; give the --model of these weights, not tiny");
    CHECK(load_error(temp.path("absent"), untied) ==
          temp.path("absent") + ": no such file; check the path");
}

TEST_CASE("weights: a number that is not finite in BF16 is told with its place", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model("llama"));
    FileTensors tensors = weights_of(tiny.model, Dtype::f32);
    const auto error_with = [&](float number) {
        std::vector<float> norm(10, 1.0F);
        norm[4] = number;
        tensors["model.norm.weight"].bytes = TempFolder::bytes_of(norm);
        const std::string path = write_weights(temp.path("w"), tensors);
        return input_error_of([&] { load_weights(path, tiny.model, tiny.store); });
    };
    const auto message = [&](const char* number) {
        return temp.path("w") + ": tensor \"model.norm.weight\" has " + number +
               " at element 4, expected finite numbers that BF16 can hold, below 3.396e38; "
               "download the weights again, or in BF16";
    };
    CHECK(error_with(std::numeric_limits<float>::infinity()) == message("inf"));
    CHECK(error_with(std::numeric_limits<float>::quiet_NaN()) == message("nan"));
    CHECK(error_with(-std::numeric_limits<float>::max()) == message("-3.4028235e+38"));
    // Halfway between the largest of BF16 and 2^128 is the first number that rounds to infinity.
    const float halfway = std::ldexp(511.0F, 119);
    CHECK(error_with(halfway) == message("3.3961775e+38"));
    CHECK(error_with(std::nextafter(halfway, 0.0F)).empty());
}

TEST_CASE("weights: new tokens get the mean of those that are there", "[train_files]") {
    const TempFolder temp;
    for (const bool tied : {false, true}) {
        ModelSpec model = tiny_model("llama", tied);
        const std::int64_t before = model.vocabulary;
        const std::string path =
            write_weights(temp.path("model.safetensors"), weights_of(model, Dtype::f32));
        model.vocabulary = before + 5;
        CHECK_THAT(load_error(path, model), ContainsSubstring("has 33 rows, expected 38"));
        TinyStore tiny(model);
        check_weights(path, model, before);
        load_weights(path, model, tiny.store, before);
        const Checkpoint file = open_checkpoint(path);
        for (const NamedTensor& t : tiny.store.tensors()) {
            const std::int64_t columns = t.elements() / t.shape.front(),
                               known = file.tensor(t.name).elements();
            std::vector<float> from(static_cast<std::size_t>(known));
            read_as_fp32(file.tensor(t.name), 0, known, from.data());
            const auto at = [&](std::int64_t i) { return from[static_cast<std::size_t>(i)]; };
            const ParameterBlock& block = tiny.store.block(t.section);
            for (std::int64_t i = 0; i < known; ++i)
                REQUIRE(master_of(block, t.offset + i) == at(i));
            for (std::int64_t i = known; i < t.elements(); ++i) {
                double sum = 0;
                for (std::int64_t row = 0; row < before; ++row)
                    sum += at(row * columns + i % columns);
                REQUIRE(master_of(block, t.offset + i) ==
                        static_cast<float>(sum / static_cast<double>(before)));
            }
        }
        // Weights that have all tokens already, as those of a checkpoint.
        const std::string whole =
            write_weights(temp.path("whole.safetensors"), weights_of(model, Dtype::f32));
        load_weights(whole, model, tiny.store, before);
        check_loaded(tiny, whole);
    }
}

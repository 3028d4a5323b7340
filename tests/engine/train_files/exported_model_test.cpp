#include "engine/train/exported_model.h"

#include <cstring>
#include <filesystem>

#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

/// A run's folder with one checkpoint; every master has bits in both planes.
std::string saved_run(const TempFolder& temp, TinyStore& tiny) {
    tiny.store.initialise(7, 0.5F);
    const std::string out = temp.path("out");
    const ModelFiles beside{
        R"({"bos_token_id": 3, "torch_dtype": "float16"})",
        {{"tokenizer.json", R"({"version": "1.0"})"}, {"recipe.toml", "steps = 1\n"}}};
    save_checkpoint(out, tiny.model, tiny.store, {30, 480, 5, "{}"}, 2, beside);
    return out;
}

float number(const TensorView& tensor, std::int64_t i) {
    float out = 0;
    read_as_fp32(tensor, i, 1, &out);
    return out;
}

void check_masters(int state_bytes, bool tied) {
    const TempFolder temp;
    TinyStore tiny(tiny_model("qwen2", tied), state_bytes);
    const std::string out = saved_run(temp, tiny);
    export_model({out, temp.path("fp32"), Dtype::f32});
    export_model({path_in(out, "step-00000030"), temp.path("bf16") + "/"});
    const Checkpoint fp32 = open_checkpoint(temp.path("fp32")),
                     bf16 = open_checkpoint(temp.path("bf16"));
    CHECK(fp32.names().size() == tiny.store.tensors().size());
    for (const NamedTensor& tensor : tiny.store.tensors()) {
        const TensorView exact = fp32.tensor(tensor.name), rounded = bf16.tensor(tensor.name);
        CHECK((exact.dtype == Dtype::f32 && rounded.dtype == Dtype::bf16));
        CHECK((exact.shape == tensor.shape && rounded.shape == tensor.shape));
        const ParameterBlock& block = tiny.store.block(tensor.section);
        for (std::int64_t i = 0; i < tensor.elements(); ++i) {
            REQUIRE(number(exact, i) == master_of(block, tensor.offset + i));
            REQUIRE(number(rounded, i) == join_master({block.high[tensor.offset + i], 0}));
        }
    }
}

std::string error_of(const ExportRequest& request) {
    return input_error_of([&] { export_model(request); });
}

}  // namespace

TEST_CASE("export: every master comes out, and every weight in bf16", "[train_files]") {
    for (const int state_bytes : {12, 8, 5, 4})
        for (const bool tied : {false, true}) {
            INFO(state_bytes << " " << tied);
            check_masters(state_bytes, tied);
        }
}

TEST_CASE("export: files of at most the size that is asked for, with an index", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const ExportedModel made =
        export_model({saved_run(temp, tiny), temp.path("made"), Dtype::f32, 2000});
    CHECK(made.files > 2);
    CHECK(made.checkpoint == temp.path("out/step-00000030"));
    CHECK(is_there(temp.path("made/model.safetensors.index.json")));
    CHECK(open_checkpoint(temp.path("made")).names().size() == tiny.store.tensors().size());
}

TEST_CASE("export: the model's files are there, those of the run are not", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    export_model({saved_run(temp, tiny), temp.path("made"), Dtype::f32});
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(temp.path("made")))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"config.json", "model.safetensors", "tokenizer.json"});
    const std::string config = read_text_file(temp.path("made/config.json"));
    CHECK_THAT(config, ContainsSubstring(R"("torch_dtype": "float32")"));
    CHECK_THAT(config, ContainsSubstring(R"("bos_token_id": 3)"));
}

TEST_CASE("export: refuses what is no whole checkpoint of all weights", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const std::string out = saved_run(temp, tiny), step = path_in(out, "step-00000030");
    CHECK_THAT(error_of({temp.path("none"), temp.path("made")}), ContainsSubstring("is no folder"));
    CHECK_THAT(error_of({temp.path("."), temp.path("made")}),
               ContainsSubstring("holds no checkpoint"));
    CHECK_THAT(error_of({out, out}), ContainsSubstring("exists already; give another folder"));
    CHECK_THAT(error_of({out, temp.path("no/such/folder")}), ContainsSubstring("make it first"));
    CHECK_THAT(error_of({out, temp.path("made"), Dtype::bf16, kMaxShardBytes, "base"}),
               ContainsSubstring("holds all weights, not adapters; leave it out"));
    write_output_file(path_in(step, "model.safetensors"), "cut");
    CHECK_THAT(error_of({out, temp.path("made")}), ContainsSubstring("is damaged"));
    CHECK_THAT(error_of({out, temp.path("made"), Dtype::bf16, kMaxShardBytes, "base"}),
               ContainsSubstring("is damaged"));
    CHECK_FALSE(is_there(temp.path("made")));
    CHECK_FALSE(is_there(temp.path("made.partial")));
}

#include "engine/train/training_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/train/weights_file.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

using Names = std::vector<std::string>;

TrainingState state_of(std::int64_t step) { return {step, 16 * step, 5, R"({"beta1":0.9})"}; }

/// Saves contents that depend on the step.
void save_step(TinyStore& tiny, const std::string& out, std::int64_t step, int keep = 100) {
    tiny.fill(static_cast<std::uint64_t>(step));
    save_checkpoint(out, tiny.model, tiny.store, state_of(step), keep);
}

std::string checkpoint_error(const std::string& folder, TinyStore& tiny) {
    tiny.fill(99);
    const std::string before = tiny.bytes();
    const std::string message =
        input_error_of([&] { load_checkpoint(folder, tiny.model, tiny.store); });
    CHECK(tiny.bytes() == before);
    return message;
}

void check_round_trip(const ModelSpec& model, int state_bytes) {
    const TempFolder temp;
    TinyStore saved(model, state_bytes), loaded(model, state_bytes);
    TrainingState state{30, 480, std::numeric_limits<std::uint64_t>::max(),
                        R"({"z":1e-08,"a":[1,{"y":2,"b":"c"}]})"};
    state.recent = {{2.5, 0.1}, {1.0 / 3, 1e-300}}, state.ahead = {true, 17, {199, 3}};
    state.divergence = {.steps = 29,
                        .norm_log = -0.7,
                        .loss = 1.0 / 7,
                        .loss_variance = 0.03,
                        .lowest_loss = 2.2,
                        .worse_loss = 5.1,
                        .norm = {28, true},
                        .loss_rise = {27, false},
                        .no_gradient = {26, true}};
    state.early_stop = {2.0 / 3, 4};
    saved.fill(1);
    loaded.fill(2);
    save_checkpoint(temp.path("new/out"), model, saved.store, state, 1);
    CHECK(newest_checkpoint(temp.path("new/out")) == temp.path("new/out/step-00000030"));
    const TrainingState found =
        load_checkpoint(temp.path("new/out/step-00000030"), model, loaded.store);
    CHECK(loaded.bytes() == saved.bytes());
    CHECK(found.step == state.step);
    CHECK(found.data_position == state.data_position);
    CHECK(found.seed == state.seed);
    CHECK(found.settings == state.settings);
    CHECK((found.recent == state.recent && found.ahead == state.ahead));
    CHECK(found.divergence == state.divergence);
    CHECK(found.early_stop == state.early_stop);
}

}  // namespace

TEST_CASE("checkpoint: every bit of every model and state precision comes back", "[train_files]") {
    for (const char* family : {"qwen2", "qwen3", "llama", "mistral", "dense"}) {
        for (const int state_bytes : {12, 8, 6, 5, 4}) {
            for (const bool tied : {false, true}) {
                INFO(family << " " << state_bytes << " " << tied);
                check_round_trip(tiny_model(family, tied), state_bytes);
            }
        }
    }
}

TEST_CASE("checkpoint: planes and moments longer than a block come back", "[train_files]") {
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        ModelSpec model = tiny_model();
        model.vocabulary = 1013;
        check_round_trip(model, state_bytes);
    }
}

TEST_CASE("checkpoint: shards hold the optimizer's state too", "[train_files]") {
    const TempFolder temp;
    TinyStore saved(tiny_model(), 6), loaded(tiny_model(), 6);
    saved.fill(1);
    write_tensors(temp.path(), "optimizer", reader_of(saved.store), optimizer_tensors(saved.store),
                  1500);
    const Names names = temp.names();
    CHECK(names.size() > 3);
    CHECK(names.front().starts_with("optimizer-00001-of-0000"));
    CHECK(names.back() == "optimizer.safetensors.index.json");
    copy_tensors(open_tensors(temp.path(), "optimizer", optimizer_tensors(loaded.store)),
                 optimizer_tensors(loaded.store), loaded.store);
    for (std::size_t i = 0; i < optimizer_tensors(saved.store).size(); ++i) {
        const StoredTensor a = optimizer_tensors(saved.store)[i];
        const StoredTensor b = optimizer_tensors(loaded.store)[i];
        CHECK(std::memcmp(a.data, b.data, static_cast<std::size_t>(tensor_bytes(a.spec))) == 0);
    }
}

TEST_CASE("checkpoint: its folder is a model as transformers and load_weights() read it",
          "[train_files]") {
    const TempFolder temp;
    TinyStore saved(tiny_model("qwen3", true)), loaded(tiny_model("qwen3", true));
    saved.store.initialise(3, 0.02F);
    save_checkpoint(temp.path(), saved.model, saved.store, state_of(1), 1);
    CHECK(temp.names() == Names{"latest", "step-00000001"});
    CHECK(temp.read("latest") == "step-00000001\n");
    const std::string folder = temp.path("step-00000001");
    CHECK(read_model(folder).layer(1) == saved.model.layer(1));
    CHECK_FALSE(open_checkpoint(folder).has("lm_head.weight"));
    load_weights(folder, loaded.model, loaded.store);
    const auto expected = weight_tensors(saved.store), found = weight_tensors(loaded.store);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto bytes = static_cast<std::size_t>(tensor_bytes(expected[i].spec));
        CHECK(std::memcmp(found[i].data, expected[i].data, bytes) == 0);
    }
}

TEST_CASE("checkpoint: one whose optimizer state lies beside the weights is continued",
          "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save_step(tiny, temp.path(), 7);
    const std::string bytes = tiny.bytes(), folder = temp.path("step-00000007");
    std::filesystem::rename(folder + "/optimizer/optimizer.safetensors",
                            folder + "/optimizer.safetensors");
    std::filesystem::remove(folder + "/optimizer");
    std::vector<FileChecksum> files =
        parse_checksums(temp.read("step-00000007/checksums.xxh3"), "");
    const auto moved =
        std::ranges::find(files, "optimizer/optimizer.safetensors", &FileChecksum::name);
    REQUIRE(moved != files.end());
    moved->name = "optimizer.safetensors";
    temp.write("step-00000007/checksums.xxh3", checksum_text(files));
    tiny.fill(0);
    CHECK(load_checkpoint(folder, tiny.model, tiny.store).step == 7);
    CHECK(tiny.bytes() == bytes);
}

TEST_CASE("checkpoint: older ones are removed, but one that is known good", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save_step(tiny, temp.path(), 50);
    for (const std::int64_t step : {1, 2, 3, 4}) save_step(tiny, temp.path(), step, 3);
    CHECK(temp.names() ==
          Names{"latest", "step-00000002", "step-00000003", "step-00000004", "step-00000050"});
    save_step(tiny, temp.path(), 60, 1);
    CHECK(temp.names() == Names{"latest", "step-00000050", "step-00000060"});
}

TEST_CASE("checkpoint: a step that is saved again replaces the one before", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save_step(tiny, temp.path(), 7);
    tiny.fill(1000);
    const std::string bytes = tiny.bytes();
    save_checkpoint(temp.path(), tiny.model, tiny.store, state_of(7), 1);
    tiny.fill(0);
    load_checkpoint(temp.path("step-00000007"), tiny.model, tiny.store);
    CHECK(tiny.bytes() == bytes);
    CHECK(temp.names() == Names{"latest", "step-00000007"});
}

TEST_CASE("checkpoint: the newest is found whatever `latest` says", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    CHECK_FALSE(newest_checkpoint(temp.path("none")));
    CHECK_FALSE(newest_checkpoint(temp.path()));
    save_step(tiny, temp.path(), 9);
    save_step(tiny, temp.path(), 10);
    std::filesystem::create_directory(temp.path("step-00000011"));  // not whole
    std::filesystem::create_directory(temp.path("step-12"));
    temp.write("step-12/training.json", "{}");  // not a name of ours
    for (const char* latest : {"step-00000011\n", "step-00000012\n", "../step-00000009\n", ""}) {
        temp.write("latest", latest);
        CHECK(newest_checkpoint(temp.path()) == temp.path("step-00000010"));
    }
    temp.write("latest", "step-00000009\n");
    CHECK(newest_checkpoint(temp.path()) == temp.path("step-00000009"));
    std::filesystem::remove(temp.path("latest"));
    CHECK(newest_checkpoint(temp.path()) == temp.path("step-00000010"));
    temp.write("file", "");
    CHECK(input_error_of([&] { newest_checkpoint(temp.path("file")); }) ==
          temp.path("file") +
              ": cannot be read (Not a directory); check the permissions or choose another --out");
}

TEST_CASE("checkpoint: what killed runs left is removed at the next save", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    for (const char* name : {"step-00000003.partial", "step-00000004.old.partial", "mine.partial"})
        std::filesystem::create_directory(temp.path(name));
    temp.write("step-00000003.partial/model.safetensors.partial", "half");
    save_step(tiny, temp.path(), 3);
    CHECK(temp.names() == Names{"latest", "mine.partial", "step-00000003"});
}

TEST_CASE("checkpoint: another model or state precision is told by field", "[train_files]") {
    const TempFolder temp;
    TinyStore saved(tiny_model());
    save_step(saved, temp.path(), 1);
    const std::string folder = temp.path("step-00000001"), file = folder + "/training.json";

    ModelSpec wider = tiny_model();
    wider.kinds.front().feed_forward.intermediate = 16;
    TinyStore other(wider);
    CHECK(checkpoint_error(folder, other) ==
          file +
              ": model.intermediate_size is 14, expected 16 as in tiny; give the --model of this "
              "checkpoint, or another --out");
    ModelSpec scaled = tiny_model();
    scaled.rotary.factor = 8;
    TinyStore longer(scaled);
    CHECK(checkpoint_error(folder, longer) ==
          file +
              ": model.rope_scaling is null, expected "
              "{\"rope_type\":\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,\"high_freq_"
              "factor\":4.0,\"original_max_position_embeddings\":8192} as in tiny; give the "
              "--model of this checkpoint, or another --out");
    TinyStore llama(tiny_model("llama"));
    CHECK_THAT(checkpoint_error(folder, llama),
               ContainsSubstring("model.model_type is \"qwen2\", expected \"llama\" as in tiny"));
}

TEST_CASE("checkpoint: a generic shape goes on from its own config.json", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model("dense"));
    save_step(tiny, temp.path(), 1);
    const ModelSpec read = read_model(temp.path("step-00000001"));
    TinyStore again(read);
    CHECK(load_checkpoint(temp.path("step-00000001"), read, again.store).step == 1);
    CHECK(again.bytes() == tiny.bytes());
}

TEST_CASE("checkpoint: damage to training.json is told", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save_step(tiny, temp.path(), 1);
    const std::string folder = temp.path("step-00000001"), name = "step-00000001/training.json";
    const std::string text = temp.read(name), file = temp.path(name);
    const auto error_with = [&](const char* key, const nlohmann::json& value) {
        nlohmann::json record = nlohmann::json::parse(text);
        record[key] = value;
        temp.write(name, record.dump());
        renew_checksums(folder);
        return checkpoint_error(folder, tiny);
    };
    CHECK(
        error_with("format_version", 2) ==
        file +
            ": format_version is 2, expected 1; resume with the newer sluice-train that wrote it");
    CHECK(error_with("seed", "-1") ==
          file +
              ": seed is \"-1\", expected a whole number below 2^64 in quotes; resume from another "
              "checkpoint");
    CHECK(error_with("step", -1) ==
          file + ": step is -1, expected a whole number from 0 to 9007199254740992");
    CHECK(error_with("data_position", "x") ==
          file + ": data_position is \"x\", expected a whole number from 0 to 9007199254740992");
    CHECK_THAT(error_with("settings", 3), ContainsSubstring(file + ": settings is 3, expected"));
    CHECK_THAT(error_with("model", "x"), ContainsSubstring(file + ": model is \"x\", expected"));
    temp.write(name, text.substr(0, text.size() / 2));
    renew_checksums(folder);
    CHECK_THAT(checkpoint_error(folder, tiny), ContainsSubstring("is the file truncated?"));
    std::filesystem::remove(file);
    CHECK(checkpoint_error(folder, tiny) ==
          folder +
              ": holds no training.json, so it is no whole checkpoint of sluice-train; resume from "
              "another one, or start from its weights with --load");
}

TEST_CASE("checkpoint: damage to tensors is told before anything is loaded", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    for (const char* stem : {"model", "optimizer/optimizer"}) {
        save_step(tiny, temp.path(), 1);
        const std::string folder = temp.path("step-00000001");
        const std::string name = fmt::format("step-00000001/{}.safetensors", stem);
        const std::string bytes = temp.read(name), file = temp.path(name);
        const std::string damaged = fmt::format(", so {} is damaged", folder);
        temp.write(name, bytes.substr(0, bytes.size() - 1));
        CHECK_THAT(checkpoint_error(folder, tiny),
                   ContainsSubstring(file + ": its bytes are not those that were saved"));
        temp.write(name, "");
        CHECK(checkpoint_error(folder, tiny) ==
              file + ": is empty; write or download it again" + damaged);
        std::filesystem::remove(file);
        CHECK(checkpoint_error(folder, tiny) == file + ": no such file; check the path" + damaged);
    }
}

TEST_CASE("checkpoint: tensors of another checkpoint are told", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model()), half(tiny_model(), 8);
    save_step(tiny, temp.path("a"), 1);
    save_step(half, temp.path("b"), 1);
    const std::string file = temp.path("a/step-00000001/optimizer/optimizer.safetensors");
    const auto optimizer = optimizer_tensors(tiny.store);
    std::filesystem::rename(temp.path("b/step-00000001/optimizer/optimizer.safetensors"), file);
    renew_checksums(temp.path("a/step-00000001"));
    CHECK(checkpoint_error(temp.path("a/step-00000001"), tiny) ==
          file + fmt::format(": tensor \"sections.0.exp_avg\" is BF16 [{0}], expected F32 [{0}]; "
                             "it belongs to another checkpoint: resume from another one",
                             tiny.store.block(0).count));
    std::vector<StoredTensor> more = optimizer;
    more.push_back(weight_tensors(tiny.store).front());
    write_tensors(temp.path("a/step-00000001/optimizer"), "optimizer", reader_of(tiny.store), more,
                  kMaxShardBytes);
    renew_checksums(temp.path("a/step-00000001"));
    CHECK(checkpoint_error(temp.path("a/step-00000001"), tiny) ==
          file + fmt::format(": has {} tensors, expected {}; it belongs to another checkpoint: "
                             "resume from another one",
                             more.size(), optimizer.size()));
}

TEST_CASE("checkpoint: settings that are no JSON object are a mistake of ours", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    for (const char* settings : {"", "[1]", "{"}) {
        CHECK_THROWS_AS(
            save_checkpoint(temp.path(), tiny.model, tiny.store, {1, 0, 0, settings}, 1),
            InternalError);
    }
    CHECK(temp.names().empty());
}

#include "engine/train/weights_mismatch.h"

#include <functional>

#include "engine/train/model_files.h"
#include "engine/train/weights_file.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"
#include "tests/engine/train_files/weights_on_disk.h"

using namespace sluice;

namespace {

using Name = std::function<std::string(const std::string&)>;

FileTensors renamed(const FileTensors& tensors, const Name& name) {
    FileTensors out;
    for (const auto& [old, tensor] : tensors) out[name(old)] = tensor;
    return out;
}

FileTensors with_prefix(const FileTensors& tensors, const std::string& prefix) {
    return renamed(tensors, [&](const std::string& name) { return prefix + name; });
}

/// The refusal of a folder with these weights and the tied model's config.
std::string refusal(const FileTensors& tensors) {
    const TempFolder temp;
    ModelSpec model = tiny_model("qwen3", true);
    temp.write(kConfigFile, hf_config_text(model));
    model.name = temp.path();
    const std::string file = write_weights(temp.path("model.safetensors"), tensors);
    const std::string said = input_error_of([&] { check_weights(temp.path(), model); });
    REQUIRE(said.starts_with(file + ": "));
    CHECK(said.find("give the --model of these weights, not") == std::string::npos);
    return said.substr(file.size() + 2);
}

FileTensors weights() { return weights_of(tiny_model("qwen3", true), Dtype::bf16); }

}  // namespace

TEST_CASE("weights mismatch: the embedding under its tied name", "[train_files]") {
    FileTensors tensors = weights();
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
    tensors.erase("model.embed_tokens.weight");
    const std::string said = refusal(tensors);
    CHECK_THAT(said,
               ContainsSubstring("has \"lm_head.weight\" and no \"model.embed_tokens.weight\""));
    CHECK_THAT(said, ContainsSubstring("save it as \"model.embed_tokens.weight\""));
}

TEST_CASE("weights mismatch: tensors without elements are those of ZeRO-3", "[train_files]") {
    FileTensors tensors = weights();
    for (const char* name : {"model.embed_tokens.weight", "model.layers.1.mlp.up_proj.weight"})
        tensors[name] = {Dtype::bf16, {0}, ""};
    CHECK_THAT(refusal(tensors), ContainsSubstring("2 of 24 tensors have no elements"));
    CHECK_THAT(refusal(tensors), ContainsSubstring("ZeRO-3 leaves such in each process: gather"));
}

TEST_CASE("weights mismatch: something before all names, or less", "[train_files]") {
    CHECK(refusal(with_prefix(weights(), "_orig_mod.")) ==
          "names of tensors begin with \"_orig_mod.\" before \"model.\", as torch.compile names "
          "them; save the model inside (model._orig_mod)");
    CHECK_THAT(refusal(with_prefix(weights(), "module.")), ContainsSubstring("(model.module)"));
    CHECK_THAT(refusal(with_prefix(weights(), "base_model.model.")), ContainsSubstring("merge"));
    CHECK_THAT(
        refusal(with_prefix(weights(), "actor.")),
        ContainsSubstring("names of tensors begin with \"actor.\" before \"model.\", as of a"));
    const FileTensors base = renamed(weights(), [](const std::string& name) {
        return name.substr(std::string("model.").size());
    });
    CHECK_THAT(refusal(base), ContainsSubstring("load it with AutoModelForCausalLM and save that"));
    const TempFolder temp;
    CHECK_THAT(
        input_error_of(
            [&] { check_weights(write_weights(temp.path("w"), base), tiny_model("qwen3")); }),
        ContainsSubstring("save that; \"lm_head.weight\" is missing, so take it from elsewhere"));
}

TEST_CASE("weights mismatch: a vocabulary of another size", "[train_files]") {
    FileTensors tensors = weights();
    FileTensor& embedding = tensors["model.embed_tokens.weight"];
    embedding.shape[0] += 3;
    embedding.bytes.append(static_cast<std::size_t>(3 * 2 * embedding.shape[1]), '\0');
    const std::string said = refusal(tensors);
    CHECK_THAT(
        said, ContainsSubstring("tensor \"model.embed_tokens.weight\" has 36 rows, expected 33, "));
    CHECK_THAT(said, ContainsSubstring("; set vocab_size to 36 in the config.json of these"));
}

TEST_CASE("weights mismatch: other kinds of weights", "[train_files]") {
    FileTensors tensors = weights();
    tensors["model.layers.0.mlp.up_proj.qweight"] = {Dtype::bf16, {1}, "ab"};
    CHECK_THAT(refusal(tensors), ContainsSubstring("holds quantized weights"));
    CHECK_THAT(refusal({{"base_model.model.model.layers.0.q_proj.lora_A.weight",
                         {Dtype::bf16, {1}, "ab"}}}),
               ContainsSubstring(
                   "holds a LoRA adapter, not the weights of a model; merge it into its base"));
}

TEST_CASE("weights mismatch: a config.json beside weights of another model", "[train_files]") {
    FileTensors tensors = weights();
    tensors.erase("model.layers.1.mlp.up_proj.weight");
    CHECK_THAT(refusal(tensors),
               ContainsSubstring("/config.json and these weights are not of one model: "
                                 "save or download both again"));
}

#include "engine/train/adapter_files.h"

#include <cmath>

#include "engine/data/files.h"
#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

AdapterRecord read_text(const std::string& text) {
    const TempFolder temp;
    write_output_file(temp.path(kAdapterConfigFile), text);
    return read_adapter_config(temp.path("."));
}

std::string error_of_text(const std::string& text) {
    return input_error_of([&] { read_text(text); });
}

}  // namespace

TEST_CASE("adapter files: settings are read as they are written", "[train_files]") {
    const AdapterRecord written{{16, kQuery | kValue | kDown, 5}, 12.5, true, "some/base"};
    const AdapterRecord read = read_text(adapter_config_text(written));
    CHECK(read.shape == written.shape);
    CHECK(read.alpha == written.alpha);
    CHECK(read.rank_stabilized);
    CHECK(read.base == written.base);
    CHECK(read.scale() == 12.5 / 4);
    CHECK(AdapterRecord{{16}, 12.5}.scale() == 12.5 / 16);
}

TEST_CASE("adapter files: peft's own words for all linear layers, and what it leaves out",
          "[train_files]") {
    const AdapterRecord read = read_text(
        R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": "all-linear",
            "rank_pattern": {}, "modules_to_save": null, "bias": "none"})");
    CHECK(read.shape == AdapterShape(4));
    CHECK(read.base.empty());
    const AdapterRecord some = read_text(
        R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj",
            "mlp.up_proj"]})");
    CHECK(some.shape.targets == (kQuery | kUp));
}

TEST_CASE("adapter files: more than adapters of linear layers is refused", "[train_files]") {
    const auto with = [](const std::string& more) {
        return R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"], )" +
               more + "}";
    };
    CHECK_THAT(error_of_text(with(R"("use_dora": true)")),
               ContainsSubstring("use_dora is true, expected false"));
    CHECK_THAT(error_of_text(with(R"("modules_to_save": ["lm_head"])")),
               ContainsSubstring("modules_to_save is [\"lm_head\"], expected none"));
    CHECK_THAT(error_of_text(with(R"("rank_pattern": {"q_proj": 8})")),
               ContainsSubstring("rank_pattern"));
    CHECK_THAT(error_of_text(R"({"peft_type": "IA3"})"), ContainsSubstring("peft_type"));
    CHECK_THAT(error_of_text(R"({"peft_type": "LORA", "r": 0})"), ContainsSubstring("r is 0"));
    CHECK_THAT(error_of_text(R"({"peft_type": "LORA", "r": 1, "target_modules": ["c_attn"]})"),
               ContainsSubstring("target_modules"));
    CHECK_THAT(error_of_text("[]"), ContainsSubstring("is no JSON object"));
}

// Has each family exactly the parameters that transformers counts, and a model in the table?
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/base/json_object.h"
#include "sim/specs/model/families/other_families.h"
#include "sim/specs/model/model_families.h"
#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

nlohmann::json table(const char* name) {
    return nlohmann::json::parse(
        std::ifstream(std::string(SLUICE_SOURCE_DIR "/tests/sim/specs/model/families/") + name));
}

/// The model_type of the decoder.
std::string type_of(const nlohmann::json& config) {
    return config.contains(kDecoderKey) ? type_of(config[kDecoderKey])
                                        : config["model_type"].get<std::string>();
}

}  // namespace

TEST_CASE("family counts: parameters are those that transformers counts", "[model]") {
    const nlohmann::json counts = table("counts.json")["parameters"];
    const nlohmann::json configs = table("configs.json");
    CHECK(counts.size() == configs.size());
    for (const nlohmann::json& entry : configs) {
        const auto name = entry["name"].get<std::string>();
        CAPTURE(name);
        const ModelSpec model = parse_hf_config(entry["config"].dump(), name);
        CHECK(total_parameters(model) == counts.at(name).get<std::int64_t>());
        CHECK(model.family == type_of(entry["config"]));
    }
}

TEST_CASE("family counts: every family is in the table", "[model]") {
    std::vector<std::string> types, outer_types;
    for (const nlohmann::json& entry : table("configs.json")) {
        types.push_back(type_of(entry["config"]));
        outer_types.push_back(entry["config"]["model_type"].get<std::string>());
    }
    for (const ModelFamily& family : model_families()) {
        CAPTURE(family.model_type);
        CHECK(std::ranges::count(types, family.model_type) > 0);
    }
    for (const DecoderInside& outer : decoders_inside()) {
        CAPTURE(outer.model_type);
        CHECK(std::ranges::count(outer_types, outer.model_type) > 0);
    }
}

TEST_CASE("family counts: docs/model-families.md has every family", "[model]") {
    const std::string page = read_text_file(SLUICE_SOURCE_DIR "/docs/model-families.md");
    const auto expect = [&](std::string_view type) {
        CHECK_THAT(page, ContainsSubstring("`" + std::string(type) + "`"));
    };
    for (const ModelFamily& family : model_families()) expect(family.model_type);
    for (const DecoderInside& outer : decoders_inside()) expect(outer.model_type);
    for (const OtherFamily& family : other_families()) {
        constexpr std::string_view kDecoder = "_text";
        const std::string_view type = family.model_type;
        expect(type.ends_with(kDecoder) ? type.substr(0, type.size() - kDecoder.size()) : type);
    }
}

TEST_CASE("family counts: the decoder of a model of images and text is not trained", "[model]") {
    for (const nlohmann::json& entry : table("configs.json")) {
        if (!entry["config"].contains(kDecoderKey)) continue;
        const ModelSpec model = parse_hf_config(entry["config"].dump(), "config.json");
        CAPTURE(model.family);
        CHECK_FALSE(model.not_trained.empty());
        CHECK_THAT(model.note, ContainsSubstring("the vision tower is not counted"));
    }
}

}  // namespace sluice

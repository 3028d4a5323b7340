// Does every model of the library have the parameters that its publisher counts?
#include <algorithm>
#include <string>
#include <vector>

#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

namespace sluice {
namespace {

struct PublishedModel {
    const char* name;
    std::int64_t parameters;         ///< as the safetensors metadata or the authors' code count
    std::int64_t active_parameters;  ///< of one token, embeddings included
    std::int64_t last_layer_parameters;
};

const std::vector<PublishedModel> kPublished = {
    {"deepseek-v3", 671'026'419'200, 37'552'297'472, 11'507'286'272},
    {"gemma-2-27b", 27'227'128'320, 27'227'128'320, 566'249'472},
    // The decoder alone: the published 27'432'406'640 parameters include the vision tower.
    {"gemma-3-27b-pt", 27'009'346'304, 27'009'346'304, 412'898'560},
    {"gpt-oss-120b", 116'829'156'672, 5'711'982'912, 3'213'080'192},
    {"gpt-oss-20b", 20'914'757'184, 4'187'440'704, 823'186'976},
    {"gpt2", 124'439'808, 124'439'808, 7'087'872},
    {"llama-3.1-405b", 405'853'388'800, 405'853'388'800, 3'187'703'808},
    {"llama-3.1-70b", 70'553'706'496, 70'553'706'496, 855'654'400},
    {"llama-3.1-8b", 8'030'261'248, 8'030'261'248, 218'112'000},
    {"llama-3.2-1b", 1'235'814'400, 1'235'814'400, 60'821'504},
    {"llama-3.2-3b", 3'212'749'824, 3'212'749'824, 100'669'440},
    {"mistral-7b-v0.1", 7'241'732'096, 7'241'732'096, 218'112'000},
    {"mistral-large-instruct-2407", 122'610'069'504, 122'610'069'504, 1'384'144'896},
    {"mixtral-8x7b-v0.1", 46'702'792'704, 12'879'925'248, 1'451'270'144},
    {"phi-4", 14'659'507'200, 14'659'507'200, 340'797'440},
    {"qwen2.5-0.5b", 494'032'768, 494'032'768, 14'912'384},
    {"qwen2.5-1.5b", 1'543'714'304, 1'543'714'304, 46'797'824},
    {"qwen2.5-14b", 14'770'033'664, 14'770'033'664, 275'268'608},
    {"qwen2.5-32b", 32'763'876'352, 32'763'876'352, 487'605'248},
    {"qwen2.5-3b", 3'085'938'688, 3'085'938'688, 77'076'992},
    {"qwen2.5-72b", 72'706'203'648, 72'706'203'648, 877'684'736},
    {"qwen2.5-7b", 7'615'616'512, 7'615'616'512, 233'057'792},
    {"qwen3-0.6b", 596'049'920, 596'049'920, 15'730'944},
    {"qwen3-1.7b", 1'720'574'976, 1'720'574'976, 50'336'000},
    {"qwen3-14b", 14'768'307'200, 14'768'307'200, 330'311'936},
    {"qwen3-235b-a22b", 235'093'634'560, 22'190'763'520, 2'487'755'008},
    {"qwen3-30b-a3b", 30'532'122'624, 3'353'032'704, 623'120'640},
    {"qwen3-32b", 32'762'123'264, 32'762'123'264, 487'598'336},
    {"qwen3-4b", 4'022'468'096, 4'022'468'096, 100'930'816},
    {"qwen3-8b", 8'190'735'360, 8'190'735'360, 192'946'432},
    {"tinyllama-1.1b", 1'100'048'384, 1'100'048'384, 44'044'288},
};

}  // namespace

TEST_CASE("library models: the counts of parameters are exactly those published", "[model]") {
    for (const PublishedModel& published : kPublished) {
        CAPTURE(published.name);
        const ModelSpec model = read_model(published.name);
        CHECK(model.name == published.name);
        CHECK(total_parameters(model) == published.parameters);
        CHECK(active_parameters(model) == published.active_parameters);
        CHECK(layer_parameters(model, model.layer(model.layer_count() - 1)) ==
              published.last_layer_parameters);
    }
}

TEST_CASE("library models: each of them has its published counts in this test", "[model]") {
    std::vector<std::string> checked;
    for (const PublishedModel& published : kPublished) checked.emplace_back(published.name);
    std::sort(checked.begin(), checked.end());
    CHECK(library_models() == checked);
}

TEST_CASE("library models: a model says where its shape was read", "[model]") {
    for (const std::string& name : library_models()) {
        CAPTURE(name);
        const ModelSpec model = read_model(name);
        CHECK_FALSE(model.source.empty());
        // Not the fallback, which is the file itself.
        CHECK(model.source != "models/" + name + ".json");
    }
}

TEST_CASE("models: families whose layers the trainer lacks say so", "[model]") {
    CHECK(read_model("phi-4").not_trained == "reader of joined tensors (qkv_proj, gate_up_proj)");
    CHECK_FALSE(read_model("gemma-2-27b").not_trained.empty());
    CHECK(read_model("llama-3.1-8b").not_trained.empty());
}

}  // namespace sluice

// Which config.json do the tests change?
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {

/// Two layers of Llama's form: the least that a config must have.
inline constexpr const char* kLlama = R"({
  "model_type": "llama",
  "num_hidden_layers": 2,
  "hidden_size": 64,
  "intermediate_size": 128,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "vocab_size": 100,
  "tie_word_embeddings": true
})";

/// kLlama with the keys of `changes`, which is a JSON object; null removes a key.
inline std::string llama_with(const char* changes) {
    nlohmann::json config = nlohmann::json::parse(kLlama);
    config.merge_patch(nlohmann::json::parse(changes));
    return config.dump();
}

inline ModelSpec parse(const std::string& text) { return parse_hf_config(text, "my/config.json"); }

inline std::string parse_error(const std::string& text) {
    return input_error_of([&] { parse(text); });
}

}  // namespace sluice

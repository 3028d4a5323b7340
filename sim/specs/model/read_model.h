// How is a model's shape read: from a Hugging Face config.json, the built-in library, or a few
// numbers?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/model/model_spec.h"

namespace sluice {

class JsonObject;

/// `what` is a name of the library (`qwen2.5-7b`), a scaled target (`120b`), a generic shape
/// (`dense:layers=80,hidden=8192,...`) or a path to a Hugging Face config.json. Throws InputError;
/// its sentence begins with `where`, a flag or a file and its key.
ModelSpec read_model(const std::string& what, const std::string& where = "--model");
/// Whether read_model() takes the text as one of these, right or wrong.
bool names_a_model(const std::string& what);

/// Reads the text of a config.json; `file` is its name in messages. Throws InputError, also if it
/// contradicts itself, an absent key was misspelt, or its class is no causal language model.
ModelSpec parse_hf_config(std::string_view text, const std::string& file);

/// Reads from a config.json how a model computes: norm_epsilon, rotary and not_trained of `model`.
/// Training depends on these, plans do not. Throws InputError.
void read_hf_arithmetic(const JsonObject& config, ModelSpec& model);

/// A dense decoder in Llama's form from
/// `layers=80,hidden=8192[,heads=,kv_heads=,head_dim=,intermediate=, vocabulary=,tied=]`. Defaults:
/// head_dim 128, heads hidden/128, kv_heads 8 (or heads), intermediate 3.5 x hidden, vocabulary
/// 128256, untied. Throws InputError.
ModelSpec parse_generic_model(std::string_view text, const std::string& where = "--model");

/// A dense shape of about the named size, for what-if questions (not a published model).
struct ScaledTarget {
    const char* name;
    const char* shape;
};
const std::vector<ScaledTarget>& scaled_targets();

/// `qwen2.5-7b` of a pasted `Qwen/Qwen2.5-7B`.
std::string short_name(const std::string& what);

/// Names of the built-in library, sorted.
std::vector<std::string> library_models();

/// A person may type for a model all that read_model() takes, a size ("70B": the nearest of
/// the library) or a part that one name of the library alone has ("30B-A3B"). Returns what
/// read_model() takes; the text itself if nothing fits, which read_model() then refuses. Throws
/// InputError if no model is near a size; `where` as for read_model().
std::string model_of(const std::string& text, const std::string& where = "--model");
/// `model 70B: llama-3.1-70b (70.55 B parameters), the nearest of the library; also qwen2.5-72b
/// (72.71 B)`: what model_of() took, and what else is near. "" if the text is its name.
std::string model_note(const std::string& text);

/// Names of models and targets with about as many parameters, the nearest first.
std::vector<std::string> models_of_size(double parameters);
/// `; did you mean "llama-3.1-70b" or "qwen2.5-72b"?` for a name that is not there, by the size or
/// the part of a name that it has. Who gives an organisation, too, means that very model:
/// `; models like it: llama-3.1-70b, qwen2.5-72b`. "" if none is near.
std::string model_hint(const std::string& name);

}  // namespace sluice

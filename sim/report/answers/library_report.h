// How are the built-in models and machines shown, and what differs between two machines?
#pragma once

#include <string>

namespace sluice {

struct MachineDiff;
struct MachineProfile;
struct ModelSpec;

/// A row a model of the library.
std::string models_text();
/// Its size and, by kind of layer, its tensors.
std::string model_text(const ModelSpec& model);
std::string model_json(const ModelSpec& model);

/// A row a machine of the library, with how far predictions for it can be trusted.
std::string machines_text();
/// Every number with its method, date and source, and what is assumed where one is missing.
std::string machine_text(const MachineProfile& profile);
std::string machine_json(const MachineProfile& profile);

std::string machine_diff_text(const MachineDiff& diff);
std::string machine_diff_json(const MachineDiff& diff);

}  // namespace sluice

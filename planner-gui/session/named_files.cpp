#include "planner-gui/session/named_files.h"

#include <filesystem>

#include "sim/base/json_object.h"

namespace sluice {
namespace {

/// Of a folder its config.json, as read_model() takes it.
std::string text_of(std::string path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) path += "/config.json";
    if (!std::filesystem::is_regular_file(path, error)) return {};
    try {
        return read_text_file(path);
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace

NamedFiles read_named_files(const PlannedScenario& planned) {
    return {text_of(planned.model.model), text_of(planned.machine.machine)};
}

}  // namespace sluice

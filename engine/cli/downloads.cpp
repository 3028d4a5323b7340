#include "engine/cli/downloads.h"

#include <fmt/format.h>

#include "engine/data/files.h"
#include "engine/train/progress.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/hub_models.h"

namespace sluice {
namespace {

std::string downloaded_or_same(const char* flag, const std::string& name) {
    const auto folder = downloaded_model(name);
    if (!folder) return name;
    say(fmt::format("{} {}: {}\n", flag, name, *folder));
    return *folder;
}

}  // namespace

TrainFlags with_downloads(TrainFlags flags) {
    std::string& model = flags.scenario.given.model.model;
    model = downloaded_or_same("--model", model);
    if (!flags.settings.load) return flags;
    std::string& load = *flags.settings.load;
    if (!is_there(load) && looks_like_hub_name(load) && !downloaded_model(load))
        throw InputError(
            fmt::format("--load {}: is neither a file nor downloaded to {}; download it with: {}",
                        load, hub_cache_folder(), download_command(load)));
    load = downloaded_or_same("--load", load);
    return flags;
}

}  // namespace sluice

#include "engine/cli/loaded_adapters.h"

#include <fmt/format.h>

#include "engine/data/files.h"
#include "engine/train/adapter_files.h"
#include "engine/train/model_files.h"
#include "sim/base/input_error.h"
#include "sim/command_line/scenario.h"

namespace sluice {
namespace {

/// Where adapters say that they were trained, or beside --model.
std::string base_of(const AdapterRecord& adapters, const std::string& folder,
                    const std::string& model) {
    if (!adapters.base.empty() && is_there(adapters.base)) return adapters.base;
    if (weights_beside(model)) return model;
    throw InputError(fmt::format(
        "--load {}: its base, \"{}\", is no file or folder here; give --model with the folder of "
        "its weights",
        folder, adapters.base));
}

/// The option as the adapters have it, which is all that may be given.
void must_be(std::map<std::string, std::string>& given, const Option& option,
             const TrainingSpec& of_adapters, const std::string& folder) {
    const std::string value = option_text(of_adapters, option);
    const auto [at, is_new] = given.try_emplace(option.field, value);
    TrainingSpec asked;
    set_option(asked, option, at->second, option_flag(option));
    if (option.get(asked) == option.get(of_adapters)) return;
    throw InputError(fmt::format("{} is {}, but the adapters of --load {} have {}; leave it out",
                                 option_flag(option), at->second, folder, value));
}

}  // namespace

TrainFlags with_loaded_adapters(TrainFlags flags) {
    TrainSettings& settings = flags.settings;
    if (!settings.load || !holds_adapters(*settings.load)) return flags;
    const std::string folder = *settings.load;
    const AdapterRecord adapters = read_adapter_config(folder);
    TrainingSpec of_adapters;
    of_adapters.adapter_rank = adapters.shape.rank;
    of_adapters.adapter_targets = adapters.shape.targets;
    of_adapters.adapter_dropout_percent = adapters.shape.dropout_percent;
    std::map<std::string, std::string>& given = flags.scenario.given.training;
    for (const char* const field : {"adapter_rank", "adapter_targets"})
        must_be(given, training_option(field), of_adapters, folder);
    const Option& dropout = training_option("adapter_dropout_percent");
    given.try_emplace(dropout.field, option_text(of_adapters, dropout));
    if (settings.adapter_alpha.value_or(adapters.alpha) != adapters.alpha)
        throw InputError(
            fmt::format("--adapter-alpha is {:g}, but the adapters of --load {} were trained with "
                        "{:g}, which scales what they learned; leave it out",
                        *settings.adapter_alpha, folder, adapters.alpha));
    if (settings.rank_stabilized && !adapters.rank_stabilized)
        throw InputError(
            fmt::format("--adapter-rslora is given, but the adapters of --load {} were trained "
                        "without it, which scales what they learned; leave it out",
                        folder));
    settings.adapter_alpha = adapters.alpha;
    settings.rank_stabilized = adapters.rank_stabilized;
    settings.adapters = folder;
    settings.load = base_of(adapters, folder, asked_scenario(flags.scenario).model.model);
    return flags;
}

}  // namespace sluice

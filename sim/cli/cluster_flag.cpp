#include "sim/cli/cluster_flag.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

ClusterFlag read_cluster_flag(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw InputError(fmt::format(
            "--cluster is \"{}\", expected MACHINE:GPUS, as in h100-sxm-pcie5:8", text));
    TrainingSpec training;
    const auto& options = training_options();
    const auto gpus = std::find_if(options.begin(), options.end(), [](const Option& option) {
        return std::string_view(option.field) == "gpus";
    });
    set_option(training, *gpus, text.substr(colon + 1), fmt::format("--cluster {}: GPUS", text));
    return {read_machine_profile(text.substr(0, colon), "--cluster"), training.gpus};
}

}  // namespace sluice

#include "sim/specs/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

struct WhatIf {
    std::string path;
    double value;
};

WhatIf parse_what_if(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw InputError(
            fmt::format(
                "--set is \"{}\", expected PATH=NUMBER, as in link.host_to_device_gb_per_s=100",
                text),
            "settings");
    }
    const std::string path = text.substr(0, equals);
    const auto number = in_field("settings", [&] {
        return parse_positive(std::string_view(text).substr(equals + 1), "--set " + path);
    });
    return {path, number};
}

/// A number that no rate of the machine rests on would change nothing in silence.
void check_used(const WhatIf& setting, const MachineSpec& machine) {
    const std::vector<std::string>& used = machine.inputs;
    if (std::find(used.begin(), used.end(), setting.path) != used.end()) return;
    throw InputError(
        fmt::format("--set: {} changes nothing for {}: a prediction rests on {}{}", setting.path,
                    machine.id, fmt::join(used, ", "), did_you_mean(setting.path, used)),
        "settings");
}

}  // namespace

std::string option_help(const Option& option) {
    std::string help = option.help;
    if (option.choices.empty()) {
        if (option.unit[0] != '\0') help += fmt::format(" [{}]", option.unit);
    } else {
        std::vector<std::string> names;
        for (const Choice& choice : option.choices) names.emplace_back(choice.name);
        help += fmt::format(" [{}]", fmt::join(names, ", "));
    }
    const std::string standard = option_text(TrainingSpec{}, option);
    if (!option.choices.empty() || option.is_memory) return help + "; default " + standard;
    return help + fmt::format("; {} to {}, default {}", format_thousands(option.low),
                              format_thousands(option.high), standard);
}

double parse_positive(std::string_view text, std::string_view where) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double kLargest = 1e15;
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value > 0 && value <= kLargest)) {
        throw InputError(fmt::format("{} is \"{}\", expected a number above 0", where, text));
    }
    return value;
}

ModelSpec read_model_flags(const ModelFlags& flags) {
    ModelSpec model = read_model(flags.model);
    if (flags.untied) model.tied_embeddings = false;
    if (!flags.layers) return model;
    const double layers =
        in_field("layers", [&] { return parse_positive(*flags.layers, "--layers"); });
    if (layers != static_cast<double>(static_cast<std::int64_t>(layers)))
        throw InputError(fmt::format("--layers is {}, expected a whole number", *flags.layers),
                         "layers");
    truncate_layers(model, static_cast<std::int64_t>(layers));
    return model;
}

MachineProfile read_profile_flags(const MachineFlags& flags) {
    MachineProfile profile = read_machine_profile(flags.machine);
    if (flags.host_memory) {
        const double bytes = in_field(
            "host_memory", [&] { return parse_memory_size(*flags.host_memory, "--host-memory"); });
        if (bytes < kGiga) {
            throw InputError(
                fmt::format(
                    "--host-memory is {}, less than 1 GB; give a size with its unit, as in 1.5TB",
                    *flags.host_memory),
                "host_memory");
        }
        profile.set("host.memory_capacity_gb", bytes / kGiga);
        profile.changes.push_back("--host-memory " + *flags.host_memory);
    }
    for (const std::string& text : flags.settings) {
        const WhatIf setting = parse_what_if(text);
        profile.set(setting.path, setting.value);
        profile.changes.push_back("--set " + text);
    }
    return profile;
}

MachineSpec resolve_machine_flags(const MachineProfile& profile, const MachineFlags& flags) {
    MachineSpec machine = resolve_machine(profile);
    for (const std::string& text : flags.settings) check_used(parse_what_if(text), machine);
    return machine;
}

MachineSpec read_machine_flags(const MachineFlags& flags) {
    return resolve_machine_flags(read_profile_flags(flags), flags);
}

}  // namespace sluice

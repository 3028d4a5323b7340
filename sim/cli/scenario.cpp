#include "sim/cli/scenario.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sim/input_error.h"
#include "sim/json_object.h"
#include "sim/model/read_model.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

double parse_number(std::string_view text, std::string_view where) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double kLargest = 1e15;
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value > 0 && value <= kLargest)) {
        throw InputError(fmt::format("{} is \"{}\", expected a number above 0", where, text));
    }
    return value;
}

struct Setting {
    std::string path;
    double value;
};

Setting parse_setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw InputError(fmt::format(
            "--set is \"{}\", expected PATH=NUMBER, as in link.host_to_device_gb_per_s=100", text));
    }
    const std::string path = text.substr(0, equals);
    return {path, parse_number(std::string_view(text).substr(equals + 1), "--set " + path)};
}

/// A number that no rate of the machine rests on would change nothing in silence.
void check_used(const Setting& setting, const MachineSpec& machine) {
    const std::vector<std::string>& used = machine.inputs;
    if (std::find(used.begin(), used.end(), setting.path) != used.end()) return;
    throw InputError(fmt::format("--set: {} changes nothing for {}: a prediction rests on {}{}",
                                 setting.path, machine.id, fmt::join(used, ", "),
                                 did_you_mean(setting.path, used)));
}

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

}  // namespace

void add_model_flags(CLI::App& command, ModelFlags& flags) {
    command
        .add_option("--model", flags.model,
                    "a name of `sluice models`, dense:layers=80,hidden=8192,..., or a path to a "
                    "config.json")
        ->required();
    command.add_option("--layers", flags.layers, "only the first N layers of the model");
    command.add_flag(
        "--untied", flags.untied,
        "an output projection of its own even where the model ties it to the embedding");
}

ModelSpec read_model_flags(const ModelFlags& flags) {
    ModelSpec model = read_model(flags.model);
    if (flags.untied) model.tied_embeddings = false;
    if (!flags.layers) return model;
    const double layers = parse_number(*flags.layers, "--layers");
    if (layers != static_cast<double>(static_cast<std::int64_t>(layers)))
        throw InputError(fmt::format("--layers is {}, expected a whole number", *flags.layers));
    truncate_layers(model, static_cast<std::int64_t>(layers));
    return model;
}

void add_training_flags(CLI::App& command, TrainingFlags& flags) {
    command.add_option("--training", flags.file,
                       "a JSON file of the options below; flags override it");
    flags.option_values.resize(training_options().size());
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        command.add_option(option_flag(option), flags.option_values[i], option_help(option))
            ->group("Training");
    }
}

TrainingSpec training_values(const TrainingFlags& flags) {
    TrainingSpec training;
    if (flags.file) training = parse_training_spec(read_text_file(*flags.file), *flags.file);
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        if (flags.option_values[i])
            set_option(training, option, *flags.option_values[i], option_flag(option));
    }
    return training;
}

TrainingSpec read_training_flags(const TrainingFlags& flags) {
    const TrainingSpec training = training_values(flags);
    check_training_spec(training);
    return training;
}

void add_machine_flags(CLI::App& command, MachineFlags& flags) {
    command
        .add_option("--machine", flags.machine,
                    "a name of `sluice machines`, with a host memory size if wanted "
                    "(h200-sxm-pcie5-1.5tb), or a path to a profile")
        ->required();
    command.add_option("--host-memory", flags.host_memory,
                       "host memory of the machine, as 1.5TB or 128GiB");
    command.add_option(
        "--set", flags.settings,
        "another value for a number of the machine: PATH=NUMBER (see `sluice machines show`)");
}

MachineProfile read_profile_flags(const MachineFlags& flags, std::vector<std::string>& changes) {
    MachineProfile profile = read_machine_profile(flags.machine);
    if (flags.host_memory) {
        const double bytes = parse_memory_size(*flags.host_memory, "--host-memory");
        if (bytes < kGiga) {
            throw InputError(fmt::format(
                "--host-memory is {}, less than 1 GB; give a size with its unit, as in 1.5TB",
                *flags.host_memory));
        }
        profile.set("host.memory_capacity_gb", bytes / kGiga);
        changes.push_back("--host-memory " + *flags.host_memory);
    }
    for (const std::string& text : flags.settings) {
        const Setting setting = parse_setting(text);
        profile.set(setting.path, setting.value);
        changes.push_back("--set " + text);
    }
    return profile;
}

MachineSpec resolve_machine_flags(const MachineProfile& profile, const MachineFlags& flags) {
    MachineSpec machine = resolve_machine(profile);
    for (const std::string& text : flags.settings) check_used(parse_setting(text), machine);
    return machine;
}

MachineSpec read_machine_flags(const MachineFlags& flags, std::vector<std::string>& changes) {
    return resolve_machine_flags(read_profile_flags(flags, changes), flags);
}

void add_scenario_flags(CLI::App& command, ScenarioFlags& flags) {
    add_model_flags(command, flags.model);
    add_machine_flags(command, flags.machine);
    add_training_flags(command, flags.training);
}

Scenario read_scenario(const ScenarioFlags& flags) {
    Scenario scenario;
    scenario.model = read_model_flags(flags.model);
    scenario.machine = read_machine_flags(flags.machine, scenario.machine_changes);
    scenario.training = read_training_flags(flags.training);
    return scenario;
}

void write_file(const std::string& path, const std::string& text) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool exists = fs::exists(path, error);
    // A device or a pipe takes the text as it is; a link's target is replaced, not the link.
    const bool in_place = exists && !fs::is_regular_file(path, error);
    const std::string target = exists && !in_place ? fs::canonical(path, error).string() : path;
    const std::string temporary =
        in_place ? target : fmt::format("{}.{}.part", target, static_cast<long>(getpid()));
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    error.clear();
    if (out && !in_place) fs::rename(temporary, target, error);
    if (out && !error) return;
    if (!in_place) fs::remove(temporary, error);
    throw InputError(fmt::format(
        "{}: cannot be written; check that the folder exists, is writable and has space", path));
}

}  // namespace sluice

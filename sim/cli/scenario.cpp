#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sim/cli/commands.h"
#include "sim/input_error.h"
#include "sim/json_object.h"
#include "sim/model/read_model.h"

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

void apply_settings(MachineProfile& profile, const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) {
            throw InputError(fmt::format(
                "--set is \"{}\", expected PATH=NUMBER, as in link.host_to_device_gb_per_s=100",
                setting));
        }
        const std::string path = setting.substr(0, equals);
        profile.set(path,
                    parse_number(std::string_view(setting).substr(equals + 1), "--set " + path));
    }
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
    return help + fmt::format("; default {}", option_text(TrainingSpec{}, option));
}

}  // namespace

void add_scenario_flags(CLI::App& command, ScenarioFlags& flags) {
    command
        .add_option("--model", flags.model,
                    "a name of `sluice models`, dense:layers=80,hidden=8192,..., or a path to a "
                    "config.json")
        ->required();
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
    command.add_option("--layers", flags.layers, "only the first N layers of the model");
    command.add_flag(
        "--untied", flags.untied,
        "an output projection of its own even where the model ties it to the embedding");
    command.add_option("--training", flags.training_file,
                       "a JSON file of the options below; flags go before it");
    flags.option_values.resize(training_options().size());
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        command.add_option(option_flag(option), flags.option_values[i], option_help(option))
            ->group("Training");
    }
}

Scenario read_scenario(const ScenarioFlags& flags) {
    Scenario scenario;
    scenario.model = read_model(flags.model);
    if (flags.untied) scenario.model.tied_embeddings = false;
    if (flags.layers) {
        const double layers = parse_number(*flags.layers, "--layers");
        if (layers != static_cast<double>(static_cast<std::int64_t>(layers)))
            throw InputError(fmt::format("--layers is {}, expected a whole number", *flags.layers));
        truncate_layers(scenario.model, static_cast<std::int64_t>(layers));
    }
    scenario.profile = read_machine_profile(flags.machine);
    if (!flags.host_memory.empty()) {
        scenario.profile.set("host.memory_capacity_gb",
                             parse_memory_size(flags.host_memory, "--host-memory") / kGiga);
    }
    apply_settings(scenario.profile, flags.settings);
    if (!flags.training_file.empty())
        scenario.training =
            parse_training_spec(read_text_file(flags.training_file), flags.training_file);
    for (std::size_t i = 0; i < training_options().size(); ++i) {
        const Option& option = training_options()[i];
        if (!flags.option_values[i].empty())
            set_option(scenario.training, option, flags.option_values[i], option_flag(option));
    }
    check_training_spec(scenario.training);
    return scenario;
}

void write_file(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".part";
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    std::error_code error;
    if (out) std::filesystem::rename(temporary, path, error);
    if (!out || error) {
        std::filesystem::remove(temporary, error);
        throw InputError(fmt::format(
            "{}: cannot be written; check that the folder exists, is writable and has space",
            path));
    }
}

}  // namespace sluice

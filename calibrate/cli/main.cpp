#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "calibrate/cli/calibration_plan.h"
#include "calibrate/cli/fit_command.h"
#include "calibrate/cli/write_profile.h"
#include "calibrate/profile/make_profile.h"
#include "calibrate/transfer/transfer_profile.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/command_line/help.h"
#include "sim/command_line/program.h"

namespace sluice {
namespace {

void add_measure(CLI::App& app, Command& chosen) {
    const auto flags = std::make_shared<MeasureFlags>();
    const auto list = std::make_shared<bool>(false);
    add_option(app, {"--out", "FILE"}, flags->out,
               "the profile to write; the measurements go to measurements/ in its folder, after "
               "each case. Earlier complete measurements are kept under another name; "
               "unfinished ones are continued with --resume, never overwritten");
    app.add_flag("--quick", flags->quick, "fewer shapes and shorter repeats: 40 s, less certain");
    add_option(
        app, {"--only", "CASE"}, flags->only,
        "measure these cases again (CASE[,CASE...]), keep the others, and fit all of them again")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_flag("--resume", flags->resume,
                 "continue after an interruption: measure what is missing and, without --quick, "
                 "what was measured with it");
    add_option(app, {"--base", "NAME"}, flags->base, kBaseHelp);
    add_option(app, {"--device", "NAME"}, flags->device, "auto, cpu, cuda or cuda:N")
        ->capture_default_str();
    add_option(app, {"--cpu-threads"}, flags->cpu_threads,
               "threads of the CPU's kernels, without a GPU; 0: half the CPUs")
        ->check(CLI::NonNegativeNumber.description(""));
    add_option(app, {"--storage", "FOLDER"}, flags->storage,
               "a folder on the disk to measure: a file of up to 2 GB is written there several "
               "times, and removed")
        ->capture_default_str();
    app.add_flag("--list", *list, "list the cases and how long they take");
    app.callback([&app, &chosen, flags, list] {
        if (!app.get_subcommands().empty()) return;
        chosen = [flags, list] {
            if (*list) {
                fmt::print("{}", case_list());
                return 0;
            }
            if (flags->out.empty())
                throw InputError(
                    "--out is missing; name the profile to write, as in --out "
                    "hwprofiles/NAME.json");
            return measure(*flags);
        };
    });
}

struct TransferFlags {
    std::string from, datasheet, out;
};

int transfer(const TransferFlags& flags) {
    check_profile_file(flags.out, std::nullopt);
    const std::string from = read_base_profile(flags.from, "--from").text;
    const std::string datasheet = read_text_file(flags.datasheet);
    write_checked(transfer_profile({from, flags.from}, {datasheet, flags.datasheet}, today()),
                  flags.out);
    return 0;
}

void add_transfer(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand("transfer",
                                                 "Makes a profile for a machine that you do not "
                                                 "have, by scaling a measured one with datasheets");
    const auto flags = std::make_shared<TransferFlags>();
    add_option(*command, {"--from", "NAME"}, flags->from,
               "a measured profile: a name of the library or a path")
        ->required();
    add_option(*command, {"--datasheet", "FILE"}, flags->datasheet,
               "the datasheet of the other machine, in the form of calibrate/transfer/b200.json")
        ->required();
    add_option(*command, {"--out", "FILE"}, flags->out, "the profile to write")->required();
    command->callback([&chosen, flags] { chosen = [flags] { return transfer(*flags); }; });
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    CLI::App app("Measures the machine it runs on and writes a profile for sluice's predictions.",
                 "sluice-calibrate");
    sluice::Command command;
    sluice::add_measure(app, command);
    sluice::add_fit(app, command);
    sluice::add_transfer(app, command);
    return sluice::run_program(
        app, [&command] { return command(); }, argc, argv);
}

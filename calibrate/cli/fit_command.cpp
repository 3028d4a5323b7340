#include "calibrate/cli/fit_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/cli/write_profile.h"
#include "calibrate/measurement/measurements.h"
#include "sim/base/json_object.h"
#include "sim/command_line/help.h"

namespace sluice {
namespace {

struct FitFlags {
    std::vector<std::string> measurements;
    std::string out;
    std::optional<std::string> base;
};

}  // namespace

void add_fit(CLI::App& app, Command& chosen, const std::string& out) {
    CLI::App* const fit = app.add_subcommand(
        "fit",
        "Makes a profile from kept measurements, on any machine. Several files of one machine are "
        "pooled: a rate is their mean, and its range covers all their ranges");
    const auto flags = std::make_shared<FitFlags>();
    fit->add_option("measurements", flags->measurements,
                    "hwprofiles/measurements/NAME.json; further files hold the same machine at "
                    "other times, with all cases or some (--only)")
        ->required();
    flags->out = out;
    add_option(*fit, {"--out", "FILE"}, flags->out, "the profile to write")
        ->capture_default_str()
        ->required(out.empty());
    add_option(*fit, {"--base", "NAME"}, flags->base, kBaseHelp);
    fit->callback([&chosen, flags] {
        chosen = [flags] {
            check_profile_file(flags->out, flags->base);
            std::vector<MeasurementsFile> files;
            for (const std::string& file : flags->measurements)
                files.push_back({parse_measurements(read_text_file(file), file), file});
            write_profile(pool_measurements(files), flags->out, flags->base);
            return 0;
        };
    });
}

}  // namespace sluice

#include "calibrate/cli/case_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::string how_to_measure(const MeasureFlags& flags) {
    std::string options;
    if (flags.quick) options += " --quick";
    if (flags.base) options += " --base " + *flags.base;
    if (flags.device != "auto") options += " --device " + flags.device;
    if (flags.cpu_threads > 0) options += fmt::format(" --cpu-threads {}", flags.cpu_threads);
    if (flags.storage != ".") options += " --storage " + flags.storage;
    return options;
}

/// `left`: the failed case, and those after it.
std::string failure_text(const MeasureFlags& flags, const std::string& file,
                         const std::vector<std::string>& left, const std::string& reason) {
    const std::vector<std::string> others(left.begin() + 1, left.end());
    const bool has_former = std::filesystem::exists(file);
    std::string text = fmt::format(
        "the case {} failed: {} ({}; continue with: {}", left.front(), reason,
        has_former ? "what was measured before is kept in " + file : "nothing was measured before",
        command_to_go_on(flags, left));
    if (!others.empty()) {
        text += fmt::format("; leave {} out with: {}", left.front(), command_for(flags, others));
    } else if (has_former) {
        text += fmt::format("; leave {} out with: sluice-calibrate fit {} --out {}{}", left.front(),
                            file, flags.out, flags.base ? " --base " + *flags.base : "");
    }
    return text + ")";
}

}  // namespace

std::string command_for(const MeasureFlags& flags, const std::vector<std::string>& cases) {
    return fmt::format("sluice-calibrate --out {} --only {}{}", flags.out, fmt::join(cases, ","),
                       how_to_measure(flags));
}

std::string command_to_go_on(const MeasureFlags& flags, const std::vector<std::string>& left) {
    if (!flags.only.empty()) return command_for(flags, left);
    return fmt::format("sluice-calibrate --out {} --resume{}", flags.out, how_to_measure(flags));
}

std::size_t run_cases(const MeasureFlags& flags, const std::string& file,
                      const std::vector<std::string>& cases,
                      const std::function<void(const std::string&)>& measure_and_store,
                      const std::function<bool()>& stop) {
    for (std::size_t done = 0; done < cases.size(); ++done) {
        if (stop()) return done;
        const auto text = [&](const std::exception& error) {
            return failure_text(flags, file,
                                {cases.begin() + static_cast<std::ptrdiff_t>(done), cases.end()},
                                error.what());
        };
        try {
            measure_and_store(cases[done]);
        } catch (const InputError& error) {
            throw InputError(text(error));
        } catch (const std::logic_error& error) {
            throw InternalError(text(error));
        } catch (const std::exception& error) {
            throw std::runtime_error(text(error));
        }
    }
    return cases.size();
}

}  // namespace sluice

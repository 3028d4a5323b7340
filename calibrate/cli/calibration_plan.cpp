#include "calibrate/cli/calibration_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sim/base/input_error.h"

namespace sluice {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

CalibrationPlan start_from(const FormerMeasurements& former, const Measurements& now) {
    require_same_machine(former, now.facts);
    CalibrationPlan plan;
    plan.start = former.measurements;
    plan.start.id = now.id;
    plan.start.facts = now.facts;
    // The memory of context and libraries is complete only after all kernels have run, so the
    // largest value counts.
    for (const auto bytes : {&MachineFacts::gpu_context_bytes, &MachineFacts::process_base_bytes})
        plan.start.facts.*bytes = std::max(now.facts.*bytes, former.measurements.facts.*bytes);
    return plan;
}

CalibrationPlan resume(const FormerMeasurements& former, const Measurements& now, bool quick,
                       const std::vector<std::string>& all) {
    CalibrationPlan plan = start_from(former, now);
    std::erase_if(plan.start.cases,
                  [&](const CaseRecord& record) { return record.quick && !quick; });
    plan.cases = missing_cases(plan.start, all);
    if (plan.start.cases.empty()) plan.start.date = now.date;
    return plan;
}

CalibrationPlan measure_only(const FormerMeasurements& former, const Measurements& now,
                             std::vector<std::string> cases) {
    CalibrationPlan plan = start_from(former, now);
    plan.cases = std::move(cases);
    const bool none_stays =
        std::all_of(plan.start.cases.begin(), plan.start.cases.end(),
                    [&](const CaseRecord& record) { return contains(plan.cases, record.name); });
    if (none_stays) plan.start.date = now.date;
    return plan;
}

}  // namespace

std::vector<std::string> choose_cases(const std::vector<std::string>& only,
                                      const std::vector<std::string>& all) {
    for (const std::string& name : only) {
        if (contains(all, name)) continue;
        throw InputError(fmt::format(
            "--only: unknown case \"{}\"{}", name,
            did_you_mean(name, all).empty() ? "; list them with --list" : did_you_mean(name, all)));
    }
    if (only.empty()) return all;
    std::vector<std::string> chosen;
    for (const std::string& name : all)
        if (contains(only, name)) chosen.push_back(name);
    return chosen;
}

void require_same_machine(const FormerMeasurements& former, const MachineFacts& now) {
    const auto found = machine_differences(former.measurements.facts, now);
    if (found.empty()) return;
    throw InputError(
        fmt::format("{} was measured on another machine or with other settings: {}; measure this "
                    "one into another file with --out",
                    former.file, fmt::join(found, "; ")));
}

std::vector<std::string> missing_cases(const Measurements& measurements,
                                       const std::vector<std::string>& all) {
    std::vector<std::string> missing = all;
    for (const CaseRecord& record : measurements.cases) std::erase(missing, record.name);
    return missing;
}

CalibrationPlan plan_calibration(const std::optional<FormerMeasurements>& former,
                                 const Measurements& now, const MeasureFlags& flags,
                                 const std::vector<std::string>& all) {
    if (flags.resume && !flags.only.empty())
        throw InputError(
            "--resume and --only together: --resume measures the missing cases, --only the named "
            "ones; give one of them");
    std::vector<std::string> cases = choose_cases(flags.only, all);
    if (!former) return {now, std::move(cases), false};
    if (flags.resume) return resume(*former, now, flags.quick, all);
    if (!flags.only.empty()) return measure_only(*former, now, std::move(cases));
    const std::size_t missing = missing_cases(former->measurements, all).size();
    if (missing > 0)
        throw InputError(
            fmt::format("{} holds {} of {} cases of an unfinished calibration; continue with "
                        "--resume, or remove it to start again",
                        former->file, all.size() - missing, all.size()));
    return {now, std::move(cases), true};
}

void store_case(Measurements& measurements, CaseRecord record, const std::string& today,
                const std::vector<std::string>& all) {
    record.date = today;
    std::erase_if(measurements.cases,
                  [&](const CaseRecord& former) { return former.name == record.name; });
    measurements.cases.push_back(std::move(record));
    const auto place = [&](const CaseRecord& of) {
        return std::find(all.begin(), all.end(), of.name) - all.begin();
    };
    std::stable_sort(measurements.cases.begin(), measurements.cases.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

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
    std::string text =
        fmt::format("the case {} failed: {} ({}; continue with: {}", left.front(), reason,
                    has_former ? "earlier measurements are kept in " + file
                               : "there are no earlier measurements",
                    command_to_go_on(flags, left));
    if (!others.empty()) {
        text += fmt::format("; leave {} out with: {}", left.front(), command_for(flags, others));
    } else if (has_former) {
        text +=
            fmt::format("; leave {} out with: {} fit {} --out {}{}", left.front(), flags.program,
                        file, flags.out, flags.base ? " --base " + *flags.base : "");
    }
    return text + ")";
}

}  // namespace

std::string command_for(const MeasureFlags& flags, const std::vector<std::string>& cases) {
    return fmt::format("{} --out {} --only {}{}", flags.program, flags.out, fmt::join(cases, ","),
                       how_to_measure(flags));
}

std::string command_to_go_on(const MeasureFlags& flags, const std::vector<std::string>& left) {
    if (!flags.only.empty()) return command_for(flags, left);
    return fmt::format("{} --out {} --resume{}", flags.program, flags.out, how_to_measure(flags));
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

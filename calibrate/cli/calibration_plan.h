// Which cases does a calibration measure, and which earlier measurements does it keep?
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"

namespace sluice {

struct MeasureFlags {
    std::string program = "sluice-calibrate";
    std::string out = {};
    std::vector<std::string> only = {};  ///< names of cases; empty: all
    std::optional<std::string> base = {};
    std::string device = "auto";
    int cpu_threads = 0;
    std::string storage = ".";  ///< folder whose disk is measured
    bool quick = false, resume = false;
    std::vector<std::string> quick_cases = {};  ///< measured as with --quick in any case
    bool makes_profile = true;                  ///< else only the measurements are written
    /// Libraries of the trainer are loaded: what they take of host and device memory counts.
    bool has_trainer = true;
};

/// Measures; writes measurements after each case and the profile at the end. Returns the exit
/// status. Throws InputError.
int measure(const MeasureFlags& flags);

/// The cases, their questions and seconds.
std::string case_list();

/// Today, "2026-11-21".
std::string today();

struct CalibrationPlan {
    Measurements start;              ///< kept measurements, with the machine's current facts
    std::vector<std::string> cases;  ///< cases to measure, in the order in which they run
    bool keeps_former = false;       ///< the earlier file is complete, so it gets another name
};

struct FormerMeasurements {
    Measurements measurements;
    std::string file;
};

/// The names in --only, in the order of `all`, each once. Throws InputError for an unknown one.
std::vector<std::string> choose_cases(const std::vector<std::string>& only,
                                      const std::vector<std::string>& all);

/// Throws InputError with all differences, ignoring small changes of memory sizes.
void require_same_machine(const FormerMeasurements& former, const MachineFacts& now);

/// `now`: id, date and facts, no cases. With --only, earlier measurements stay except those cases;
/// with --resume, finished cases stay except quick ones if a full calibration is requested. With
/// neither, all cases are measured: a complete earlier file gets another name, an unfinished one is
/// refused (InputError), so that no measurement is lost.
CalibrationPlan plan_calibration(const std::optional<FormerMeasurements>& former,
                                 const Measurements& now, const MeasureFlags& flags,
                                 const std::vector<std::string>& all);

/// Replaces the case of that name, or adds it at its place in `all`, with `today` as its date.
void store_case(Measurements& measurements, CaseRecord record, const std::string& today,
                const std::vector<std::string>& all);

std::vector<std::string> missing_cases(const Measurements& measurements,
                                       const std::vector<std::string>& all);

/// Calls measure_and_store() for one case after another, until stop(). Returns the number of
/// finished cases. If a case throws, throws an error of the same kind (InputError, InternalError,
/// or else std::runtime_error) that names the case, says that the earlier ones are kept in `file`,
/// and gives two commands: one to continue, and one to leave the case out.
std::size_t run_cases(const MeasureFlags& flags, const std::string& file,
                      const std::vector<std::string>& cases,
                      const std::function<void(const std::string& name)>& measure_and_store,
                      const std::function<bool()>& stop);

/// The command that measures `cases` with these flags.
std::string command_for(const MeasureFlags& flags, const std::vector<std::string>& cases);

/// The command that continues a calibration with `flags` that ended before `left` were measured.
std::string command_to_go_on(const MeasureFlags& flags, const std::vector<std::string>& left);

}  // namespace sluice

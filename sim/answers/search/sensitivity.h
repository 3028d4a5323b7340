// What would more of one thing gain here: device memory, link, cores, host memory, the next GPU?
// And what limits then?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// One change of the machine.
struct Upgrade {
    std::string name;               ///< "link twice as fast"
    Prediction report;              ///< with its band
    std::vector<Setting> settings;  ///< that use it, where they differ from the asked ones
    std::string successor;          ///< the resource that binds then
    double gain = 0;                ///< of tokens/s, over the base: 0.1 is a tenth more
    /// Least gain that is sure, and most: a wrong rate is wrong before and after (see
    /// sensitivity()).
    double gain_low = 0, gain_high = 0;
    /// Numbers of the profile with which the profile predicts the same step; empty where no
    /// numbers of it do.
    std::vector<Setting> machine_settings = {};
    bool sure() const { return gain_low > 0; }
};

struct Sensitivity {
    Prediction base;  ///< with its band; with the settings that are fastest of those tried
    std::vector<Setting> base_settings;     ///< of it, where they differ from the asked ones
    std::vector<Upgrade> upgrades;          ///< the largest gain first
    std::vector<std::string> not_possible;  ///< "16 GB more device memory: host and device are one"
    std::string note;                       ///< that the machine itself cannot be had, or empty
};

/// Predicts the machine as it is and with each change: 16 GB more device memory, a link twice as
/// fast, 8 more cores, host memory 25% faster, the next GPU of the library (or `gpu`, another
/// machine's). Before and after, the fastest of the asked settings and faster_with_more_memory()
/// are taken, so that memory is used; options of `fixed` stay as they are. Throws InputError where
/// the asked settings do not fit the machine.
///
/// A gain's band: each group of rates is moved to both ends of its range before and after at once,
/// and what the gain changes by is combined as in prediction_band.h; what the model leaves out
/// moves both by the same share and drops out. It does not contain errors of the rules of
/// scaled_machine.h.
Sensitivity sensitivity(const ModelSpec& model, const MachineProfile& profile,
                        const MachineSpec& machine, const TrainingSpec& training,
                        const std::string& gpu, const std::set<std::string>& fixed = {});

}  // namespace sluice

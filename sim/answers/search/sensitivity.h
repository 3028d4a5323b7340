// How much speed would more of one resource gain here: device memory, link, cores, host memory, the
// next GPU? Which limit would come next?
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

struct Upgrade {
    std::string name;   ///< "link twice as fast"
    Prediction report;  ///< with its band
    /// Settings that use the change, if they differ from the given ones.
    std::vector<Setting> settings;
    double gain = 0;  ///< of tokens/s, over the base: 0.1 is a tenth more
    /// 5 to 95% of the gain: a wrong rate is wrong before and after the change (see sensitivity()).
    double gain_low = 0, gain_high = 0;
    /// Numbers of the profile that give the same prediction; empty if none do.
    std::vector<Setting> machine_settings = {};
    bool sure() const { return gain_low > 0; }
};

struct Sensitivity {
    /// With its band, and the fastest of the tried settings; if none fit, as asked, with settings
    /// that would, and without upgrades.
    Prediction base;
    std::vector<Setting> base_settings;     ///< its settings, if they differ from the given ones
    std::vector<Upgrade> upgrades;          ///< the largest gain first
    std::vector<std::string> not_possible;  ///< "16 GB more device memory: host and device are one"
    std::string note;                       ///< that such a machine does not exist, or empty
};

enum class Plans { given, chosen };

/// Predicts the machine unchanged and with each change: 16 GB more device memory, a link twice as
/// fast, 8 more cores, host memory 25% faster, the next GPU of the library (or `gpu`, another
/// machine's). Before and after, it takes the fastest of the given settings and
/// faster_with_more_memory(), so that all memory is used, or with chosen plans the fastest plan;
/// options of `fixed` do not change. Chosen plans consider `prices` of the machine. Throws
/// InputError if the training breaks a rule.
///
/// The band of a gain: each group of rates is moved to both ends of its range before and after at
/// the same time, and the changes of the gain are combined as in prediction_band.h. Parts that the
/// model leaves out change both by the same share and cancel. The band does not contain errors of
/// the rules in scaled_machine.h.
Sensitivity sensitivity(const ModelSpec& model, const MachineProfile& profile,
                        const MachineSpec& machine, const TrainingSpec& training,
                        const std::string& gpu, const std::set<std::string>& fixed = {},
                        Plans plans = Plans::given, const PriceList& prices = {});

}  // namespace sluice

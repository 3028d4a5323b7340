#include "sim/answers/search/fastest_settings.h"

#include "sim/answers/search/advise.h"

namespace sluice {

TrainingSpec fastest_settings(const ModelSpec& model, const MachineSpec& machine,
                              const TrainingSpec& training, const std::set<std::string>& fixed) {
    AdviceRequest request;
    request.given = training;
    for (const Option& option : training_options()) {
        if (is_free_choice(option) && !fixed.contains(option.field))
            option.set(request.given, option.get(TrainingSpec{}));
        else
            request.fixed.insert(option.field);
    }
    const Advice found = advise(advice_grid(model, machine, request), request);
    return found.best ? found.best->training : training;
}

}  // namespace sluice

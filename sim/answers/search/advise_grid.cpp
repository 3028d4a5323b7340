#include "sim/answers/search/advise_grid.h"

#include <algorithm>
#include <string_view>

#include "sim/base/input_error.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"
#include "sim/specs/scenario/option_effect.h"

namespace sluice {
namespace {

constexpr std::int64_t kMostParts = 8;

std::vector<double> batches(std::int64_t most) {
    std::vector<double> out;
    for (std::int64_t power = 1; power <= most; power *= 2) {
        out.push_back(static_cast<double>(power));
        const std::int64_t middle = power + power / 2;
        if (power >= 8 && middle <= most) out.push_back(static_cast<double>(middle));
    }
    return out;
}

/// Micro-batches by the number of equal parts of the batch. A number that does not divide the batch
/// gives a micro-batch that check_training_spec() refuses.
const Option& parts_option() {
    static const Option option = [] {
        Option parts = training_option("micro_batch");
        parts.get = [](const TrainingSpec& t) { return static_cast<double>(t.micro_batches()); };
        parts.set = [](TrainingSpec& t, double value) {
            const auto count = static_cast<std::int64_t>(value);
            const std::int64_t part = t.batch_of_a_gpu();
            t.micro_batch = count == 1 ? 0 : (count > part ? part + 1 : (part + count - 1) / count);
        };
        return parts;
    }();
    return option;
}

class GridMaker {
  public:
    GridMaker(const ModelSpec& model, const MachineSpec& machine, const AdviceRequest& request)
        : model_(model), machine_(machine), request_(request) {
        grid_.models = {model};
        grid_.machines = {machine};
        grid_.base = request.given;
    }

    ScenarioGrid make() {
        if (!is_fixed("batch"))
            grid_.questions.push_back({&training_option("batch"), batches(request_.most_batch)});
        if (chooses("micro_batch")) choose(parts_option(), {1, 2, 4, kMostParts});
        choose_if("buffer_depth", {1, 2, 3});
        choose_if("recompute", recomputes());
        choose_if("keep_last_layers", kept_layers());
        choose_if("checkpoints", {0, 1});
        choose_if("checkpoint_interval", {1, 2, 4, 8});
        choose_if("state_bytes", {request_.state_bytes.begin(), request_.state_bytes.end()});
        choose_if("optimizer_threads", threads());
        grid_.rule = [asked = is_fixed("keep_last_layers")](
                         const TrainingSpec& t) -> std::optional<InputError> {
            if (asked || t.keep_last_layers == 0 || t.recompute == Recompute::full)
                return std::nullopt;
            return InputError(
                "keep_last_layers is chosen only with full recomputation; the other kinds keep "
                "something of every layer",
                "keep_last_layers");
        };
        return std::move(grid_);
    }

  private:
    bool is_fixed(const std::string& field) const { return request_.fixed.contains(field); }
    bool chooses(const std::string& field) const {
        return !is_fixed(field) && has_option(request_.given.schedule, training_option(field));
    }
    void choose(const Option& option, std::vector<double> values) {
        if (values.size() > 1)
            grid_.choices.push_back({&option, std::move(values)});
        else
            option.set(grid_.base, values.front());
    }
    void choose_if(const char* field, std::vector<double> values) {
        if (chooses(field)) choose(training_option(field), std::move(values));
    }

    std::vector<double> recomputes() const {
        std::vector<double> out;
        for (const Choice& choice : training_option("recompute").choices)
            out.push_back(choice.value);
        return out;
    }
    std::vector<double> kept_layers() const {
        std::vector<double> out = {0};
        for (const int quarter : {1, 2, 3}) {
            const double layers = model_.layer_count() * quarter / 4;
            if (layers > out.back()) out.push_back(layers);
        }
        return out;
    }
    std::vector<double> threads() const {
        TrainingSpec usual = request_.given;
        usual.optimizer_threads = 0;
        const int best = optimizer_threads(machine_, usual);
        if (best < 2) return {0};
        return {0, static_cast<double>(best / 2)};
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const AdviceRequest& request_;
    ScenarioGrid grid_;
};

}  // namespace

bool is_free_choice(const Option& option) {
    constexpr std::string_view kFixed[] = {"stream_weights", "kept_bits", "device_budget_bytes",
                                           "host_budget_bytes"};
    constexpr std::string_view kOthers[] = {"micro_batch", "passes",  "checkpoint_interval",
                                            "moments",     "offload", "offload_percent"};
    const auto is_one = [&](const auto& fields) {
        return std::ranges::find(fields, option.field) != std::end(fields);
    };
    return option.group == OptionGroup::placement ? !is_one(kFixed) : is_one(kOthers);
}

void forget_free_choices(PlannedScenario& planned) {
    for (const Option& option : training_options())
        if (is_free_choice(option)) planned.training.erase(option.field);
}

AdviceRequest advice_request(const PlannedScenario& planned) {
    AdviceRequest request;
    request.given = training_values(planned);
    for (const auto& [field, value] : planned.training) request.fixed.insert(field);
    return request;
}

ScenarioGrid advice_grid(const ModelSpec& model, const MachineSpec& machine,
                         const AdviceRequest& request) {
    if (request.fixed.contains("batch")) {
        check_training_spec(request.given);
        check_effects(model, request.given);
    }
    check_plan_inputs(model, machine, request.given);
    return GridMaker(model, machine, request).make();
}

std::vector<OptionChange> other_numbers(const AdviceRequest& request) {
    if (!request.given.schedule->ours) return {};
    constexpr auto kFp8 = static_cast<double>(Compute::fp8);
    std::vector<OptionChange> out = {{&training_option("compute"), kFp8}};
    if (request.given.compute == Compute::fp8)
        out = {{&training_option("head_gradients"), kFp8}, {&training_option("kept_bits"), 8}};
    std::erase_if(
        out, [&](const OptionChange& one) { return request.fixed.contains(one.option->field); });
    return out;
}

}  // namespace sluice

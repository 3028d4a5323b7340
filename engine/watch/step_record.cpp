#include "engine/watch/step_record.h"

#include <fmt/format.h>

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json if_any(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

constexpr const char *kValidation = "validation_loss", *kValidationByName = "validation_losses";

/// Null where no set has a name.
Json by_name(const ValidationLoss& loss) {
    Json out;
    for (const auto& [name, of_set] : loss.by_name) out[name] = of_set;
    return out;
}

}  // namespace

std::string validation_words(const ValidationLoss& loss) {
    std::string sets;
    for (const auto& [name, of_set] : loss.by_name)
        sets += fmt::format("{}{} {:.4f}", sets.empty() ? "" : ", ", name, of_set);
    return fmt::format("{:.4f}{}", loss.all, sets.empty() ? "" : fmt::format(" ({})", sets));
}

Json validation_json(const ValidationLoss& loss) {
    Json out{{kValidation, loss.all}};
    if (Json sets = by_name(loss); !sets.is_null()) out[kValidationByName] = std::move(sets);
    return out;
}

const std::vector<RecordedNumber>& recorded_numbers() {
    using R = const StepRecord&;
    static const std::vector<RecordedNumber> numbers = {
        {"step", "", [](R r) { return Json(r.step); }},
        {"time_utc", "", [](R r) { return r.time ? Json(utc_text(*r.time)) : Json(); }},
        {"tokens_seen", "", [](R r) { return Json(r.tokens_seen); }},
        {"epochs", "progress/epochs", [](R r) { return Json(r.epochs); }},
        {"loss", "loss/train", [](R r) { return Json(r.outcome.loss); }},
        {kValidation, "loss/validation",
         [](R r) { return r.validation ? Json(r.validation->all) : Json(); }},
        {kValidationByName, "loss/validation_sets",
         [](R r) { return r.validation ? by_name(*r.validation) : Json(); }},
        {"gradient_norm", "optimizer/gradient_norm",
         [](R r) { return Json(r.outcome.gradient_norm); }},
        {"clip_factor", "optimizer/clip_factor", [](R r) { return Json(r.outcome.clip_factor); }},
        {"busiest_expert", "experts/busiest",
         [](R r) {
             return r.outcome.busiest_expert > 0 ? Json(r.outcome.busiest_expert) : Json();
         }},
        {"redone", "", [](R r) { return Json(r.outcome.redone); }},
        {"ahead", "", [](R r) { return r.outcome.ahead ? Json(true) : Json(); }},
        {"corrected", "", [](R r) { return r.outcome.corrected ? Json(true) : Json(); }},
        {"spike", "", [](R r) { return r.spike ? Json(true) : Json(); }},
        {"skipped", "", [](R r) { return r.outcome.skipped ? Json(true) : Json(); }},
        {"learning_rate", "optimizer/learning_rate", [](R r) { return Json(r.learning_rate); }},
        {"step_s", "speed/step_s", [](R r) { return Json(r.seconds); }},
        {"targets", "", [](R r) { return Json(r.targets); }},
        {"tokens_per_s", "speed/tokens_per_s", [](R r) { return Json(r.tokens_per_s()); }},
        {"share_of_predicted_speed", "speed/share_of_predicted_speed",
         [](R r) { return if_any(r.plan_share); }},
        {"device_bytes", "memory/device_bytes", [](R r) { return Json(r.device); }},
        {"host_bytes", "memory/host_bytes", [](R r) { return Json(r.host); }},
        {"saving_step", "", [](R r) { return if_any(r.saving); }},
        {"held_by_saving_s", "speed/held_by_saving_s",
         [](R r) { return r.held > 0 ? Json(r.held) : Json(); }},
        {"gpu_energy_j", "energy/gpu_energy_j", [](R r) { return if_any(r.gpu_joules); }},
        {"gpu_power_w", "energy/gpu_power_w",
         [](R r) { return r.gpu_joules ? Json(*r.gpu_joules / r.seconds) : Json(); }},
    };
    return numbers;
}

std::string utc_text(std::time_t time) {
    std::tm parts{};
    gmtime_r(&time, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json step_json(const StepRecord& record) {
    Json out;
    for (const RecordedNumber& number : recorded_numbers())
        if (Json value = number.value(record); !value.is_null()) out[number.key] = std::move(value);
    return out;
}

}  // namespace sluice

#include <nlohmann/json.hpp>

#include "sim/answers/validate/published.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json memory(Bytes published, Bytes predicted, std::optional<double> error) {
    if (!error) return nullptr;
    return {{"published_bytes", published}, {"predicted_bytes", predicted}, {"error", *error}};
}

const char* speed_key(PublishedSpeed kind) {
    switch (kind) {
        case PublishedSpeed::step:
            return "step_s";
        case PublishedSpeed::tokens:
            return "tokens_per_s";
        case PublishedSpeed::tflops:
            return "tflops_6pt";
        case PublishedSpeed::forward_backward:
            return "forward_backward_s";
        case PublishedSpeed::none:
            break;
    }
    return "";
}

Json speed(const PublishedComparison& c) {
    if (c.row.speed_kind == PublishedSpeed::none) return nullptr;
    return {{"quantity", speed_key(c.row.speed_kind)},
            {"published", c.row.speed},
            {"predicted", c.predicted_speed},
            {"error", or_null(c.speed_error())}};
}

Json row_json(const PublishedComparison& c) {
    return {{"id", c.row.id},
            {"system", c.row.system},
            {"machine", c.row.machine},
            {"model", c.row.model_name},
            {"batch", c.row.training.batch},
            {"sequence", c.row.training.sequence},
            {"speed", speed(c)},
            {"device", memory(c.row.device, c.predicted_device, c.device_error())},
            {"host", memory(c.row.host, c.predicted_host, c.host_error())},
            {"fits_published", c.row.fits ? Json(*c.row.fits) : Json(nullptr)},
            {"fits_predicted", c.predicted_fits},
            {"needs_explanation", c.needs_explanation()},
            {"explanation", c.row.explanation},
            {"assumed", c.row.assumed},
            {"source", c.row.source}};
}

Json summary_json(const ErrorSummary& errors) {
    return {{"rows", errors.count},
            {"mean_absolute_error", errors.mean_absolute},
            {"worst_error", errors.worst},
            {"worst_row", errors.worst_name}};
}

}  // namespace

std::string published_json(const PublishedTable& table) {
    Json rows = Json::array(), others = Json::array();
    for (const PublishedComparison& c : table.compared) rows.push_back(row_json(c));
    for (const PublishedRow& row : table.not_compared)
        others.push_back({{"id", row.id},
                          {"system", row.system},
                          {"published", row.published},
                          {"not_compared", row.not_compared},
                          {"source", row.source}});
    const Json all = {{"rows", rows},
                      {"not_compared", others},
                      {"speed", summary_json(table.speed)},
                      {"device", summary_json(table.device)},
                      {"host", summary_json(table.host)},
                      {"fits", {{"rows", table.fits_published}, {"right", table.fits_right}}}};
    return all.dump(1) + "\n";
}

}  // namespace sluice

// How good have predictions been? Read from validation/history.json.
#include "sim/answers/decision/decision.h"
#include "sim/base/embedded_files.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

ErrorPair errors(const JsonObject& record, const char* key) {
    const JsonObject pair = record.object(key);
    pair.allow_only({"mean", "worst"});
    return {pair.number("mean", 0, 1000), pair.number("worst", 0, 1000)};
}

TrackRecord record_of(const JsonObject& record) {
    record.allow_only({"date", "profile", "runs", "tokens_per_s_error_percent",
                       "device_memory_error_percent", "host_memory_error_percent", "kendall_tau",
                       "in_band_percent"});
    TrackRecord out;
    out.date = record.text("date");
    out.profile = record.text("profile");
    out.runs = record.text("runs");
    out.tokens_per_s = errors(record, "tokens_per_s_error_percent");
    out.device = errors(record, "device_memory_error_percent");
    out.host = errors(record, "host_memory_error_percent");
    out.band_percent = record.number("in_band_percent", 0, 100);
    return out;
}

}  // namespace

std::vector<TrackRecord> read_track_records(std::string_view json) {
    const JsonObject root = JsonObject::parse(json, "validation/history.json");
    root.allow_only({"schema", "records"});
    std::vector<TrackRecord> out;
    for (const JsonObject& record : root.objects("records")) out.push_back(record_of(record));
    return out;
}

std::vector<TrackRecord> track_records() {
    return read_track_records(embedded_history().front().text);
}

}  // namespace sluice

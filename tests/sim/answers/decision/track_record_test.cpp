// Do the records of validation/history.json say how good predictions have been?
#include "sim/answers/decision/decision.h"
#include "sim/base/input_error.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"

namespace sluice {
namespace {

const std::string kRecord = R"({"date": "2026-01-02", "profile": "box", "runs": "7",
    "tokens_per_s_error_percent": {"mean": 1.5, "worst": 4},
    "device_memory_error_percent": {"mean": 0.25, "worst": 0.5},
    "host_memory_error_percent": {"mean": 2, "worst": 3},
    "kendall_tau": -0.5, "in_band_percent": 80})";

std::vector<TrackRecord> read(const std::string& records) {
    return read_track_records("{\"schema\": \"sluice.history.1\", \"records\": [" + records + "]}");
}

}  // namespace

TEST_CASE("track record: fields by name", "[decision]") {
    const std::vector<TrackRecord> records = read(kRecord + "," + kRecord);
    REQUIRE(records.size() == 2);
    const TrackRecord& first = records.front();
    CHECK(first.date == "2026-01-02");
    CHECK(first.profile == "box");
    CHECK(first.runs == "7");
    CHECK(first.tokens_per_s.mean_percent == 1.5);
    CHECK(first.tokens_per_s.worst_percent == 4);
    CHECK(first.device.mean_percent == 0.25);
    CHECK(first.host.worst_percent == 3);
    CHECK(first.band_percent == 80);
    CHECK_THAT(track_record_words(first),
               ContainsSubstring("box, 2026-01-02, held-out runs (7): error in tokens/s 1.5% on "
                                 "average, 4.0% at worst") &&
                   ContainsSubstring("80% of the steps"));
}

TEST_CASE("track record: what is missing or no number is a mistake", "[decision]") {
    for (const std::string part : {", \"in_band_percent\": 80", "\"worst\": 0.5", "-0.5"}) {
        INFO(part);
        std::string record = kRecord;
        CHECK_THROWS_AS(read(record.replace(record.find(part), part.size(), "")), InputError);
    }
}

TEST_CASE("track record: the built-in file has calibrated machines of the library", "[decision]") {
    const std::vector<TrackRecord> records = track_records();
    REQUIRE(!records.empty());
    for (const TrackRecord& record : records) {
        INFO(record.profile);
        CHECK(record.profile.starts_with("h200-pcie5-16vcpu-128gib"));
        CHECK(record.tokens_per_s.worst_percent >= record.tokens_per_s.mean_percent);
        CHECK(record.band_percent <= 100);
    }
}

}  // namespace sluice

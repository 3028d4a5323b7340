// Do the tables of hwprofiles/history.md say how good predictions have been?
#include "sim/answers/decision/track_record.h"

#include "sim/base/input_error.h"
#include "tests/catch.h"

namespace sluice {
namespace {

constexpr const char* kTable =
    "Text with a | bar.\n\n"
    "| other | table |\n| --- | --- |\n| not | read |\n\n"
    "| date | profile | runs | tokens/s mean, worst | device | host | tau | band | what |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    "| 2026-01-02 | `box` | 7 | 1.5%, 4% | 0.25%, 0.5% | 2%, 3% | -0.5 | 80% | x |\n"
    "| 2026-01-03 | `box-2` | 8 by 16 | 2%, 5% | 1%, 2% | 3%, 4% | 1 | 90% | y |\n";

std::string without(const std::string& part) {
    std::string table = kTable;
    return table.erase(table.find(part), part.size());
}

}  // namespace

TEST_CASE("track record: rows of a dated table, columns by name", "[decision]") {
    const std::vector<TrackRecord> records = read_track_records(kTable);
    REQUIRE(records.size() == 2);
    const TrackRecord& first = records.front();
    CHECK(first.date == "2026-01-02");
    CHECK(first.profile == "box");
    CHECK(first.runs == "7");
    CHECK(first.tokens_per_s.mean_percent == 1.5);
    CHECK(first.tokens_per_s.worst_percent == 4);
    CHECK(first.device.mean_percent == 0.25);
    CHECK(first.host.worst_percent == 3);
    CHECK(first.tau == -0.5);
    CHECK(first.band_percent == 80);
    CHECK(records[1].profile == "box-2");
    CHECK_THAT(track_record_words(first),
               ContainsSubstring("box, 2026-01-02, held-out runs (7): error in tokens/s 1.5% on "
                                 "average, 4.0% at worst") &&
                   ContainsSubstring("80% of the steps"));
}

TEST_CASE("track record: what is missing or no number is our mistake", "[decision]") {
    for (const char* part : {"host | ", "1.5%, ", "%, 0.5%", "-0.5"}) {
        INFO(part);
        CHECK_THROWS_AS(read_track_records(without(part)), InternalError);
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

#include <cstring>
#include <system_error>

#include "calibrate/cases/storage_file.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

namespace sluice {
namespace {

constexpr Bytes kBlock = 16 * kMiB;

}  // namespace

TEST_CASE("storage: the file is whole blocks, at most a tenth of what is free", "[cases]") {
    CHECK(storage_file_bytes(1'000'000'000'000, 2'000'000'000) == 119 * kBlock);  // 1.997 GB
    CHECK(storage_file_bytes(100 * kBlock, 2'000'000'000) == 10 * kBlock);
    CHECK(storage_file_bytes(40 * kBlock, 2'000'000'000) == 4 * kBlock);
    CHECK(storage_file_bytes(39 * kBlock, 2'000'000'000) == 0);
    CHECK(storage_file_bytes(0, 2'000'000'000) == 0);
}

TEST_CASE("storage: the tables have a row for each block and depth, and nothing stays behind",
          "[cases]") {
    const TempFolder folder;
    StorageSettings settings;
    settings.folder = folder.path();
    settings.most_bytes = 4 * kBlock;
    settings.quick = true;
    double progress = 0;
    settings.progress = [&](double share) {
        CHECK(share > progress);
        progress = share;
        CHECK(folder.names().empty());  // the file has no name meanwhile either
    };
    CaseRecord record;
    measure_storage_in(settings, record);
    REQUIRE(record.tables.size() == 2);
    CHECK(record.tables[0].name == "storage_write");
    CHECK(record.tables[1].name == "storage_read");
    for (const CaseTable& table : record.tables) {
        CHECK(table.columns ==
              std::vector<std::string>{"block_bytes", "queue_depth", "gb_per_s", "low", "high"});
        REQUIRE(table.rows.size() == 3);
        CHECK(table.rows[0][0] == 262144);
        CHECK(table.rows[2][0] == 16777216);
        for (std::size_t row = 0; row < 3; ++row) {
            CHECK(table.at(row, "gb_per_s") > 0);
            CHECK(table.at(row, "low") <= table.at(row, "gb_per_s"));
            CHECK(table.at(row, "high") >= table.at(row, "gb_per_s"));
        }
    }
    CHECK(progress == Approx(1));
    CHECK(folder.names().empty());
}

TEST_CASE("storage: a folder that is missing is a warning that names it", "[cases]") {
    StorageSettings settings;
    settings.folder = "/no/such/folder";
    CaseRecord record;
    measure_storage_in(settings, record);
    CHECK(record.tables.empty());
    REQUIRE(record.warnings.size() == 1);
    CHECK_THAT(record.warnings[0], ContainsSubstring("/no/such/folder"));
    CHECK_THAT(record.warnings[0], ContainsSubstring("No such file or directory"));
}

TEST_CASE("storage: a folder that can not be written is a warning", "[cases]") {
    StorageSettings settings;
    settings.folder = "/proc/self";  // root cannot either
    CaseRecord record;
    measure_storage_in(settings, record);
    CHECK(record.tables.empty());
    REQUIRE(record.warnings.size() == 1);
    CHECK_THAT(record.warnings[0], ContainsSubstring("storage was not measured"));
}

TEST_CASE("storage: blocks read back as they were written", "[cases]") {
    const TempFolder folder;
    const StorageFile file(folder.path());
    const RandomBlocks random(kMiB);
    for (int block = 0; block < 4; ++block) file.write(random.at(block), kMiB, block * kMiB);
    file.flush();
    const RandomBlocks space(kMiB);  // aligned memory to read into
    char* const into = const_cast<char*>(space.at(0));
    for (int block = 0; block < 4; ++block) {
        file.read(into, kMiB, block * kMiB);
        CHECK(std::memcmp(into, random.at(block), kMiB) == 0);
        CHECK(std::memcmp(into, random.at(block + 1), kMiB) != 0);
    }
    CHECK_THROWS_AS(file.read(into, kMiB, 4 * kMiB), std::system_error);
}

}  // namespace sluice

// Is every number of a profile read with its origin, and every mistake in one named?
#include "sim/specs/machine/machine_profile.h"

#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

/// small_profile() with one value replaced or added: `pointer` is /gpu/name, `text` is JSON.
json with(const char* pointer, const char* text) {
    json profile = small_profile();
    profile[json::json_pointer(pointer)] = json::parse(text);
    return profile;
}

json without(const char* parent, const char* key) {
    json profile = small_profile();
    profile[json::json_pointer(parent)].erase(key);
    return profile;
}

std::string profile_error(const json& profile) {
    return input_error_of([&] { parse_profile(profile); });
}

std::string machine_error(const std::string& what) {
    return input_error_of([&] { read_machine_profile(what); });
}

bool is_date(const std::string& date) {
    // 2026-11-21, 2026-11 or 2026
    if (date.size() != 10 && date.size() != 7 && date.size() != 4) return false;
    for (std::size_t i = 0; i < date.size(); ++i) {
        const bool dash = i == 4 || i == 7;
        if (dash ? date[i] != '-' : std::isdigit(static_cast<unsigned char>(date[i])) == 0)
            return false;
    }
    return true;
}

}  // namespace

TEST_CASE("machine profile: a number keeps its path, unit, method, source, date and note",
          "[machine]") {
    const MachineProfile profile =
        parse_profile(with("/gpu/tdp_w", R"({"value": 700, "method": "datasheet", "source": "mine",
                               "date": "2026-03", "note": "limit"})"));
    const Quantity* quantity = profile.find("gpu.tdp_w");
    REQUIRE(quantity != nullptr);
    CHECK(quantity->value == 700.0);
    CHECK(quantity->method == Method::datasheet);
    CHECK(quantity->source == "another of mine");  // the text behind the key
    CHECK(quantity->date == "2026-03");
    CHECK(quantity->note == "limit");
    CHECK(profile.find("gpu.tdp") == nullptr);
}

TEST_CASE("machine profile: a number may say what 5 and 95% of its measurements were",
          "[machine]") {
    json profile = small_profile();
    profile["gpu"]["memory_capacity_gb"]["low"] = 79.5;
    profile["gpu"]["memory_capacity_gb"]["high"] = 80;
    const MachineProfile read = parse_profile(profile);
    CHECK(read.find("gpu.memory_capacity_gb")->low == 79.5);
    CHECK(read.find("gpu.memory_capacity_gb")->high == 80.0);
    CHECK_FALSE(read.find("host.cores")->low);
    CHECK_FALSE(read.find("host.cores")->high);
}

TEST_CASE("machine profile: texts, flags, curves and nested numbers have their paths",
          "[machine]") {
    json json_profile = small_profile();
    json_profile["price"]["rent"]["Cloud A"] = measured_number(2.5);
    json_profile["link"]["other"]["by_bytes"] = measured_points({{1024, 3}, {4096, 5}});
    json_profile["host"]["unified_memory"] = true;
    json_profile["notes"] = {"first", "second"};
    const MachineProfile profile = parse_profile(json_profile);
    CHECK(profile.id == "machine");
    CHECK(profile.name == "test machine");
    CHECK(profile.text("gpu.name") == "test GPU");
    CHECK(profile.text("gpu.no_such_text").empty());
    CHECK(profile.flag("host.unified_memory"));
    CHECK_FALSE(profile.flag("host.no_such_flag"));
    REQUIRE(profile.find("price.rent.Cloud A") != nullptr);
    CHECK(profile.find("price.rent.Cloud A")->value == 2.5);
    const Curve* curve = profile.find_curve("link.other.by_bytes");
    REQUIRE(curve != nullptr);
    CHECK(curve->points == std::vector<std::vector<double>>{{1024, 3}, {4096, 5}});
    CHECK(profile.notes == std::vector<std::string>{"first", "second"});
}

TEST_CASE("machine profile: a number that is not known has no value but a reason", "[machine]") {
    const MachineProfile profile =
        parse_profile(with("/gpu/tdp_w", R"({"value": null, "method": "estimated", "source": "me",
                                             "date": "2026-01-02", "note": "not published"})"));
    REQUIRE(profile.find("gpu.tdp_w") != nullptr);
    CHECK_FALSE(profile.find("gpu.tdp_w")->value);
    CHECK(profile.find("gpu.tdp_w")->note == "not published");
}

TEST_CASE("machine profile: every mistake names the file, the field and the value", "[machine]") {
    struct Mistake {
        json profile;
        std::vector<const char*> parts;
    };
    const std::vector<Mistake> mistakes = {
        // The frame.
        {with("/schema", "\"sluice-machine/9\""),
         {"schema is \"sluice-machine/9\"", "expected \"sluice-machine/1\""}},
        {without("", "schema"), {"schema is missing"}},
        {without("", "name"), {"name is missing"}},
        {without("", "sources"), {"sources is missing"}},
        {with("/hosts", "{}"), {"unknown key \"hosts\"", "did you mean \"host\"?"}},
        {with("/something_else", "{}"), {"unknown key \"something_else\""}},
        {with("/gpu", "[]"), {"gpu is []", "object"}},
        {with("/notes", "\"text\""), {"notes is \"text\"", "list of texts"}},
        {with("/sources/me", "5"), {"sources.me is 5"}},
        // A number.
        {with("/gpu/memory_capacity_gb/value", "-80"),
         {"gpu.memory_capacity_gb.value is -80", "a number from"}},
        {with("/gpu/memory_capacity_gb/value", "0"), {"gpu.memory_capacity_gb.value is 0"}},
        {with("/gpu/memory_capacity_gb/value", "1e300"),
         {"gpu.memory_capacity_gb.value is 1e+300"}},
        {with("/gpu/memory_capacity_gb/value", "\"80\""),
         {"gpu.memory_capacity_gb.value is \"80\"", "a number"}},
        {with("/gpu/memory_capacity_gb/value", "null"),
         {"gpu.memory_capacity_gb.value is null without a note"}},
        {with("/gpu/memory_capacity_gb/source", "\"min\""),
         {"gpu.memory_capacity_gb.source is \"min\"", "sources", "did you mean \"mine\"?"}},
        {with("/gpu/memory_capacity_gb/source", "null"), {"gpu.memory_capacity_gb.source is null"}},
        {without("/gpu/memory_capacity_gb", "source"),
         {"gpu.memory_capacity_gb.source is missing"}},
        {without("/gpu/memory_capacity_gb", "date"), {"gpu.memory_capacity_gb.date is missing"}},
        {without("/gpu/memory_capacity_gb", "method"),
         {"gpu.memory_capacity_gb.method is missing"}},
        {with("/gpu/memory_capacity_gb/method", "\"guessed\""),
         {"gpu.memory_capacity_gb.method is \"guessed\"",
          "measured, transferred, datasheet or estimated"}},
        {with("/gpu/memory_capacity_gb/low", "81"), {"gpu.memory_capacity_gb.low is 81", "80"}},
        {with("/gpu/memory_capacity_gb/low", "-1"), {"gpu.memory_capacity_gb.low is -1"}},
        {with("/gpu/memory_capacity_gb/low", "79"), {"gpu.memory_capacity_gb.high is missing"}},
        {with("/gpu/memory_capacity_gb/high", "80"), {"gpu.memory_capacity_gb.low is missing"}},
        {with("/gpu/memory_capacity_gb/valeu", "1"),
         {"gpu.memory_capacity_gb", "unknown key \"valeu\"", "did you mean \"value\"?"}},
        {with("/host/cores", "8"), {"host.cores is 8"}},
        {with("/host/cores", "[8]"), {"host.cores is [8]"}},
        {with("/host/unified_memory", "\"no\""),
         {"host.unified_memory is \"no\"", "true or false"}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.profile.dump());
        const std::string message = profile_error(mistake.profile);
        CHECK_THAT(message, ContainsSubstring("my/machine.json: "));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("machine profile: every mistake in a curve names it", "[machine]") {
    struct Mistake {
        const char* points;
        std::vector<const char*> parts;
    };
    const std::vector<Mistake> mistakes = {
        {"[[4096, 5], [1024, 3]]", {"ascending"}},
        {"[]", {"is empty, expected one row or more", "leave the curve out"}},
        {"{}", {"is {}", "rows of 2"}},
        {"[1024, 3]", {"is 1024", "rows of 2"}},
        {"[[1024, 3, 7]]", {"is [1024,3,7]", "rows of 2"}},
        {"[[1024, -3]]", {"is [1024, -3], expected no negative number"}},
        {"[[-1024, 3]]", {"is [-1024, 3], expected no negative number"}},
        {"[[1024, \"3\"]]", {"is [1024,\"3\"]"}},
        {"[[1024, null]]", {"is [1024,null]"}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.points);
        json profile = small_profile();
        profile["link"]["other"]["by_bytes"] = measured_points(json::parse(mistake.points));
        const std::string message = profile_error(profile);
        CHECK_THAT(message, ContainsSubstring("my/machine.json: link.other.by_bytes.points"));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("machine profile: a curve has at least two columns", "[machine]") {
    json profile = small_profile();
    json& curve = profile["host"]["adam_gparams_per_s_by_threads"];
    curve = measured_points({json::array(), json::array()});
    curve["columns"] = json::array();
    CHECK_THAT(profile_error(profile),
               ContainsSubstring(
                   "my/machine.json: host.adam_gparams_per_s_by_threads.columns has 0 names"));
    curve = measured_points({{1}, {2}});
    curve["columns"] = {"threads"};
    CHECK_THAT(profile_error(profile), ContainsSubstring("columns has 1 names"));
}

TEST_CASE("machine profile: a curve may have the columns that it names", "[machine]") {
    json profile = small_profile();
    json curve = measured_points({{1, 10, 20}, {2, 11, 21}});
    curve["columns"] = {"threads", "in", "out"};
    profile["host"]["other"]["rates"] = curve;
    const MachineProfile read = parse_profile(profile);
    REQUIRE(read.find_curve("host.other.rates") != nullptr);
    CHECK(read.find_curve("host.other.rates")->points ==
          std::vector<std::vector<double>>{{1, 10, 20}, {2, 11, 21}});
}

TEST_CASE("machine profile: an unknown machine suggests the nearest and how to list them",
          "[machine]") {
    CHECK_THAT(machine_error("h200-sxm-pcie4"),
               ContainsSubstring("--machine") && ContainsSubstring("\"h200-sxm-pcie4\"") &&
                   ContainsSubstring("did you mean \"h200-sxm-pcie5\"?") &&
                   ContainsSubstring("sluice machines"));
    CHECK_THAT(machine_error("a-very-different-name"), !ContainsSubstring("did you mean"));
    CHECK_THAT(machine_error(""), ContainsSubstring("--machine"));
}

TEST_CASE("machine profile: a missing profile, a folder and a cut one are named", "[machine]") {
    CHECK_THAT(machine_error("/no/such/machine.json"),
               ContainsSubstring("/no/such/machine.json") && ContainsSubstring("no such file"));
    const std::string folder = std::string(SLUICE_SOURCE_DIR) + "/hwprofiles";
    CHECK_THAT(machine_error(folder),
               ContainsSubstring(folder) && ContainsSubstring("is a folder"));
    const std::string whole = small_profile().dump(2);
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        CAPTURE(length);
        CHECK_THAT(input_error_of([&] {
                       parse_machine_profile(whole.substr(0, length), "my/machine.json", "machine");
                   }),
                   ContainsSubstring("my/machine.json: line ") && ContainsSubstring("truncated"));
    }
}

TEST_CASE("machine profile: a path gives the same machine as the library's name", "[machine]") {
    const std::string path = std::string(SLUICE_SOURCE_DIR) + "/hwprofiles/h200-sxm-pcie5.json";
    const MachineProfile profile = read_machine_profile(path);
    CHECK(profile.id == "h200-sxm-pcie5");
    CHECK(profile.file == path);
    CHECK(profile.quantities.size() == read_machine_profile("h200-sxm-pcie5").quantities.size());
}

TEST_CASE("machine profile: a size behind the name is the host's memory", "[machine]") {
    const MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    CHECK(profile.id == "h200-sxm-pcie5-1.5tb");
    CHECK(profile.find("host.memory_capacity_gb")->value == 1500.0);
    CHECK(profile.find("host.memory_capacity_gb")->method == Method::estimated);
    // Everything else is that of the machine named.
    const MachineProfile plain = read_machine_profile("h200-sxm-pcie5");
    CHECK(profile.find("gpu.memory_capacity_gb")->value ==
          plain.find("gpu.memory_capacity_gb")->value);

    CHECK(read_machine_profile("rtx-4090-64gib").find("host.memory_capacity_gb")->value ==
          Approx(64 * 1.073741824));
}

TEST_CASE("machine profile: a size behind an unknown name, or no size, is an unknown machine",
          "[machine]") {
    CHECK_THAT(machine_error("h200-sxm-pcie5-1.5xb"),
               ContainsSubstring("\"h200-sxm-pcie5-1.5xb\"") &&
                   ContainsSubstring("did you mean \"h200-sxm-pcie5\"?"));
    CHECK_THAT(machine_error("h200-sxm-pcie5-0gb"), ContainsSubstring("\"h200-sxm-pcie5-0gb\""));
    CHECK_THAT(machine_error("no-such-machine-64gb"),
               ContainsSubstring("\"no-such-machine-64gb\""));
}

TEST_CASE("library machines: every number has a source and a date", "[machine]") {
    REQUIRE(library_machines().size() >= 23);
    for (const std::string& id : library_machines()) {
        CAPTURE(id);
        const MachineProfile profile = read_machine_profile(id);
        CHECK(profile.id == id);
        CHECK_FALSE(profile.name.empty());
        CHECK_FALSE(profile.quantities.empty());
        for (const Quantity& quantity : profile.quantities) {
            CAPTURE(quantity.path);
            CHECK_FALSE(quantity.source.empty());
            CHECK(is_date(quantity.date));
            CHECK((quantity.value || !quantity.note.empty()));
        }
        for (const Curve& curve : profile.curves) {
            CAPTURE(curve.path);
            CHECK_FALSE(curve.source.empty());
            CHECK(is_date(curve.date));
        }
    }
}

}  // namespace sluice

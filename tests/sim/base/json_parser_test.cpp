#include "sim/base/json_parser.h"

#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

template <typename Parse>
std::string message_of(Parse parse) {
    try {
        parse();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

/// {"0": value, "1": value, ...}
std::string object_of(int keys, const std::string& value) {
    std::string out = "{";
    for (int i = 0; i < keys; ++i)
        out += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\": " + value;
    return out + "}";
}

}  // namespace

TEST_CASE("json: all kinds of values, in the order of keys or of the text", "[model]") {
    const std::string text =
        R"({"b": [1, -2, 2.5, true, false, null, "x", {}, []], "a": {"d": 1, "c": {"e": [[0]]}}})";
    CHECK(parse_json(text, "f") == nlohmann::json::parse(text));
    CHECK(parse_json(text, "f").dump() == nlohmann::json::parse(text).dump());
    CHECK(parse_ordered_json(text, "f").dump() == nlohmann::ordered_json::parse(text).dump());
    CHECK(parse_json("3", "f") == 3);
}

TEST_CASE("json: mistakes in one sentence", "[model]") {
    const auto message = [](const std::string& text) {
        const std::string one = message_of([&] { parse_json(text, "f"); });
        CHECK(message_of([&] { parse_ordered_json(text, "f"); }) == one);
        return one;
    };
    CHECK(message(R"({"a": 1, "b": {"a": 2}, "a": 3})") ==
          "f: \"a\" is given twice in one object; keep one of them");
    CHECK(message("{\n\"a\": 1,\n}") ==
          "f: line 3: not valid JSON (unexpected character); correct the file there");
    CHECK(message("{\"a\": ") ==
          "f: line 1: not valid JSON (the text ends too early: is the file "
          "truncated?); correct the file there");
    CHECK(message("{\"a\": 1e999}") == "f: a number is too large to be read; correct the file");
    const auto nested = [](int levels) {
        return std::string(static_cast<std::size_t>(levels), '[') +
               std::string(static_cast<std::size_t>(levels), ']');
    };
    CHECK(message(nested(64)) == "no error");
    CHECK(message(nested(65)) == "f: nested deeper than 64 levels, expected a flat config");
    CHECK(message(nested(10'000'000)) == message(nested(65)));
}

// With time by the square of the keys, each of these takes more than the limit of ctest.
TEST_CASE("json: 300,000 keys of an object are read", "[model]") {
    constexpr int kKeys = 300'000;
    for (const char* value : {"{}", "1", R"({"bits": 4})"}) {
        const std::string text = R"({"all": )" + object_of(kKeys, value) + "}";
        CHECK(JsonObject::parse(text, "f").object("all").keys().size() == kKeys);
        CHECK(parse_ordered_json(text, "f")["all"].size() == kKeys);
    }
}

TEST_CASE("json: an entry is added to an ordered object behind the others", "[model]") {
    nlohmann::ordered_json object = {{"b", 1}};
    append_entry(object, "a", {1, 2});
    CHECK(object.dump() == R"({"b":1,"a":[1,2]})");
}

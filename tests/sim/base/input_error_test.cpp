// Is what a user typed shortened in a message, and the rest kept?
#include "sim/base/input_error.h"

#include <fmt/format.h>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("input error: a long name loses its middle, the sentence stays", "[base]") {
    const std::string name(100'000, 'x');
    const std::string message =
        InputError(fmt::format("--model: unknown model \"{}\"; list them", name)).what();
    CHECK(message.size() < 400);
    CHECK(message.starts_with("--model: unknown model \"xxx"));
    CHECK(message.ends_with("xxx\"; list them"));
    CHECK_THAT(message, ContainsSubstring("xxx...xxx"));
    // A path keeps its name.
    const std::string path = "/" + std::string(250, 'd') + "/" + std::string(250, 'e') + "/file";
    CHECK_THAT(InputError(path + ": no such file").what(), ContainsSubstring("e/file: no such"));
    // Words of a person may be many.
    std::string words;
    for (int i = 0; i < 50'000; ++i) words += "a ";
    CHECK(std::string(InputError(words + "is no number").what()).size() < 4100);
}

TEST_CASE("input error: letters of several bytes stay whole", "[base]") {
    for (int shift = 0; shift < 4; ++shift) {
        std::string name(static_cast<std::size_t>(shift), 'x');
        for (int i = 0; i < 1000; ++i) name += "\u00e9";
        const std::string cut = with_short_words(name);
        CHECK(cut.size() < 310);
        int inside = 0;
        for (const char c : cut) inside += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        int begun = 0;
        for (const char c : cut) begun += (static_cast<unsigned char>(c) & 0xC0U) == 0xC0U;
        CHECK(inside == begun);
    }
    CHECK(with_short_words(std::string(1000, '\xa9')) == "...");
}

TEST_CASE("input error: what is short stays as it is", "[base]") {
    const std::string plain = "--batch is \"8 x\",\n expected  a number ";
    CHECK(with_short_words(plain) == plain);
    CHECK(with_short_words("") == "");
}

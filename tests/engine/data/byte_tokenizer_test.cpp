#include "engine/data/byte_tokenizer.h"

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("byte tokenizer: every byte is a token, and decoding gives the text back", "[data]") {
    CHECK(encode_bytes("Az\n\xFF") == std::vector<std::int32_t>{65, 122, 10, 255});
    std::string all;
    for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
    CHECK(decode_bytes(encode_bytes(all)) == all);
    CHECK(decode_bytes(encode_bytes("")).empty());
}

TEST_CASE("byte tokenizer: an id that is no byte decodes to the replacement character", "[data]") {
    const std::vector<std::int32_t> tokens{65, 256, -1, 66};
    CHECK(decode_bytes(tokens) ==
          "A\xEF\xBF\xBD\xEF\xBF\xBD"
          "B");
}

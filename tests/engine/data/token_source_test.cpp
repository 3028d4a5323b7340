#include "engine/data/token_source.h"

#include <filesystem>

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// A shard with llm.c's header of 256 int32.
template <typename Id>
std::string with_header(std::int32_t magic, std::int32_t version, std::int32_t count,
                        const std::vector<Id>& ids, std::int32_t learned = 0,
                        std::int32_t documents = 0) {
    std::vector<std::int32_t> header(256, 0);
    header[0] = magic;
    header[1] = version;
    header[2] = count;
    header[3] = learned;
    header[4] = documents;
    return TempFolder::bytes_of(header) + TempFolder::bytes_of(ids);
}

std::vector<std::int32_t> all_tokens(const TokenSource& source, std::size_t shard = 0) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(source.shard(shard).tokens()));
    source.read(shard, 0, out);
    return out;
}

std::string tokens_error(const std::vector<std::string>& paths, std::int64_t vocabulary = 70'000) {
    return input_error_of([&] { open_tokens(paths, vocabulary); });
}

using Ids16 = std::vector<std::uint16_t>;
using Ids32 = std::vector<std::uint32_t>;
using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("tokens: shards without a header are uint16 or uint32 by their name", "[data]") {
    const TempFolder temp;
    const std::string narrow = temp.write_numbers("a.bin", Ids16{1, 65'535, 3});
    const std::string wide = temp.write_numbers("b.u32.bin", Ids32{65'536, 2});
    CHECK(all_tokens(open_tokens({narrow}, 70'000)) == Tokens{1, 65'535, 3});
    CHECK(all_tokens(open_tokens({wide}, 70'000)) == Tokens{65'536, 2});
}

TEST_CASE("tokens: the header of llm.c says how wide the tokens are", "[data]") {
    const TempFolder temp;
    const std::string gpt2 =
        temp.write("gpt2.bin", with_header(20240520, 1, 3, Ids16{7, 50'256, 9}));
    const std::string llama =
        temp.write("llama.bin", with_header(20240801, 7, 2, Ids32{128'000, 5}));
    const TokenSource source = open_tokens({gpt2, llama}, 128'256);
    CHECK(source.shard(0).tokens() == 3);
    CHECK(source.shard(1).tokens() == 2);
    CHECK(all_tokens(source, 0) == Tokens{7, 50'256, 9});
    CHECK(all_tokens(source, 1) == Tokens{128'000, 5});
    Tokens two(2);
    source.read(0, 1, two);
    CHECK(two == Tokens{50'256, 9});
    CHECK_THROWS_AS(source.read(0, 2, two), InternalError);
    CHECK_THROWS_AS(source.read(0, -1, two), InternalError);
}

TEST_CASE("tokens: any other file is text, a token a byte", "[data]") {
    const TempFolder temp;
    const std::string text = temp.write("poem.md", "h\xC3\xA9!");
    CHECK(all_tokens(open_tokens({text}, 256)) == Tokens{'h', 0xC3, 0xA9, '!'});
    CHECK(tokens_error({text}, 255) == text +
                                           ": text is read as one token per byte, which needs a "
                                           "vocabulary of at least 256, but the "
                                           "model's is 255; give token shards (*.bin) instead");
    const std::string array = temp.write("x.npy", std::string("\x93NUMPY\x01\0v\0", 10));
    CHECK_THAT(tokens_error({array}), ContainsSubstring("byte 7 is zero, so this is no text"));
}

TEST_CASE("tokens: a folder stands for its shards by name, or else for its texts", "[data]") {
    const TempFolder temp;
    temp.write("2.txt", "2");
    temp.write("1.md", "1");
    temp.write("notes.json", "{}");
    const TokenSource texts = open_tokens({temp.path()}, 256);
    REQUIRE(texts.shard_count() == 2);
    CHECK(all_tokens(texts, 0) == Tokens{'1'});
    CHECK(all_tokens(texts, 1) == Tokens{'2'});
    temp.write_numbers("train_b.bin", Ids16{8});
    temp.write_numbers("train_a.bin", Ids16{7});
    temp.write_numbers(".train_c.bin", Ids16{9});
    const TokenSource shards = open_tokens({temp.path()}, 10);
    REQUIRE(shards.shard_count() == 2);
    CHECK(all_tokens(shards, 0) == Tokens{7});
    CHECK(all_tokens(shards, 1) == Tokens{8});
}

TEST_CASE("tokens: a folder that mixes training and validation shards is refused", "[data]") {
    const TempFolder temp;
    temp.write_numbers("text_val_000.bin", Ids16{1});
    CHECK(open_tokens({temp.path()}, 10).shard_count() == 1);
    temp.write_numbers("text_valley_001.bin", Ids16{1});
    CHECK(tokens_error({temp.path()}) ==
          temp.path() +
              ": holds text_val_000.bin together with shards for training, which would train on "
              "the validation set; name the shards themselves");
    const TempFolder empty;
    CHECK(tokens_error({empty.path()}) == empty.path() +
                                              ": holds no .bin, .txt or .md file; name the token "
                                              "files themselves");
    CHECK_THAT(tokens_error({}), ContainsSubstring("no token files given"));
    CHECK_THAT(tokens_error({empty.path("none.bin")}), ContainsSubstring("no such file"));
}

TEST_CASE("tokens: an id outside the vocabulary is named with shard, place and value", "[data]") {
    const TempFolder temp;
    const std::string narrow = temp.write_numbers("a.bin", Ids16{1, 2, 300, 301});
    const TokenSource source = open_tokens({narrow}, 300);
    Tokens out(2);
    source.read(0, 0, out);
    CHECK(out == Tokens{1, 2});
    CHECK(input_error_of([&] { source.read(0, 1, out); }) ==
          narrow +
              ": token 2 (byte 4) is 300, expected less than the vocabulary of 300; tokenize "
              "the text with the tokenizer of this model");
    // Beyond int32, and behind a header.
    const std::string wide =
        temp.write("b.bin", with_header(20240801, 7, 2, Ids32{1, 4'294'967'295U}));
    CHECK_THAT(input_error_of([&] { all_tokens(open_tokens({wide}, 2'147'483'647)); }),
               ContainsSubstring("token 1 (byte 1028) is 4294967295, expected less than the "
                                 "vocabulary of 2147483647"));
}

TEST_CASE("tokens: a damaged shard is refused with what is wrong", "[data]") {
    const TempFolder temp;
    CHECK(tokens_error({temp.write("odd.bin", "abc")}) ==
          temp.path("odd.bin") +
              ": has 3 bytes, expected a multiple of 2 (uint16 tokens without a "
              "header); the shard is truncated or has another width");
    CHECK_THAT(tokens_error({temp.write("odd.u32.bin", "abcdef")}),
               ContainsSubstring("multiple of 4 (uint32 tokens"));
    CHECK(tokens_error({temp.write("v.bin", with_header(20240520, 2, 1, Ids16{1}))}) ==
          temp.path("v.bin") +
              ": header version is 2, expected 1 for magic number 20240520; write "
              "the shard again with the current llm.c");
    CHECK(tokens_error({temp.write("t.bin", with_header(20240801, 7, 3, Ids32{1, 2}))}) ==
          temp.path("t.bin") +
              ": has 1032 bytes, but its header says 3 tokens of 4 bytes (1036 bytes in all); the "
              "shard is damaged, download it again");
    CHECK_THAT(tokens_error({temp.write("n.bin", with_header(20240520, 1, -5, Ids16{1}))}),
               ContainsSubstring("its header says -5 tokens"));
    CHECK_THAT(tokens_error({temp.write("z.bin", with_header(20240520, 1, 0, Ids16{}))}),
               ContainsSubstring("its header says 0 tokens"));
    const std::string whole = with_header(20240520, 1, 1, Ids16{1});
    CHECK_THAT(tokens_error({temp.write("h.bin", whole.substr(0, 1000))}),
               ContainsSubstring("has 1000 bytes, expected a header of 1024 bytes"));
    CHECK_THAT(tokens_error({temp.write("e.bin", with_header(20240522, 1, 1, Ids16{1}))}),
               ContainsSubstring("an evaluation set of llm.c"));
}

TEST_CASE("tokens: a mask beside a shard says which are learned", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", Ids16{5, 6, 7, 8});
    const std::string all = open_tokens({file}, 10).fingerprint();
    temp.write("a.bin.mask", std::string("\0\1\0\1", 4));
    const TokenSource source = open_tokens({file}, 10);
    CHECK(all_tokens(source) == Tokens{5, 6, 7, 8});
    Tokens targets(3);
    source.read_targets(0, 1, targets);
    CHECK(targets == Tokens{6, -1, 8});
    CHECK(source.fingerprint() != all);
    CHECK(open_tokens({temp.path()}, 10).shard_count() == 1);
}

TEST_CASE("tokens: a mask that is a link to nothing is refused, not passed over", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", std::vector<std::uint16_t>{1, 2, 3});
    std::filesystem::create_symlink(temp.path("gone"), file + ".mask");
    CHECK(tokens_error({file}) == file +
                                      ".mask: is a link to a file that does not exist; restore "
                                      "the file, or remove the link");
    // A path that the system refuses to look at is refused in a sentence, too.
    std::filesystem::remove(file + ".mask");
    std::filesystem::create_symlink(file + ".mask", file + ".mask");
    CHECK_THAT(tokens_error({file}), ContainsSubstring("a.bin.mask: cannot be read ("));
}

TEST_CASE("tokens: a wrong mask is refused with what is wrong", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", Ids16{5, 6, 7});
    const std::string mask = temp.write("a.bin.mask", "\1\1");
    CHECK(tokens_error({file}) == mask + ": has 2 bytes, expected 3, one for each token of " +
                                      file +
                                      "; prepare both files again, or remove the mask to learn "
                                      "all tokens");
    const auto fingerprint_error = [&] {
        return input_error_of([&] { open_tokens({file}, 10).fingerprint(); });
    };
    temp.write("a.bin.mask", "\1\1\2");
    CHECK(fingerprint_error() == mask +
                                     ": byte 2 is 2, expected 1 for a token to learn or 0; "
                                     "prepare the file again");
    temp.write("a.bin.mask", std::string(3, '\0'));
    CHECK(fingerprint_error() == mask +
                                     ": all 3 bytes are 0, expected a 1 for each token to "
                                     "learn; prepare the file again");
}

TEST_CASE("tokens: a mask that belongs to a file cannot be lost", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write("a.bin", with_header(20240520, 1, 3, Ids16{5, 6, 7}, 2));
    const std::string mask = file + ".mask";
    CHECK(tokens_error({file}) ==
          file + ": says that 2 of its 3 tokens are learned, but " + mask +
              " is missing, which says which; copy it there, or prepare the data again");
    temp.write("a.bin.mask", std::string("\0\1\1", 3));
    open_tokens({file}, 10).fingerprint();
    temp.write("a.bin.mask", std::string("\1\1\1", 3));
    CHECK(input_error_of([&] { open_tokens({file}, 10).fingerprint(); }) ==
          mask + ": learns 3 tokens, but " + file +
              " says 2; one of them is of other data or damaged: copy both, or prepare the data "
              "again");
    temp.write("a.bin.mask", "\1");
    CHECK(tokens_error({file}) == mask + ": has 1 bytes, expected 3, one for each token of " +
                                      file + "; prepare both files again");
}

TEST_CASE("tokens: documents of another file are refused", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write("a.bin", with_header(20240520, 1, 3, Ids16{5, 6, 7}, 0, 2));
    temp.write_numbers("a.bin.documents", std::vector<std::int64_t>{0, 1});
    open_tokens({file}, 10, true);
    temp.write_numbers("a.bin.documents", std::vector<std::int64_t>{0, 1, 2});
    open_tokens({file}, 10);
    CHECK(input_error_of([&] { open_tokens({file}, 10, true); }) ==
          file + ".documents: has 3 documents, but " + file +
              " says 2; one of them is of other data or damaged: copy both, or prepare the data "
              "again");
}

TEST_CASE("tokens: files that are neither tokens nor text are refused by their names", "[data]") {
    const TempFolder temp;
    for (const char* name : {"a.jsonl", "A.JSONL", "a.ndjson", "a.json", "a.parquet"})
        CHECK(tokens_error({temp.write(name, "{}")}) ==
              temp.path(name) +
                  ": holds documents, not tokens; turn them into tokens with ./dev data");
    CHECK_THAT(tokens_error({temp.write("a.CSV", "a,b")}),
               ContainsSubstring("a.CSV: is a table; write each row as an object a line"));
    CHECK_THAT(tokens_error({temp.write("a.jsonl.gz", "x")}),
               ContainsSubstring("a.jsonl.gz: is compressed; unpack it first"));
}

TEST_CASE("tokens: a wrong id in any file is found before all of them are read", "[data]") {
    const TempFolder temp;
    Ids16 ids(200'000, 5);
    const std::string first = temp.write_numbers("a.bin", ids);
    open_tokens({first}, 6).check_some();
    ids.back() = 6;
    const std::string second = temp.write_numbers("b.bin", ids);
    CHECK_THAT(input_error_of([&] {
                   open_tokens({first, second}, 6).check_some();
               }),
               ContainsSubstring(second + ": token 199999 (byte 399998) is 6, expected less than"));
}

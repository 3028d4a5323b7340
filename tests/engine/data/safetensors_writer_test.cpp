#include <sys/resource.h>

#include <csignal>

#include "engine/data/checkpoint.h"
#include "engine/data/checkpoint_writer.h"
#include "tests/catch.h"
#include "tests/engine/data/file_size_limit.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// Copies the chunk asked for from `data`, the bytes of each tensor.
ProduceBytes from(const std::vector<std::string>& data) {
    return [&data](std::size_t tensor, std::int64_t begin, std::span<std::byte> chunk) {
        std::memcpy(chunk.data(), data[tensor].data() + begin, chunk.size());
    };
}

}  // namespace

TEST_CASE("safetensors writer: writes the format byte for byte", "[data]") {
    const TempFolder temp;
    const SafetensorsWriter writer({{"b", Dtype::bf16, {2}}, {"a", Dtype::f32, {1, 2}}});
    const std::vector<std::string> data = {std::string("\x80\x3f\x00\xc0", 4),
                                           std::string("\x00\x00\x00\x3f\x00\x00\x40\x40", 8)};
    writer.write(temp.path("m.safetensors"), from(data));
    // 142 bytes of JSON, padded to 144 = 0x90; a comes first, its type being wider.
    const std::string header = R"({"__metadata__":{"format":"pt"},)"
                               R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                               R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}}  )";
    std::string expected("\x90\x00\x00\x00\x00\x00\x00\x00", 8);
    expected += header;
    expected += data[1];
    expected += data[0];
    CHECK(temp.read("m.safetensors") == expected);
    CHECK(writer.file_bytes() == static_cast<std::int64_t>(expected.size()));
    CHECK(temp.names() == std::vector<std::string>{"m.safetensors"});
}

TEST_CASE("safetensors writer: names need escapes, shapes may be empty or hold a zero", "[data]") {
    const TempFolder temp;
    const SafetensorsWriter writer(
        {{"q\"\\\n\xC3\xA9", Dtype::u8, {}}, {"none", Dtype::i64, {0, 3}}, {"n", Dtype::u8, {1}}});
    const std::vector<std::string> data = {"x", "", "y"};
    writer.write(temp.path("m.safetensors"), from(data));
    const Checkpoint file = open_checkpoint(temp.path("m.safetensors"));
    CHECK(file.names() == std::vector<std::string>{"n", "none", "q\"\\\n\xC3\xA9"});
    CHECK(file.tensor("q\"\\\n\xC3\xA9").bytes[0] == std::byte{'x'});
    CHECK(file.tensor("none").shape == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("safetensors writer: asks for a tensor in chunks of at most the buffer", "[data]") {
    const TempFolder temp;
    const SafetensorsWriter writer({{"w", Dtype::u8, {200}}, {"v", Dtype::u8, {64}}});
    std::string data(264, '\0');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i);
    const std::vector<std::string> tensors = {data.substr(64), data.substr(0, 64)};
    std::vector<std::int64_t> begins;
    std::vector<std::size_t> sizes;
    const ProduceBytes produce = [&](std::size_t tensor, std::int64_t begin,
                                     std::span<std::byte> chunk) {
        begins.push_back(begin);
        sizes.push_back(chunk.size());
        from(tensors)(tensor, begin, chunk);
    };
    writer.write(temp.path("m.safetensors"), produce, 64);
    CHECK(begins == std::vector<std::int64_t>{0, 0, 64, 128, 192});  // "v" first
    CHECK(sizes == std::vector<std::size_t>{64, 64, 64, 64, 8});
    CHECK(temp.read("m.safetensors").ends_with(data));
    CHECK_THROWS_AS(writer.write(temp.path("n"), produce, 100), InternalError);
}

TEST_CASE("safetensors writer: mistakes of the program are told from those of the user", "[data]") {
    CHECK_THROWS_AS(SafetensorsWriter({{"w", Dtype::u8, {1}}, {"w", Dtype::u8, {1}}}),
                    InternalError);
    CHECK_THROWS_AS(SafetensorsWriter({{"__metadata__", Dtype::u8, {1}}}), InternalError);
    CHECK_THROWS_AS(SafetensorsWriter({{"w", Dtype::u8, {-1}}}), InternalError);
}

TEST_CASE("safetensors writer: a failed write leaves the former file and nothing else", "[data]") {
    const TempFolder temp;
    const std::string path = temp.write("m.safetensors", "former");
    const SafetensorsWriter writer({{"w", Dtype::u8, {300'000'000}}});
    const ProduceBytes zeros = [](std::size_t, std::int64_t, std::span<std::byte>) {};
    std::string message;
    {
        const FileSizeLimit limit(4096);
        message = input_error_of([&] { writer.write(path, zeros, 64); });
    }
    CHECK(message ==
          path +
              ": writing failed after 0.0 MB of 0.3 GB (File too large); raise the limit of "
              "`ulimit -f` or choose another folder");
    std::filesystem::create_symlink("/dev/full", path + ".partial");
    CHECK(input_error_of([&] { writer.write(path, zeros, 64); }) ==
          path +
              ": writing failed after 0.0 MB of 0.3 GB (No space left on device); free 0.3 GB "
              "or choose another folder");
    const ProduceBytes fails = [](std::size_t, std::int64_t, std::span<std::byte>) {
        throw InternalError("no bytes");
    };
    CHECK_THROWS_AS(writer.write(path, fails), InternalError);
    CHECK(temp.names() == std::vector<std::string>{"m.safetensors"});
    CHECK(temp.read("m.safetensors") == "former");
    CHECK_THAT(input_error_of([&] { writer.write(temp.path("no/m.safetensors"), zeros); }),
               ContainsSubstring("no/m.safetensors: cannot be created (No such file or directory), "
                                 "0.3 GB needed; check the folder's permissions or choose another "
                                 "folder"));
}

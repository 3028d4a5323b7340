#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "engine/data/checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// A safetensors file of this header, as it is, and these data.
std::string file_of(const std::string& header, const std::string& data = "") {
    return TempFolder::bytes_of(std::vector<std::uint64_t>{header.size()}) + header + data;
}

std::string message_of(const std::string& bytes) {
    const TempFolder temp;
    const std::string path = temp.write("m.safetensors", bytes);
    const std::string message = input_error_of([&] { open_checkpoint(path); });
    return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : message;
}

/// The message for a file whose one tensor "w" has these fields.
std::string message_of_tensor(const std::string& fields, const std::string& data = "") {
    return message_of(file_of(fmt::format(R"({{"w":{{{}}}}})", fields), data));
}

/// Half precision by its definition.
float half_by_definition(std::uint16_t bits) {
    const double sign = bits >> 15 == 0 ? 1 : -1;
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    if (exponent == 0) return static_cast<float>(sign * std::ldexp(fraction, -24));
    if (exponent < 31) return static_cast<float>(sign * std::ldexp(1024 + fraction, exponent - 25));
    if (fraction == 0) return static_cast<float>(sign) * std::numeric_limits<float>::infinity();
    return std::numeric_limits<float>::quiet_NaN();
}

TensorView view_of(Dtype dtype, const std::string& bytes) {
    TensorView view{"file", "w", dtype, {}, std::as_bytes(std::span(bytes))};
    view.shape = {view.elements()};
    return view;
}

}  // namespace

TEST_CASE("safetensors: reads the tensors of a file spelled out by hand", "[data]") {
    const TempFolder temp;
    // The second tensor of the header comes first in the data; one is a scalar, one is empty.
    const std::string bytes =
        file_of(R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},)"
                R"("__metadata__":{"format":"pt"},)"
                R"("a":{"data_offsets":[0,8],"shape":[1,2],"dtype":"F32"},)"
                R"("s":{"dtype":"F16","shape":[],"data_offsets":[12,14]},)"
                R"("e":{"dtype":"I64","shape":[3,0],"data_offsets":[14,14]}}   )",
                std::string("\x00\x00\x00\x3f\x00\x00\x40\x40\x80\x3f\x00\xc0\x00\x3c", 14));
    const Checkpoint file = open_checkpoint(temp.write("m.safetensors", bytes));
    CHECK(file.names() == std::vector<std::string>{"a", "b", "e", "s"});
    const TensorView a = file.tensor("a");
    CHECK(a.shape == std::vector<std::int64_t>{1, 2});
    std::vector<float> values(2);
    read_as_fp32(a, 0, 2, values.data());
    CHECK(values == std::vector<float>{0.5F, 3.0F});
    read_as_fp32(file.tensor("b"), 0, 2, values.data());
    CHECK(values == std::vector<float>{1.0F, -2.0F});
    read_as_fp32(file.tensor("b"), 1, 1, values.data());
    CHECK(values[0] == -2.0F);
    read_as_fp32(file.tensor("s"), 0, 1, values.data());
    CHECK(values[0] == 1.0F);
    CHECK(file.tensor("e").elements() == 0);
    CHECK_FALSE(file.has("c"));
}

TEST_CASE("safetensors: a tensor that is not there is named with the nearest", "[data]") {
    const TempFolder temp;
    const std::string path = temp.write(
        "m.safetensors",
        file_of(R"({"model.norm.weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
    const Checkpoint file = open_checkpoint(path);
    CHECK(input_error_of([&] { file.tensor("model.norms.weight"); }) ==
          path + ": has no tensor \"model.norms.weight\"; did you mean \"model.norm.weight\"?");
    CHECK(input_error_of([&] { file.tensor("lm_head"); }) ==
          path + ": has no tensor \"lm_head\"; give a checkpoint of this model");
}

TEST_CASE("safetensors: all half precision and bf16 numbers become fp32 exactly", "[data]") {
    std::vector<std::uint16_t> all(65'536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    const std::string bytes = TempFolder::bytes_of(all);
    std::vector<float> half(all.size()), bf16(all.size());
    read_as_fp32(view_of(Dtype::f16, bytes), 0, 65'536, half.data());
    read_as_fp32(view_of(Dtype::bf16, bytes), 0, 65'536, bf16.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
        INFO("bits " << i);
        const float expected = half_by_definition(all[i]);
        if (std::isnan(expected)) {
            REQUIRE(std::isnan(half[i]));
        } else {
            REQUIRE(std::bit_cast<std::uint32_t>(half[i]) ==
                    std::bit_cast<std::uint32_t>(expected));
        }
        REQUIRE(std::bit_cast<std::uint32_t>(bf16[i]) == all[i] * 65'536U);
    }
}

TEST_CASE("safetensors: F64 is rounded to fp32, integers and ranges outside are refused",
          "[data]") {
    const std::string bytes = TempFolder::bytes_of(std::vector<double>{0.1, -1e300, 2.0});
    std::vector<float> values(3);
    read_as_fp32(view_of(Dtype::f64, bytes), 0, 3, values.data());
    CHECK(values == std::vector<float>{0.1F, -std::numeric_limits<float>::infinity(), 2.0F});
    CHECK(input_error_of([&] { read_as_fp32(view_of(Dtype::i64, bytes), 0, 1, values.data()); }) ==
          "file: tensor \"w\" is I64, expected BF16, F16, F32 or F64; convert the checkpoint to "
          "BF16");
    const TensorView view = view_of(Dtype::f64, bytes);
    CHECK_THROWS_AS(read_as_fp32(view, 1, 3, values.data()), InternalError);
    CHECK_THROWS_AS(read_as_fp32(view, -1, 1, values.data()), InternalError);
}

TEST_CASE("safetensors: a length of the header that cannot be is refused", "[data]") {
    CHECK(message_of("abc") ==
          "has 3 bytes, expected at least 8 of a safetensors file; the file is damaged, download "
          "it again");
    const auto length = [](std::uint64_t value) {
        return TempFolder::bytes_of(std::vector<std::uint64_t>{value});
    };
    CHECK(message_of(length(3) + "{}") ==
          "has 10 bytes, but says that its header has 3; the file is truncated, download it again");
    CHECK_THAT(message_of(length(100'000'001) + "{}"),
               ContainsSubstring("its header has 100000001 bytes, expected at most 100000000"));
    CHECK_THAT(message_of(length(~std::uint64_t{0}) + "{}"),
               ContainsSubstring("its header has 18446744073709551615 bytes"));
    CHECK_THAT(message_of(length(0)), ContainsSubstring("header does not begin with a brace {;"));
    CHECK(message_of(file_of("{}      ")).empty());
}

TEST_CASE("safetensors: a header that is not what it should be is refused", "[data]") {
    CHECK_THAT(message_of(file_of(R"({"w":)")), ContainsSubstring("header is not valid JSON"));
    CHECK_THAT(message_of(file_of("{} {}")), ContainsSubstring("not valid JSON at its byte 4"));
    CHECK_THAT(message_of(file_of("{\"\xFF\":1}")), ContainsSubstring("not valid JSON"));
    CHECK_THAT(message_of(file_of("[1]")), ContainsSubstring("does not begin with a brace"));
    CHECK_THAT(message_of(file_of(R"({"w\n":1})")),
               ContainsSubstring(R"(tensor "w\n": is 1, expected an object)"));
    CHECK_THAT(message_of(file_of(R"({"__metadata__":{"k":1}})")),
               ContainsSubstring(R"("k" is 1, expected a text)"));
    const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    CHECK_THAT(message_of(file_of(fmt::format(R"({{"w":{0},"w":{0}}})", empty))),
               ContainsSubstring("tensor \"w\": occurs twice"));
    // Depth and repetition made to need much memory.
    const std::string many(100'000, '[');
    CHECK_THAT(message_of(file_of(many)), ContainsSubstring("does not begin with a brace"));
    CHECK_THAT(message_of_tensor(R"("shape":)" + many),
               ContainsSubstring("shape is a list, expected a list of whole numbers from 0"));
}

TEST_CASE("safetensors: fields that are missing, doubled or of another type are refused",
          "[data]") {
    CHECK_THAT(message_of_tensor(""), ContainsSubstring("tensor \"w\": dtype is missing"));
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","data_offsets":[0,0])"),
               ContainsSubstring("shape is missing"));
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","shape":[0])"),
               ContainsSubstring("data_offsets is missing"));
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","dtype":"I8")"),
               ContainsSubstring("\"dtype\" occurs twice"));
    CHECK_THAT(message_of_tensor(R"("size":1)"), ContainsSubstring("unknown field \"size\""));
    CHECK_THAT(message_of_tensor(R"("dtype":"BFLOAT16")"),
               ContainsSubstring("dtype is \"BFLOAT16\", expected one of BOOL, U8"));
    CHECK_THAT(message_of_tensor(R"("dtype":"BF17")"), ContainsSubstring("did you mean \"BF16\"?"));
    CHECK_THAT(message_of_tensor(R"("dtype":["BF16"])"),
               ContainsSubstring("dtype is a list, expected a text"));
    CHECK_THAT(message_of_tensor(R"("shape":4)"),
               ContainsSubstring("shape is 4, expected a list of whole numbers from 0"));
    CHECK_THAT(message_of_tensor(R"("shape":[-1])"), ContainsSubstring("shape is -1"));
    CHECK_THAT(message_of_tensor(R"("shape":[1.5])"), ContainsSubstring("shape is \"1.5\""));
    CHECK_THAT(message_of_tensor(R"("shape":[9223372036854775808])"),
               ContainsSubstring("shape is 9223372036854775808"));
    CHECK_THAT(message_of_tensor(R"("shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])"),
               ContainsSubstring("shape has more than 16 numbers"));
    CHECK_THAT(message_of_tensor(R"("data_offsets":[0])"),
               ContainsSubstring("data_offsets has 1 numbers, expected 2"));
    CHECK_THAT(message_of_tensor(R"("data_offsets":[0,1,2])"),
               ContainsSubstring("data_offsets has more than 2 numbers"));
}

TEST_CASE("safetensors: offsets must agree with dtype, shape, each other and the file", "[data]") {
    CHECK(message_of_tensor(R"("dtype":"F32","shape":[2,2],"data_offsets":[0,12])",
                            std::string(12, 'x')) ==
          "tensor \"w\": data_offsets are [0, 12], but F32 [2, 2] is 16 bytes; the file is "
          "damaged, download it again");
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","shape":[1],"data_offsets":[1,0])", "x"),
               ContainsSubstring("data_offsets are [1, 0], but U8 [1] is 1 bytes"));
    CHECK_THAT(message_of_tensor(R"("dtype":"F64","shape":[4294967296,4294967296],)"
                                 R"("data_offsets":[0,0])"),
               ContainsSubstring("more than any file holds"));
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","shape":[4],"data_offsets":[0,4])", "xyz"),
               ContainsSubstring("holds 3 bytes of data, but its header says 4; the file is "
                                 "truncated"));
    CHECK_THAT(message_of_tensor(R"("dtype":"U8","shape":[2],"data_offsets":[0,2])", "xyz"),
               ContainsSubstring("holds 3 bytes of data, but its header says 2"));
    const auto two = [](const std::string& begin, const std::string& end) {
        const std::string header =
            fmt::format(R"({{"v":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}},)"
                        R"("w":{{"dtype":"U8","shape":[2],"data_offsets":[{},{}]}}}})",
                        begin, end);
        return message_of(file_of(header, "abcd"));
    };
    CHECK(two("2", "4").empty());
    CHECK_THAT(two("1", "3"), ContainsSubstring("tensor \"w\": begins at byte 1 of the data, but "
                                                "the one before ends at 2: they overlap"));
    CHECK_THAT(two("3", "5"), ContainsSubstring("they leave a gap"));
    CHECK_THAT(two("9223372036854775805", "9223372036854775807"),
               ContainsSubstring("they leave a gap"));
}

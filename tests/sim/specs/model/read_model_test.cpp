// Which models can be named, and which messages do wrong names and files give?
#include "sim/specs/model/read_model.h"

#include <filesystem>
#include <fstream>

#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

std::string read_error(const std::string& what) {
    return input_error_of([&] { read_model(what); });
}

/// A file that lives as long as this object.
class TemporaryFile {
  public:
    TemporaryFile(const std::string& name, const std::string& text)
        : folder_(std::filesystem::temp_directory_path() / "sluice_read_model_test"),
          path_((folder_ / name).string()) {
        std::filesystem::create_directories(folder_);
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::filesystem::path folder_;
    std::string path_;
};

}  // namespace

TEST_CASE("read model: a dense shape is counted tensor by tensor", "[model]") {
    const std::string shape =
        "layers=2,hidden=64,heads=4,kv_heads=2,head_dim=16,intermediate=128,vocabulary=100";
    // A layer: norms 2 x 64, qkv (4 + 2 x 2) x 16 x 64, output 64 x 64, gate and up 2 x 128 x 64,
    // down 64 x 128 = 128 + 8192 + 4096 + 16384 + 8192 = 36992.
    const ModelSpec untied = read_model("dense:" + shape);
    CHECK(layer_parameters(untied, untied.layer(1)) == 36'992);
    // Embedding and projection 2 x 100 x 64, final norm 64.
    CHECK(total_parameters(untied) == 2 * 36'992 + 2 * 6'400 + 64);
    CHECK(untied.name == "dense:" + shape);

    CHECK(total_parameters(parse_generic_model(shape + ",tied=1")) == 2 * 36'992 + 6'400 + 64);
    CHECK(total_parameters(parse_generic_model(shape + ",tied=0")) == total_parameters(untied));
}

TEST_CASE("read model: the defaults of a dense shape are those of Llama 3.1", "[model]") {
    // heads 8192 / 128, kv_heads 8, intermediate 3.5 x 8192, vocabulary 128256, untied.
    const ModelSpec model = parse_generic_model("layers=80,hidden=8192");
    CHECK(total_parameters(model) == 70'553'706'496);  // Llama 3.1 70B
    CHECK(model.layer(0).attention.heads == 64);
    CHECK(model.layer(0).attention.kv_heads == 8);
    CHECK(model.layer(0).attention.head_dim == 128);
    CHECK(model.layer(0).feed_forward.intermediate == 28'672);
}

TEST_CASE("read model: heads that eight does not divide each get their own keys", "[model]") {
    const ModelSpec model = parse_generic_model("layers=1,hidden=1536");
    CHECK(model.layer(0).attention.heads == 12);
    CHECK(model.layer(0).attention.kv_heads == 12);
}

TEST_CASE("read model: scaled targets hold about what their names say", "[model]") {
    // 120b. A layer: norms 2 x 10240; qkv (80 + 2 x 8) heads x 128 x 10240 = 125829120;
    // output 10240 x 10240 = 104857600; feed-forward 3 x 35840 x 10240 = 1101004800;
    // together 1331712000. 88 layers, embeddings 2 x 128256 x 10240, final norm 10240.
    const ModelSpec b120 = read_model("120b");
    CHECK(layer_parameters(b120, b120.layer(0)) == 1'331'712'000);
    CHECK(total_parameters(b120) == 88 * 1'331'712'000LL + 2'626'682'880LL + 10'240);
    CHECK(total_parameters(b120) == 119'817'349'120);
    CHECK(b120.name == "120b");

    // 400b has the shape of Llama 3.1 405B.
    CHECK(total_parameters(read_model("400b")) == 405'853'388'800);
    CHECK(total_parameters(read_model("200b")) == 194'414'751'744);
    CHECK(total_parameters(read_model("1t")) == 1'028'189'476'864);
    CHECK(scaled_targets().size() == 4);
}

TEST_CASE("read model: a path gives the same model as the library's name", "[model]") {
    const std::string path = std::string(SLUICE_SOURCE_DIR) + "/models/gpt-oss-20b.json";
    const ModelSpec model = read_model(path);
    CHECK(total_parameters(model) == 20'914'757'184);
    CHECK(model.name == path);
}

TEST_CASE("read model: an unknown name suggests the nearest and how to list them", "[model]") {
    CHECK_THAT(read_error("qwen2.5-7"), ContainsSubstring("--model") &&
                                            ContainsSubstring("\"qwen2.5-7\"") &&
                                            ContainsSubstring("did you mean \"qwen2.5-7b\" or") &&
                                            ContainsSubstring("sluice models"));
    CHECK_THAT(read_error("Llama-3.1-9B"), ContainsSubstring("did you mean \"llama-3.1-8b\"?"));
    // By size, then by a part of the name.
    CHECK_THAT(read_error("70b"), ContainsSubstring("did you mean \"llama-3.1-70b\""));
    CHECK_THAT(read_error("llama-70b"), ContainsSubstring("did you mean \"llama-3.1-70b\""));
    // A series comes before other models of that size.
    CHECK_THAT(read_error("qwen2.5-999b"),
               ContainsSubstring("did you mean \"qwen2.5-72b\", \"qwen2.5-32b\" or"));
    CHECK_THAT(read_error("30b-a3b"), ContainsSubstring("did you mean \"qwen3-30b-a3b\""));
    CHECK_THAT(read_error("mixtral"), ContainsSubstring("did you mean \"mixtral-8x7b-v0.1\""));
    CHECK_THAT(
        read_error("a-very-different-name"),
        ContainsSubstring("\"a-very-different-name\"") && !ContainsSubstring("did you mean"));
    CHECK_THAT(read_error(""), ContainsSubstring("--model") && ContainsSubstring("\"\""));
}

TEST_CASE("read model: a name of the Hub that the library has not is no missing file", "[model]") {
    for (const char* name : {"zai-org/GLM-4.5-Air", "Qwen/Qwen3-8B-Base", "MiniMaxAI/MiniMax-M2",
                             "deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-3.3-70B-Instruct"}) {
        CAPTURE(name);
        CHECK_THAT(read_error(name),
                   ContainsSubstring("--model is \"" + std::string(name) +
                                     "\", which is neither a file nor a model of the library") &&
                       ContainsSubstring("config.json") && !ContainsSubstring("no such file"));
    }
    CHECK_THAT(read_error("Qwen/Qwen3-8B-Base"),
               ContainsSubstring("; models like it: qwen3-8b, qwen2.5-7b"));
    CHECK_THAT(read_error("meta-llama/Llama-3.3-70B-Instruct"), ContainsSubstring("llama-3.1-70b"));
    CHECK_THAT(read_error("deepseek-ai/DeepSeek-V3.2"),
               ContainsSubstring("did you mean \"deepseek-v3\"?"));
    CHECK_THAT(read_error("qwen3-9b"), ContainsSubstring("unknown model \"qwen3-9b\""));
    for (const char* path : {"./Qwen/Qwen3", "a/b/c", "/Qwen3", "Qwen/", "Qwen/config.json"})
        CHECK_THAT(read_error(path), ContainsSubstring("no such file"));
}

TEST_CASE("read model: a missing file, a folder and a huge file are named", "[model]") {
    CHECK_THAT(read_error("/no/such/config.json"),
               ContainsSubstring("/no/such/config.json") && ContainsSubstring("no such file"));
    CHECK_THAT(read_error("missing.json"),
               ContainsSubstring("missing.json") && ContainsSubstring("no such file"));
    const std::string folder = std::string(SLUICE_SOURCE_DIR) + "/models";
    CHECK_THAT(read_error(folder), ContainsSubstring(folder + "/config.json: no such file"));
    const TemporaryFile huge("huge.json", std::string(kMaxInputBytes + 1, ' '));
    CHECK_THAT(read_error(huge.path()),
               ContainsSubstring(huge.path()) && ContainsSubstring("larger than 16 MiB"));
}

TEST_CASE("read model: a file that is no config says what it is", "[model]") {
    const TemporaryFile list("list.json", "[1, 2]");
    CHECK_THAT(read_error(list.path()),
               ContainsSubstring(list.path()) && ContainsSubstring("[1,2]"));
    const TemporaryFile empty("empty.json", "");
    CHECK_THAT(read_error(empty.path()),
               ContainsSubstring(empty.path()) && ContainsSubstring("truncated"));
    const TemporaryFile no_type("no_type.json", R"({"hidden_size": 8})");
    CHECK_THAT(read_error(no_type.path()),
               ContainsSubstring(no_type.path()) && ContainsSubstring("model_type is missing"));
}

TEST_CASE("read model: every mistake in a dense shape names the key and the value", "[model]") {
    struct Mistake {
        const char* shape;
        std::vector<const char*> parts;
    };
    const std::vector<Mistake> mistakes = {
        {"layers=80,hiden=8192", {"\"hiden\"", "did you mean \"hidden\"?"}},
        {"layers=80", {"layers and hidden", "dense:layers=80,hidden=8192"}},
        {"", {"key=number"}},
        {"layers", {"\"layers\"", "key=number"}},
        {"layers=80,,hidden=8192", {"\"\"", "key=number"}},
        {"layers=0,hidden=8192", {"layers", "\"0\""}},
        {"layers=-2,hidden=8192", {"layers", "\"-2\""}},
        {"layers=8.5,hidden=8192", {"layers", "\"8.5\""}},
        {"layers=80,hidden=8192x", {"hidden", "\"8192x\""}},
        {"layers=80,hidden=", {"hidden", "\"\""}},
        {"layers=80,hidden=99999999999999999999", {"hidden", "\"99999999999999999999\""}},
        {"layers=80,hidden=8192,heads=64,kv_heads=7", {"kv_heads", "7", "heads (64)"}},
        {"layers=80,hidden=8192,tied=yes", {"tied", "\"yes\""}},
    };
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.shape);
        const std::string message = read_error(std::string("dense:") + mistake.shape);
        CHECK_THAT(message, ContainsSubstring("--model") && ContainsSubstring("dense"));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

TEST_CASE("read model: a dense shape too large to count is refused", "[model]") {
    // Each key is within its range; the product overflows 64 bits.
    CHECK_THAT(read_error("dense:layers=10000,hidden=1000000,heads=1000000,head_dim=1000000"),
               ContainsSubstring("--model") && ContainsSubstring("parameters"));
    CHECK_THAT(read_error("dense:layers=10000000,hidden=10000000,heads=10000000,head_dim=10000000"),
               ContainsSubstring("--model"));
}

}  // namespace sluice

#include "sim/specs/model/hub_models.h"

#include <cstdlib>
#include <map>

#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"
#include "tests/sim/specs/model/small_config.h"

using namespace sluice;

namespace {

/// These variables of the environment, and none else of those that name the cache, until it ends.
class Environment {
  public:
    explicit Environment(const std::map<std::string, std::string>& wanted) {
        for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"}) {
            if (const char* const text = std::getenv(name)) before_[name] = text;
            unsetenv(name);
        }
        for (const auto& [name, text] : wanted) setenv(name.c_str(), text.c_str(), 1);
    }
    ~Environment() {
        for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"})
            unsetenv(name);
        for (const auto& [name, text] : before_) setenv(name.c_str(), text.c_str(), 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE("hub: the cache is where Hugging Face's libraries look for it", "[model]") {
    using Variables = std::map<std::string, std::string>;
    const auto folder = [](const Variables& variables) {
        const Environment environment(variables);
        return hub_cache_folder();
    };
    CHECK(folder({{"HOME", "/h"}}) == "/h/.cache/huggingface/hub");
    CHECK(folder({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}) == "/x/huggingface/hub");
    CHECK(folder({{"HF_HOME", "/f"}, {"XDG_CACHE_HOME", "/x"}}) == "/f/hub");
    CHECK(folder({{"HF_HUB_CACHE", "/c"}, {"HF_HOME", "/f"}}) == "/c");
}

TEST_CASE("hub: a downloaded model is read under its name", "[model]") {
    const test::TemporaryFolder folder;
    const Environment environment({{"HF_HUB_CACHE", folder.path.string()}});
    CHECK_FALSE(downloaded_model("Some/Model"));
    folder.write("models--Some--Model/refs/main", "abc");
    CHECK_FALSE(downloaded_model("Some/Model"));  // the download was broken off
    const std::string config =
        folder.write("models--Some--Model/snapshots/abc/config.json", kLlama);
    CHECK(downloaded_model("Some/Model").value() + "/config.json" == config);
    CHECK(read_model("Some/Model").name == "Some/Model");
    CHECK(read_model("Some/Model").hidden == read_model(config).hidden);
    for (const char* other : {"Some/Models", "some/model/abc", "../Some/Model", "Model", ""})
        CHECK_FALSE(downloaded_model(other));
    folder.write("models--Some--Other/refs/main", "../../models--Some--Model/snapshots/abc");
    CHECK_FALSE(downloaded_model("Some/Other"));
    try {
        read_model("Some/Other");
        FAIL("it was not downloaded");
    } catch (const InputError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("download it with: hf download Some/Other;"));
    }
}

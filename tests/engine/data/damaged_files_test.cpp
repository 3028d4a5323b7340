// Damage of any kind ends in success or in one InputError, never in a crash.
#include <random>

#include "engine/data/batch_sampler.h"
#include "engine/data/checkpoint.h"
#include "engine/data/checkpoint_writer.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// Cuts the end off, changes bits, sets bytes or repeats a piece; one to four times.
std::string damaged(std::string bytes, std::mt19937_64& random) {
    const std::uint64_t times = 1 + random() % 4;
    for (std::uint64_t i = 0; i < times && !bytes.empty(); ++i) {
        const std::size_t at = random() % bytes.size();
        switch (random() % 5) {
            case 0:
                bytes.resize(at);
                break;
            case 1:
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
                break;
            case 2:  // digits and punctuation of the header become others
                bytes[at] = "0123456789-.,:[]{}\""[random() % 19];
                break;
            case 3:
                bytes[at] = static_cast<char>(random());
                break;
            case 4: {
                const std::size_t from = random() % bytes.size();
                bytes.insert(at, bytes.substr(from, random() % 40));
                break;
            }
        }
    }
    return bytes;
}

struct Outcomes {
    int successes = 0, refusals = 0;
};

/// Lets `use` read 2000 files damaged from `valid`. Anything but success or an InputError of one
/// line fails the test.
template <typename Use>
Outcomes outcomes_of(const std::string& valid, const std::string& name, Use use) {
    const TempFolder temp;
    std::mt19937_64 random(20240520);
    Outcomes outcomes;
    for (int i = 0; i < 2000; ++i) {
        const std::string path = temp.write(name, damaged(valid, random));
        try {
            use(path);
            ++outcomes.successes;
        } catch (const InputError& error) {
            const std::string message = error.what();
            REQUIRE(message.starts_with(path + ": "));
            REQUIRE(message.find('\n') == std::string::npos);
            ++outcomes.refusals;
        }
    }
    return outcomes;
}

std::string valid_safetensors() {
    const TempFolder temp;
    const SafetensorsWriter writer({{"model.embed", Dtype::bf16, {7, 3}},
                                    {"model.norm", Dtype::f32, {5}},
                                    {"model.half", Dtype::f16, {2, 2}},
                                    {"model.scale", Dtype::f64, {}}});
    writer.write(temp.path("m"), [](std::size_t, std::int64_t, std::span<std::byte> chunk) {
        std::fill(chunk.begin(), chunk.end(), std::byte{0x3C});
    });
    return temp.read("m");
}

void read_all(const Checkpoint& checkpoint) {
    for (const std::string& name : checkpoint.names()) {
        const TensorView tensor = checkpoint.tensor(name);
        std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
        read_as_fp32(tensor, 0, tensor.elements(), values.data());
    }
}

}  // namespace

TEST_CASE("damaged files: safetensors files are read or refused", "[data]") {
    const Outcomes outcomes =
        outcomes_of(valid_safetensors(), "m.safetensors",
                    [](const std::string& path) { read_all(open_checkpoint(path)); });
    CHECK(outcomes.successes > 50);
    CHECK(outcomes.refusals > 500);
}

TEST_CASE("damaged files: an index is read or refused", "[data]") {
    const TempFolder shards;
    shards.write("a", valid_safetensors());
    const std::string index = R"({"metadata":{"total_size":90},"weight_map":{"model.embed":"a",)"
                              R"("model.norm":"a","model.half":"a","model.scale":"a"}})";
    std::mt19937_64 random(1);
    Outcomes outcomes;
    // Fewer than of the others: reading a text file reserves 16 MiB, slow under AddressSanitizer.
    for (int i = 0; i < 600; ++i) {
        const std::string path = shards.write("index.json", damaged(index, random));
        try {
            read_all(open_checkpoint(path));
            ++outcomes.successes;
        } catch (const InputError&) {
            ++outcomes.refusals;
        }
    }
    CHECK(outcomes.successes > 5);
    CHECK(outcomes.refusals > 100);
}

TEST_CASE("damaged files: token shards are read or refused", "[data]") {
    std::vector<std::int32_t> header(256, 0);
    header[0] = 20240520;
    header[1] = 1;
    header[2] = 400;
    const std::string valid = TempFolder::bytes_of(header) +
                              TempFolder::bytes_of(std::vector<std::uint16_t>(400, 0x1234));
    const Outcomes outcomes = outcomes_of(valid, "tokens.bin", [](const std::string& path) {
        BatchSampler sampler(open_tokens({path}, 50'257), 4, 16, 1);
        for (std::int64_t i = 0; i < sampler.windows_per_epoch(); i += 4) sampler.next();
    });
    CHECK(outcomes.successes > 50);
    CHECK(outcomes.refusals > 500);
}

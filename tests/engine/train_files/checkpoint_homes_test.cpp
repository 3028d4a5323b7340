// Do the files of a checkpoint depend on where sections are, and may the precision change?
#include <fmt/format.h>

#include "engine/optimizer/moment_conversion.h"
#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

TEST_CASE("checkpoint: the same files from all homes, and sections may change theirs",
          "[train_files]") {
    constexpr unsigned kAll = 0b1111;
    const TrainingState state{1, 16, 5, "{}"};
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        for (const unsigned resident : {0b0001U, 0b0100U, 0b1011U, kAll}) {
            const TempFolder temp;
            TinyStore host(tiny_model(), state_bytes), mixed(tiny_model(), state_bytes, resident),
                other(tiny_model(), state_bytes, kAll ^ resident);
            CAPTURE(state_bytes, resident);
            host.fill(1);
            mixed.fill(1);
            save_checkpoint(temp.path("host"), host.model, host.store, state, 1);
            save_checkpoint(temp.path("mixed"), mixed.model, mixed.store, state, 1);
            for (const char* stem : {"model", "optimizer"}) {
                const std::string name = fmt::format("/step-00000001/{}.safetensors", stem);
                CHECK((temp.read("mixed" + name) == temp.read("host" + name)));
            }
            load_checkpoint(temp.path("mixed/step-00000001"), other.model, other.store);
            CHECK((other.bytes() == mixed.bytes()));
        }
    }
}

TEST_CASE("checkpoint: a state of another precision is converted, upper planes stay",
          "[train_files]") {
    const TrainingState state{1, 16, 5, "{}"};
    for (const int from : {12, 8, 6, 5, 4}) {
        for (const int to : {12, 8, 6, 5, 4}) {
            const TempFolder temp;
            TinyStore saved(tiny_model(), from), loaded(tiny_model(), to, 0b0101),
                expected(tiny_model(), to);
            saved.store.initialise(3, 0.02F);
            std::mt19937 random(4);
            for (int section = 0; section < saved.store.sections(); ++section) {
                const ParameterBlock& block = saved.store.block(section);
                TinyStore exact(tiny_model());  // fp32 moments
                const ParameterBlock& fp32 = exact.store.block(section);
                for (std::int64_t i = 0; i < block.count; ++i) {
                    const float x = static_cast<float>(random() % 1000) / 1e5F;
                    static_cast<float*>(fp32.first_moment)[i] = x - 5e-3F;
                    static_cast<float*>(fp32.second_moment)[i] = x * x;
                }
                convert_moments(fp32, block);
                const ParameterBlock& wanted = expected.store.block(section);
                std::copy_n(block.high, block.count, wanted.high);
                convert_low_planes(block, wanted);
                if (from != to) convert_moments(block, wanted);
            }
            save_checkpoint(temp.path(), saved.model, saved.store, state, 1);
            const TrainingState found =
                load_checkpoint(temp.path("step-00000001"), loaded.model, loaded.store);
            CAPTURE(from, to);
            CHECK(found.state_bytes == from);
            CHECK((loaded.bytes() == (from == to ? saved : expected).bytes()));
        }
    }
}

// Do the files of a checkpoint depend on where sections are?
#include <fmt/format.h>

#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

TEST_CASE("checkpoint: the same files from all homes, and sections may change theirs",
          "[train_files]") {
    constexpr unsigned kAll = 0b1111;
    const TrainingState state{1, 16, 5, "{}"};
    for (const int state_bytes : {12, 8, 6}) {
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

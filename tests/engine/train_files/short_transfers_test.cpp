// Is a checkpoint whole where the system transfers only parts of what it is asked for?
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <span>

#include "engine/data/files.h"
#include "engine/train/training_checkpoint.h"
#include "sim/base/mixed_bits.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

/// While it exists, write() and pread() of this program transfer a part, or are interrupted.
class ShortTransfers {
  public:
    explicit ShortTransfers(std::uint64_t seed) : seed_(seed) { now = this; }
    ~ShortTransfers() { now = nullptr; }
    ShortTransfers(const ShortTransfers&) = delete;
    ShortTransfers& operator=(const ShortTransfers&) = delete;

    /// How many of `size` bytes the next call transfers; 0: it is interrupted.
    std::size_t part_of(std::size_t size, int& cut) {
        const std::uint64_t bits = mixed_bits(seed_ + ++calls_);
        if (bits % 4 == 0) return size;
        ++cut;
        return bits % 4 == 1 ? 0 : (bits >> 8) % size;
    }

    static inline ShortTransfers* now = nullptr;
    int cut_writes = 0, cut_reads = 0;

  private:
    std::uint64_t seed_, calls_ = 0;
};

template <class Function>
Function* of_the_system(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program's own definitions come before the system's.
extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
    static auto* const whole = of_the_system<ssize_t(int, const void*, size_t)>("write");
    if (ShortTransfers* const cut = ShortTransfers::now; cut != nullptr && size > 1) {
        size = cut->part_of(size, cut->cut_writes);
        if (size == 0) return errno = EINTR, -1;
    }
    return whole(descriptor, data, size);
}

extern "C" ssize_t pread(int descriptor, void* data, size_t size, off_t begin) {
    static auto* const whole = of_the_system<ssize_t(int, void*, size_t, off_t)>("pread");
    if (ShortTransfers* const cut = ShortTransfers::now; cut != nullptr && size > 1) {
        size = cut->part_of(size, cut->cut_reads);
        if (size == 0) return errno = EINTR, -1;
    }
    return whole(descriptor, data, size, begin);
}

TEST_CASE("training checkpoint: reads and writes that are cut short lose nothing") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        INFO(seed);
        const TempFolder out;
        TinyStore saved(tiny_model()), loaded(tiny_model());
        saved.fill(seed);
        ShortTransfers transfers(seed << 32);
        save_checkpoint(out.path(), saved.model, saved.store, {7, 112, 5, "{}"}, 2);
        const std::optional<std::string> newest = newest_checkpoint(out.path());
        REQUIRE(newest);
        const TrainingState state = load_checkpoint(*newest, loaded.model, loaded.store);
        CHECK(state.step == 7);
        CHECK((loaded.bytes() == saved.bytes()));
        CHECK(transfers.cut_writes > 10);
        // Tensors are mapped; tokens are read.
        const ReadFile file(*newest + "/model.safetensors");
        std::string whole(static_cast<std::size_t>(file.size()), '\0'), parts = whole;
        std::ifstream(*newest + "/model.safetensors").read(whole.data(), file.size());
        for (int time = 0; time < 10; ++time) {
            parts.assign(parts.size(), '\0');
            file.read(0, std::as_writable_bytes(std::span(parts)));
            CHECK((parts == whole));
        }
        CHECK(transfers.cut_reads > 10);
    }
}

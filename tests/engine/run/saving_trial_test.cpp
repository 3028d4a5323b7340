// Is what is saved while the next steps run the state after the step, bit for bit, and do these
// steps end as if nothing were saved?
#include <fmt/format.h>

#include <random>
#include <thread>

#include "engine/train/state_snapshot.h"
#include "tests/engine/memory_blocks.h"
#include "tests/engine/run/order_trial.h"

using namespace sluice;

namespace {

constexpr Bytes kSmallPiece = 256;

std::vector<StoredTensor> tensors_to_save(const ParameterStore& store) {
    std::vector<StoredTensor> tensors = weight_tensors(store);
    for (StoredTensor& tensor : optimizer_tensors(store)) tensors.push_back(std::move(tensor));
    return tensors;
}

/// All bytes of these tensors, through `read` in chunks of some pieces.
class SavedState {
  public:
    explicit SavedState(std::vector<StoredTensor> tensors) : tensors_(std::move(tensors)) {}

    bool done() const { return tensor_ == tensors_.size(); }
    /// Adds the next chunk.
    void add(const ReadState& read) {
        constexpr std::size_t kChunk = 3 * kSmallPiece;
        const StoredTensor& tensor = tensors_[tensor_];
        const std::size_t all = static_cast<std::size_t>(tensor_bytes(tensor.spec));
        std::vector<std::byte> chunk(std::min(kChunk, all - at_));
        read(tensor.section, tensor.data + at_, chunk);
        bytes_.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        at_ += chunk.size();
        if (at_ < all) return;
        at_ = 0;
        ++tensor_;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::vector<StoredTensor> tensors_;
    std::size_t tensor_ = 0, at_ = 0;
    std::string bytes_;
};

std::string state_now(const ParameterStore& store) {
    SavedState state(tensors_to_save(store));
    while (!state.done()) state.add(reader_of(store));
    return state.bytes();
}

/// A run that saves after each step but the last, with room for all copies. The reader reads a
/// chunk where the seed says so, between operations of the steps.
std::string run_saving_trial(std::uint64_t seed, bool waits) {
    const TrialSubject subject = trial_subject(seed);
    const auto device = std::make_shared<LateDevice>(seed);
    std::mt19937_64 random(seed);
    TinyStart start = start_on(device);
    std::unique_ptr<StateSnapshot> snapshot;
    std::unique_ptr<SavedState> saved;
    const ReadState read = [&](int section, const std::byte* from, std::span<std::byte> to) {
        snapshot->read(section, from, to);
    };
    start.choose = [&, choose = start.choose](std::span<const Lane> ready, bool must_wait) {
        if (saved && !saved->done() && random() % 4 == 0) saved->add(read);
        return choose(ready, must_wait);
    };
    TinyTraining tiny(subject.model, subject.training, subject.activations,
                      static_cast<int>(subject.training.state_bytes), 1000, start);
    ThreadPool pool(1);
    constexpr Bytes kRoomForAll = Bytes{16} << 20;
    snapshot =
        std::make_unique<StateSnapshot>(tiny.store(), kRoomForAll, pool, *device, kSmallPiece);
    if (waits) tiny.step().before_update([&](int section) { snapshot->keep(section); });
    std::string expected;
    for (int step = 0; step < kTrialSteps; ++step) {
        subject.run_step(tiny, step);
        if (step + 1 == kTrialSteps) continue;
        tiny.finish();
        while (saved && !saved->done()) saved->add(read);
        if (saved) snapshot->close();
        if (saved && saved->bytes() != expected)
            return fmt::format("seed {}, {}: what was saved after step {} is not its state", seed,
                               subject.text(), step);
        expected = state_now(tiny.store());
        saved = std::make_unique<SavedState>(tensors_to_save(tiny.store()));
        snapshot->open(tensors_to_save(tiny.store()));
        snapshot->copy_resident();
    }
    tiny.finish();
    while (!saved->done()) saved->add(read);
    if (saved->bytes() != expected) return fmt::format("seed {}: the last save differs", seed);
    return state_of_tensors(tiny.store()) == plain_result(seed).state
               ? ""
               : fmt::format("seed {}: the run ends in another state", seed);
}

bool is_saving_subject(std::uint64_t seed) {
    const TrialSubject subject = trial_subject(seed);
    return !subject.spoiled && subject.evaluated == 0;
}

}  // namespace

TEST_CASE("saving: what is read while 100 plans go on is the state before, in every order",
          "[run]") {
    int trials = 0;
    for (std::uint64_t seed = 0; trials < 100; ++seed) {
        if (!is_saving_subject(seed)) continue;
        ++trials;
        CHECK(run_saving_trial(seed, true) == "");
    }
}

TEST_CASE("saving: an optimizer that does not wait is found within 10 plans", "[run]") {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        if (is_saving_subject(seed)) found += run_saving_trial(seed, false).empty() ? 0 : 1;
    std::printf("saving: an optimizer that does not wait: %d of 10 plans\n", found);
    CHECK(found > 0);
}

namespace {

struct SavedRun {
    std::string end;
    std::vector<std::string> saved, expected;
};

/// A run on threads that saves after each of 4 steps with room for `copies` pieces; `saves` or not.
SavedRun run_and_read(const TrainingSpec& training, Bytes copies, bool saves, std::uint64_t seed) {
    TinyTraining tiny(tiny_model(true), training, DType::fp32,
                      static_cast<int>(training.state_bytes));
    ThreadPool other_pool(1);
    const std::shared_ptr<Device> device = make_cpu_device(1);
    StateSnapshot snapshot(tiny.store(), copies * kSmallPiece, other_pool, *device, kSmallPiece);
    tiny.step().before_update([&](int section) { snapshot.keep(section); });
    std::mt19937_64 random(seed);
    SavedRun run;
    for (int step = 0; step < 4; ++step) {
        tiny.finish();
        std::thread reader;
        SavedState saved(tensors_to_save(tiny.store()));
        if (saves) {
            run.expected.push_back(state_now(tiny.store()));
            const bool has_room = snapshot.open(tensors_to_save(tiny.store()));
            CHECK(has_room == (copies == 10'000));
            reader = std::thread([&] {
                while (!saved.done()) {
                    if (random() % 32 == 0)
                        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
                    saved.add([&](int section, const std::byte* from, std::span<std::byte> to) {
                        snapshot.read(section, from, to);
                    });
                }
                snapshot.close();
            });
            snapshot.copy_resident();
        }
        tiny.run(step % 2 == 0 ? 0.5 : 1e9);
        if (!saves) continue;
        reader.join();
        run.saved.push_back(saved.bytes());
    }
    tiny.finish();
    run.end = tiny.state();
    return run;
}

}  // namespace

TEST_CASE("saving: with little memory for copies, steps wait and nothing changes", "[run]") {
    std::uint64_t seed = 0;
    for (const Clipping clipping : {Clipping::exact, Clipping::speculative}) {
        for (const int resident : {0, 2}) {
            TrainingSpec training = tiny_training();
            training.clipping = clipping;
            training.resident_layers = resident;
            training.resident_tables = resident > 0 ? ResidentTables::both : ResidentTables::none;
            const std::string end = run_and_read(training, 0, false, 0).end;
            for (const Bytes copies : {0, 1, 40, 10'000}) {
                CAPTURE(resident, copies);
                const SavedRun run = run_and_read(training, copies, true, ++seed);
                CHECK((run.saved == run.expected));
                CHECK((run.end == end));
            }
        }
    }
}

TEST_CASE("saving: a reader that stops lets steps go on", "[run]") {
    TinyTraining tiny(tiny_model(), tiny_training());
    ThreadPool pool(1);
    const std::shared_ptr<Device> device = make_cpu_device(1);
    StateSnapshot snapshot(tiny.store(), 2 * kSmallPiece, pool, *device, kSmallPiece);
    tiny.step().before_update([&](int section) { snapshot.keep(section); });
    tiny.run();
    tiny.finish();
    for (int save = 0; save < 3; ++save) {
        snapshot.open(tensors_to_save(tiny.store()));
        std::thread reader([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            snapshot.close();
        });
        tiny.run();
        tiny.finish();
        reader.join();
    }
    std::byte one{};
    CHECK_THROWS_AS(snapshot.read(0, weight_tensors(tiny.store()).front().data, {&one, 1}),
                    std::runtime_error);
}

TEST_CASE("saving: a section does not change while its last piece is being read", "[run]") {
    constexpr Bytes kLongPiece = Bytes{64} << 20;  // so that reading one takes some milliseconds
    const ModelSpec model =
        parse_generic_model("layers=1,hidden=64,heads=2,intermediate=64,vocabulary=100000");
    constexpr std::byte kUnread{77};
    ThreadPool pool(1);
    const std::shared_ptr<Device> device = make_cpu_device(1);
    MemoryBlocks memory(model, 12);
    ParameterStore store(model, memory.blocks(), memory.on_device(), nullptr, pool, *device);
    store.initialise(1, 1);
    const int section = store.embedding();
    std::vector<StoredTensor> tensors = tensors_to_save(store);
    std::erase_if(tensors, [&](const StoredTensor& one) {
        return one.section != section || one.spec.dtype != Dtype::f32;
    });
    StateSnapshot snapshot(store, 0, pool, *device, kLongPiece);
    for (int round = 0; round < 10; ++round) {
        CAPTURE(round);
        std::vector<std::vector<std::byte>> expected, found;
        for (const StoredTensor& one : tensors)
            expected.emplace_back(one.data, one.data + tensor_bytes(one.spec));
        found = expected;
        for (std::vector<std::byte>& bytes : found) std::fill(bytes.begin(), bytes.end(), kUnread);
        snapshot.open(tensors);
        std::thread reader([&] {
            for (std::size_t i = 0; i < tensors.size(); ++i)
                snapshot.read(section, tensors[i].data, found[i]);
            snapshot.close();
        });
        snapshot.keep(section);
        // Where the reader of the last piece comes late; memcpy() begins with both ends.
        const std::int64_t late = tensor_bytes(tensors.back().spec) / 8 * 7;
        tensors.back().data[late] = static_cast<std::byte>(round);
        reader.join();
        CHECK((found == expected));
    }
}

#include "engine/memory/parameter_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/plan/schedules/streamed.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/memory_blocks.h"

using namespace sluice;

namespace {

ModelSpec small_model(const char* family, bool tied) {
    ModelSpec model = parse_generic_model(
        "layers=2,hidden=72,heads=3,kv_heads=1,head_dim=10,intermediate=150,vocabulary=301");
    model.family = family;
    model.tied_embeddings = tied;
    model.kinds.front().attention.qkv_bias = model.family == "qwen2";
    model.kinds.front().attention.qk_norm = model.family == "qwen3";
    return model;
}

struct Host {
    Host(const ModelSpec& model, int state_bytes, int threads)
        : memory(model, state_bytes),
          pool(threads),
          store(model, memory.blocks(), memory.on_device(), nullptr, pool, *device) {}

    float value(const NamedTensor& tensor, std::int64_t i) const {
        return master_of(store.block(tensor.section), tensor.offset + i);
    }
    bool decays(int section, std::int64_t element) const {
        for (const DecayRange& range : store.decay_ranges(section))
            if (range.begin <= element && element < range.end) return range.decay;
        FAIL("no range has the element");
        return false;
    }

    MemoryBlocks memory;
    ThreadPool pool;
    std::unique_ptr<Device> device = make_cpu_device(1);
    ParameterStore store;
};

bool same_values(const ParameterStore& a, const ParameterStore& b) {
    for (int section = 0; section < a.sections(); ++section) {
        const ParameterBlock &x = a.block(section), &y = b.block(section);
        const auto count = static_cast<std::size_t>(x.count);
        const std::size_t low = count * static_cast<std::size_t>(x.precision().low_bytes);
        if (std::memcmp(x.high, y.high, kBf16 * count) != 0) return false;
        if (low > 0 && std::memcmp(x.low, y.low, low) != 0) return false;
    }
    return true;
}

/// Ranges cover the block in order, without a gap.
void check_cover(const std::vector<DecayRange>& ranges, std::int64_t count, std::int64_t multiple) {
    std::int64_t end = 0;
    for (const DecayRange& range : ranges) {
        CHECK(range.begin == end);
        CHECK(range.end > range.begin);
        CHECK((range.end % multiple == 0 || range.end == count));
        end = range.end;
    }
    CHECK(end == count);
}

}  // namespace

TEST_CASE("parameter store: norms and biases do not decay, every element of a matrix does",
          "[memory]") {
    for (const char* family : {"qwen2", "qwen3", "llama"}) {
        for (const int state_bytes : {12, 8}) {
            const Host h(small_model(family, false), state_bytes, 2);
            CAPTURE(family, state_bytes);
            for (int section = 0; section < h.store.sections(); ++section)
                check_cover(h.store.decay_ranges(section), h.store.block(section).count, 1);
            for (const NamedTensor& tensor : h.store.tensors()) {
                const bool matrix = !tensor.is_norm && !tensor.is_bias;
                CAPTURE(tensor.name);
                for (const std::int64_t i : {std::int64_t{0}, tensor.elements() - 1})
                    CHECK(h.decays(tensor.section, tensor.offset + i) == matrix);
            }
        }
    }
}

TEST_CASE(
    "parameter store: with 8-bit moments decay changes at whole blocks, within one of the tensor",
    "[memory]") {
    for (const char* family : {"qwen2", "qwen3", "llama"}) {
        const Host h(small_model(family, false), 6, 2);
        for (int section = 0; section < h.store.sections(); ++section)
            check_cover(h.store.decay_ranges(section), h.store.block(section).count, kMomentBlock);
        for (const NamedTensor& tensor : h.store.tensors()) {
            if (tensor.elements() < 2 * kMomentBlock) continue;
            CAPTURE(family, tensor.name);
            CHECK(h.decays(tensor.section, tensor.offset + kMomentBlock) ==
                  (!tensor.is_norm && !tensor.is_bias));
        }
    }
}

TEST_CASE("parameter store: the first values depend on the seed and not on the threads",
          "[memory]") {
    const ModelSpec model = small_model("qwen2", false);
    Host one(model, 12, 1), three(model, 12, 3), other(model, 12, 3);
    one.store.initialise(5, 0.02F);
    three.store.initialise(5, 0.02F);
    other.store.initialise(6, 0.02F);
    CHECK(same_values(one.store, three.store));
    CHECK_FALSE(same_values(one.store, other.store));
}

TEST_CASE(
    "parameter store: first values have mean 0 and the deviation asked for; norms 1, biases 0",
    "[memory]") {
    constexpr double kDeviation = 0.02;
    for (const bool tied : {false, true}) {
        Host h(small_model("qwen2", tied), 12, 2);
        h.store.initialise(1, static_cast<float>(kDeviation));
        for (const NamedTensor& tensor : h.store.tensors()) {
            CAPTURE(tensor.name);
            const auto n = static_cast<double>(tensor.elements());
            double sum = 0, squares = 0;
            for (std::int64_t i = 0; i < tensor.elements(); ++i) {
                const double value = h.value(tensor, i);
                sum += value;
                squares += value * value;
            }
            if (tensor.is_norm || tensor.is_bias) {
                CHECK(sum == (tensor.is_norm ? n : 0));
                CHECK(squares == sum);
                continue;
            }
            // Five times what n values of that deviation stray by.
            CHECK(std::abs(sum / n) < 5 * kDeviation / std::sqrt(n));
            CHECK(std::abs(squares / n / (kDeviation * kDeviation) - 1) < 5 * std::sqrt(2 / n));
        }
    }
}

TEST_CASE("parameter store: two tensors of one shape do not begin alike", "[memory]") {
    Host h(small_model("llama", false), 12, 2);
    h.store.initialise(1, 0.02F);
    const std::vector<NamedTensor>& tensors = h.store.tensors();
    for (std::size_t a = 0; a < tensors.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (tensors[a].is_norm || tensors[b].is_norm) continue;
            CAPTURE(tensors[a].name, tensors[b].name);
            const bool alike = h.value(tensors[a], 0) == h.value(tensors[b], 0) &&
                               h.value(tensors[a], 1) == h.value(tensors[b], 1);
            CHECK_FALSE(alike);
        }
    }
}

TEST_CASE("parameter store: takes the bytes a parameter that its precision says", "[memory]") {
    const ModelSpec model =
        parse_generic_model("layers=2,hidden=256,heads=2,kv_heads=1,vocabulary=1000,tied=1");
    const auto parameters = static_cast<double>(total_parameters(model));
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        const Host h(model, state_bytes, 2);
        TrainingSpec training;
        training.state_bytes = state_bytes;
        const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
        const auto planned = [&](BufferId id) {
            return static_cast<double>(
                plan.step.memory.buffers[static_cast<std::size_t>(id)].bytes);
        };
        const double each =
            (planned(plan.buffers.host.weights) + planned(plan.buffers.host.states)) / parameters;
        // 8-bit moments have two fp32 scales for 128 parameters: 1/16 byte each.
        const bool scaled = state_bytes <= 6;
        const double expected = state_bytes + (scaled ? 2 * 4.0 / kMomentBlock : 0);
        CAPTURE(state_bytes);
        CHECK(each == Approx(expected).epsilon(0.001));
        for (int section = 0; section < h.store.sections(); ++section) {
            CHECK(h.store.block(section).state_bytes == state_bytes);
            CHECK((h.store.block(section).first_scale != nullptr) == scaled);
        }
    }
}

TEST_CASE("parameter store: no array of a section meets another", "[memory]") {
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        for (const bool tied : {false, true}) {
            const Host h(small_model("qwen3", tied), state_bytes, 2);
            const Bytes moment = state_precision(state_bytes).moment_bytes;
            std::vector<std::pair<const char*, Bytes>> arrays;
            const auto add = [&](const void* begin, Bytes bytes) {
                if (begin != nullptr) arrays.emplace_back(static_cast<const char*>(begin), bytes);
            };
            for (int section = 0; section < h.store.sections(); ++section) {
                const ParameterBlock& b = h.store.block(section);
                const Bytes scales = (b.count + kMomentBlock - 1) / kMomentBlock * kFp32;
                add(b.high, kBf16 * b.count);
                add(b.low, b.precision().low_bytes * b.count);
                add(b.first_moment, moment * b.count);
                add(b.second_moment, moment * b.count);
                add(b.first_scale, scales);
                add(b.second_scale, scales);
            }
            std::sort(arrays.begin(), arrays.end());
            for (std::size_t i = 1; i < arrays.size(); ++i)
                CHECK(arrays[i - 1].first + arrays[i - 1].second <= arrays[i].first);
        }
    }
}

namespace {

/// A store all of whose sections but the first are on the device.
struct OnDevice {
    OnDevice(const ModelSpec& model, int state_bytes)
        : memory(model, state_bytes),
          store(model, memory.blocks(), memory.on_device(~1U), memory.staging(), pool, *device) {}

    MemoryBlocks memory;
    ThreadPool pool{2};
    std::unique_ptr<Device> device = make_cpu_device(1);
    ParameterStore store;
};

}  // namespace

TEST_CASE("parameter store: sections on the device get the values that they get on the host",
          "[memory]") {
    ModelSpec model = small_model("qwen2", false);
    model.vocabulary = 60'013;  // its table is longer than a piece
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        Host host(model, state_bytes, 2);
        OnDevice other(model, state_bytes);
        host.store.initialise(5, 0.02F);
        other.store.initialise(5, 0.02F);
        CHECK(same_values(host.store, other.store));
        CHECK_FALSE(other.store.on_device(0));
        CHECK(other.store.on_device(other.store.embedding()));
        CHECK(other.store.block(1).state_bytes == state_bytes);
    }
}

TEST_CASE("parameter store: bytes that are written are read, in both homes", "[memory]") {
    ModelSpec model = small_model("qwen2", false);
    model.vocabulary = 200'003;
    OnDevice on_device(model, 8);
    for (const int section : {0, 1, on_device.store.embedding()}) {
        const ParameterBlock& block = on_device.store.block(section);
        std::vector<std::byte> bytes(static_cast<std::size_t>(2 * block.count)), back(bytes.size());
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i * i + i / 977);
        auto* const moment = static_cast<std::byte*>(block.first_moment);
        on_device.store.write(section, moment, bytes);
        CHECK((std::memcmp(moment, bytes.data(), bytes.size()) == 0));
        on_device.store.read(section, moment, back);
        CHECK((back == bytes));
    }
}

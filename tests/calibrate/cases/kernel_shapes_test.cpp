#include "calibrate/cases/kernel_shapes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr std::array kRoles = {GemmRole::forward, GemmRole::input_gradient,
                               GemmRole::weight_gradient};
const ShapeLimits kGpu{true, 7e13, false};
const ShapeLimits kCpu{false, 4e9, false};

std::vector<ShapeSize> part(const KernelShapes& shapes, bool held_out) {
    std::vector<ShapeSize> out;
    for (const KernelShape& shape : shapes)
        if (shape.held_out == held_out) out.push_back(shape.size);
    return out;
}

double distance(const ShapeSize& a, const ShapeSize& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = std::log2(std::max(0.5, double(a[i])) / std::max(0.5, double(b[i])));
        sum += d * d;
    }
    return std::sqrt(sum);
}

double nearest(const ShapeSize& size, const std::vector<ShapeSize>& others) {
    double least = 1e9;
    for (const ShapeSize& other : others) least = std::min(least, distance(size, other));
    return least;
}

}  // namespace

TEST_CASE("even spread: the middle, then what halves the distances, then a far end") {
    const auto chosen = spread_evenly({{1}, {2}, {4}, {8}, {16}, {32}, {32}, {64}}, 3);
    REQUIRE(chosen.size() == 3);
    CHECK(chosen[0] == ShapeSize{8});
    CHECK(chosen[2] == (chosen[1] < ShapeSize{8} ? ShapeSize{64} : ShapeSize{1}));
    CHECK(spread_evenly({{1}, {2}, {4}, {8}, {16}, {16}}, 99).size() == 5);
    CHECK(spread_evenly({}, 3).empty());
}

TEST_CASE("even spread: choosing more goes on from the first few") {
    std::vector<ShapeSize> grid;
    for (std::int64_t a = 1; a <= 64; a *= 2)
        for (std::int64_t b = 1; b <= 64; b *= 2) grid.push_back({a, b});
    const auto few = spread_evenly(grid, 5), more = spread_evenly(grid, 12);
    CHECK(std::equal(few.begin(), few.end(), more.begin()));
    for (const ShapeSize& size : grid) CHECK(nearest(size, more) < 2);
}

TEST_CASE("kernel shapes: largest products are powers of 4, so that machines of a kind agree") {
    CHECK(flops_limit(650e12, 0.1) == std::pow(2.0, 46));
    CHECK(flops_limit(560e12, 0.1) == std::pow(2.0, 46));
    CHECK(flops_limit(80e9, 0.05) == std::pow(2.0, 32));
}

TEST_CASE("kernel shapes: those held out are the layers of Qwen2.5-3B, 14B and 72B") {
    const std::vector<LayerSizes> layers = held_out_layers(true);
    const char* const files[] = {"qwen2.5-3b", "qwen2.5-14b", "qwen2.5-72b"};
    REQUIRE(layers.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const ModelSpec model =
            read_model(std::string(SLUICE_SOURCE_DIR "/models/") + files[i] + ".json");
        const LayerSpec& layer = model.kinds.front();
        CHECK(layers[i].hidden == model.hidden);
        CHECK(layers[i].heads == layer.attention.heads);
        CHECK(layers[i].kv_heads == layer.attention.kv_heads);
        CHECK(layers[i].head_dim == layer.attention.head_dim);
        CHECK(layers[i].intermediate == layer.feed_forward.intermediate);
        CHECK(layers[i].vocabulary == model.vocabulary);
    }
}

TEST_CASE("kernel shapes: products to fit bracket those held out and have none of their layers") {
    for (const ShapeLimits& limits : {kGpu, kCpu}) {
        std::size_t held_out_count = 0;
        for (const GemmRole role : kRoles) {
            const KernelShapes shapes = gemm_shapes(role, limits);
            const auto fit = part(shapes, false), held_out = part(shapes, true);
            held_out_count += held_out.size();
            CHECK(fit.size() == (limits.is_gpu ? 105U : 25U));
            CHECK(std::set<ShapeSize>(fit.begin(), fit.end()).size() == fit.size());
            // The layer's two widths: all sizes but the tokens.
            const std::size_t tokens = role == GemmRole::weight_gradient ? 2 : 0;
            const auto widths = [&](const ShapeSize& size) {
                return std::pair(size[tokens == 0 ? 1 : 0], size[tokens == 0 ? 2 : 1]);
            };
            std::set<std::pair<std::int64_t, std::int64_t>> unseen;
            for (const ShapeSize& size : held_out) unseen.insert(widths(size));
            for (const ShapeSize& size : fit) CHECK(unseen.count(widths(size)) == 0);
            for (std::size_t i = 0; i < 3; ++i) {
                const auto by_size = [i](const ShapeSize& a, const ShapeSize& b) {
                    return a[i] < b[i];
                };
                const auto [low, high] = std::minmax_element(fit.begin(), fit.end(), by_size);
                const auto [least, most] =
                    std::minmax_element(held_out.begin(), held_out.end(), by_size);
                CHECK((*low)[i] < (*least)[i]);
                // Without a GPU the largest are dropped for their time.
                if (limits.is_gpu) CHECK(double((*high)[i]) > 0.95 * double((*most)[i]));
            }
            for (const ShapeSize& size : held_out) CHECK(nearest(size, fit) < 2.5);
        }
        CHECK(held_out_count >= (limits.is_gpu ? 45U : 30U));
    }
}

TEST_CASE("kernel shapes: no product exceeds the limit") {
    for (const GemmRole role : kRoles) {
        for (const KernelShape& shape : gemm_shapes(role, {true, 1e11, false}))
            CHECK(2.0 * double(shape.size[0]) * double(shape.size[1]) * double(shape.size[2]) <=
                  1e11);
    }
}

TEST_CASE("kernel shapes: forward adds to attention output and down, weight gradients to half") {
    const auto added = [](const KernelShapes& shapes) {
        return std::count_if(shapes.begin(), shapes.end(),
                             [](const KernelShape& s) { return s.size[3] == 1; });
    };
    for (const KernelShape& shape : gemm_shapes(GemmRole::forward, kGpu)) {
        if (!shape.held_out) continue;
        const bool narrow = shape.size[1] == 2048 || shape.size[1] == 5120 || shape.size[1] == 8192;
        CHECK(shape.size[3] == (narrow ? 1 : 0));
    }
    CHECK(added(gemm_shapes(GemmRole::input_gradient, kGpu)) == 0);
    const auto gradients = gemm_shapes(GemmRole::weight_gradient, kGpu);
    CHECK(added(gradients) > std::int64_t(gradients.size()) / 4);
    CHECK(added(gradients) < std::int64_t(gradients.size()) * 3 / 4);
}

TEST_CASE("kernel shapes: attention has other heads than those held out") {
    const KernelShapes shapes = attention_shapes(kGpu);
    const auto fit = part(shapes, false), held_out = part(shapes, true);
    CHECK(fit.size() == 30);
    CHECK(held_out.size() >= 10);
    std::set<std::int64_t> head_dims;
    bool grouped = false, alone = false;
    for (const ShapeSize& size : fit) {
        head_dims.insert(size[4]);
        grouped |= size[2] != size[3];
        alone |= size[2] == size[3];
        CHECK(size[0] * size[1] >= 1024);
        CHECK(size[0] * size[1] <= 32768);
        for (const ShapeSize& other : held_out)
            CHECK_FALSE(std::equal(size.begin() + 2, size.end(), other.begin() + 2));
    }
    CHECK(head_dims == std::set<std::int64_t>{64, 128});
    CHECK(grouped);
    CHECK(alone);
    for (const ShapeSize& size : held_out) CHECK(nearest(size, fit) < 2.5);
}

TEST_CASE("kernel shapes: each memory-bound kernel has three held out, of the 14B") {
    for (int work = 1; work <= static_cast<int>(MemoryBoundWork::round_to_bf16); ++work) {
        for (const ShapeLimits& limits : {kGpu, kCpu}) {
            const KernelShapes shapes =
                memory_bound_shapes(static_cast<MemoryBoundWork>(work), limits);
            const auto fit = part(shapes, false), held_out = part(shapes, true);
            CHECK(held_out.size() == 3);
            CHECK(fit.size() == (limits.is_gpu ? 18U : 6U));
            for (const ShapeSize& size : held_out)
                CHECK(std::find(fit.begin(), fit.end(), size) == fit.end());
        }
    }
    const auto norms = part(memory_bound_shapes(MemoryBoundWork::head_norm, kGpu), true);
    CHECK(std::count(norms.begin(), norms.end(), ShapeSize{2048, 6144}) == 1);
}

TEST_CASE("kernel shapes: quick is a tenth, still with shapes held out") {
    const ShapeLimits quick{true, 7e13, true};
    for (const GemmRole role : kRoles) {
        const KernelShapes shapes = gemm_shapes(role, quick);
        CHECK(part(shapes, false).size() == 10);
        CHECK(part(shapes, true).size() >= 4);
    }
    const KernelShapes norms = memory_bound_shapes(MemoryBoundWork::rms_norm, quick);
    CHECK(part(norms, false).size() == 4);
    CHECK(part(norms, true).size() >= 1);
}

#include "engine/optimizer/adamw.h"

#include <cstdio>
#include <limits>

#include "engine/optimizer/adamw_implementation.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/optimizer/test_parameters.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr double kTolerance = 1e-6;
constexpr int kSteps = 10;

struct Gradients {
    bool bf16 = true, fp32 = false;
    std::vector<std::uint16_t> in_bf16{};
    std::vector<float> in_fp32{};

    void draw(std::size_t count, unsigned seed) {
        in_fp32 = normal_values(count, 0.01F, seed);
        in_bf16.clear();
        for (const float value : normal_values(count, 0.1F, seed + 1))
            in_bf16.push_back(to_bf16(value));
    }
    GradientRange range() const {
        return {bf16 ? in_bf16.data() : nullptr, fp32 ? in_fp32.data() : nullptr};
    }
    double at(std::size_t i) const {
        return (bf16 ? double{from_bf16(in_bf16[i])} : 0) + (fp32 ? double{in_fp32[i]} : 0);
    }
};

AdamWStep test_step(int t) {
    AdamWStep step;
    step.learning_rate = 3e-3F / static_cast<float>(t);
    step.step = t;
    step.gradient_scale = t % 3 == 0 ? 0.25F : 1.0F;
    step.seed = 7;
    return step;
}

/// Ten steps against float64. Returns the largest difference of a master as a share of the
/// tolerance: kTolerance x (|p| + the sum of the learning rates so far, how far a parameter can
/// move).
double share_of_tolerance(ThreadPool& pool, std::size_t count, Gradients gradients) {
    const std::vector<float> masters = normal_values(count, 0.02F, 1);
    Parameters parameters(masters, 12);
    ReferenceAdamW reference(masters);
    const auto all = static_cast<std::int64_t>(count);
    const std::vector<DecayRange> ranges = {
        {0, all / 3, true}, {all / 3, all / 2, false}, {all / 2, all, true}};
    double worst = 0, moved = 0;
    for (int t = 1; t <= kSteps; ++t) {
        gradients.draw(count, 100 + 2 * static_cast<unsigned>(t));
        const AdamWStep step = test_step(t);
        moved += static_cast<double>(step.learning_rate);
        adamw(pool, UpdatePass::update, step, parameters.block(), ranges, gradients.range());
        for (std::size_t i = 0; i < count; ++i) {
            const bool decay = i < count / 3 || i >= count / 2;
            reference.update(step, i, decay, gradients.at(i));
            const double difference = std::abs(double{parameters.master(i)} - reference.p[i]);
            worst = std::max(worst, difference / (kTolerance * (std::abs(reference.p[i]) + moved)));
        }
    }
    CHECK(parameters.guards_untouched());
    return worst;
}

}  // namespace

TEST_CASE("adamw: ten steps follow float64 for odd sizes, decay ranges and kinds of gradient",
          "[optimizer]") {
    ThreadPool pool(2);
    double worst = 0;
    for (const std::size_t count : {std::size_t{1}, std::size_t{15}, std::size_t{17},
                                    std::size_t{1000}, std::size_t{1000003}})
        for (const bool bf16 : {true, false})
            for (const bool fp32 : {true, false}) {
                if (count > 1000 && bf16 == fp32) continue;
                CAPTURE(count, bf16, fp32);
                const double share = share_of_tolerance(pool, count, {bf16, fp32});
                CHECK(share < 1);
                worst = std::max(worst, share);
            }
    std::printf("adamw 12 bytes (%s): %.2f of tolerance %g\n", adamw_implementations().front().name,
                worst, kTolerance);
}

TEST_CASE("adamw: a first step by hand", "[optimizer]") {
    // m = 0.1 x 0.5, v = 0.05 x 0.25, both corrected to 0.5 and 0.25: the step is lr x 0.5 / 0.5.
    Parameters parameters({1.0F}, 12);
    AdamWStep step;
    step.learning_rate = 0.01F;
    step.weight_decay = 0.5F;
    const float gradient = 0.5F;
    const DecayRange all = {0, 1, true};
    ThreadPool pool(1);
    adamw(pool, UpdatePass::update, step, parameters.block(), {&all, 1}, {nullptr, &gradient});
    CHECK(parameters.first_moment(0) == Approx(0.05));
    CHECK(parameters.second_moment(0) == Approx(0.0125));
    CHECK(parameters.master(0) == Approx(1 - 0.01 * 0.5 - 0.01).epsilon(1e-6));
}

TEST_CASE("adamw: all instruction sets give the same bits in every pass", "[optimizer]") {
    const auto implementations = adamw_implementations();
    REQUIRE(std::string(implementations.back().name) == "portable");
    // Gradients from denormals to the largest with finite squares, zeros among them.
    const std::size_t count = 5003;
    std::vector<float> gradients = normal_values(count, 1, 3);
    for (std::size_t i = 0; i < count; ++i)
        gradients[i] *= std::pow(10.0F, static_cast<float>(static_cast<int>(i % 57) - 39));
    for (std::size_t i = 0; i < count; i += 7) gradients[i] = 0;
    for (const int bytes : {12, 8, 6, 5, 4}) {
        std::vector<Parameters> results;
        for (const AdamWImplementation& implementation : implementations) {
            Parameters& parameters = results.emplace_back(normal_values(count, 0.02F, 1), bytes);
            for (int t = 1; t <= 3; ++t)
                for (const auto pass : {UpdatePass::update, UpdatePass::rewind, UpdatePass::redo}) {
                    AdamWStep step = test_step(t);
                    step.gradient_scale = pass == UpdatePass::redo ? 0.25F : 1.0F;
                    adamw_range_by(implementation, pass, step, parameters.block(), 0, count, true,
                                   {nullptr, gradients.data()});
                }
            CAPTURE(bytes, implementation.name);
            CHECK(parameters.guards_untouched());
            CHECK(parameters == results.front());
        }
    }
}

TEST_CASE("adamw: parameters and then moments give the bits of a whole update", "[optimizer]") {
    const std::size_t count = (std::size_t{1} << 20) + 20003;  // a tail, and two segments
    Gradients gradients;
    gradients.draw(count, 5);
    const auto run = [&](Parameters& on, const AdamWImplementation& by, UpdatePass pass, int t) {
        adamw_range_by(by, pass, test_step(t), on.block(), 0, on.block().count, true,
                       gradients.range());
    };
    for (const int bytes : {12, 8})
        for (const AdamWImplementation& by : adamw_implementations()) {
            CAPTURE(bytes, by.name);
            Parameters whole(normal_values(count, 0.02F, 1), bytes), parts = whole;
            for (int t = 1; t <= 3; ++t) {
                run(whole, by, UpdatePass::update, t);
                const Parameters before = parts;
                run(parts, by, UpdatePass::parameters, t);
                CHECK(parts.first == before.first);
                CHECK(parts.second == before.second);
                const Parameters moved = parts;
                run(parts, by, UpdatePass::moments, t);
                CHECK(parts.high == moved.high);
                CHECK(parts.low == moved.low);
                CHECK(parts == whole);
            }
            CHECK(parts.guards_untouched());
        }
    Parameters scaled(normal_values(300, 1, 1), 6);
    CHECK_THROWS_AS(run(scaled, adamw_implementations().front(), UpdatePass::moments, 1),
                    InternalError);
}

TEST_CASE("adamw: results depend neither on threads nor on how elements are divided",
          "[optimizer]") {
    const std::size_t count = (std::size_t{1} << 20) + 20003;  // beyond one segment of random bits
    const std::vector<float> masters = normal_values(count, 0.02F, 1);
    const std::vector<float> gradients = normal_values(count, 0.02F, 2);
    const DecayRange all = {0, std::int64_t(count), true};
    ThreadPool pool(3);
    for (const int bytes : {8, 6, 5, 4}) {
        Parameters at_once(masters, bytes), divided(masters, bytes);
        adamw_range(UpdatePass::update, test_step(1), at_once.block(), 0, all.end, true,
                    {nullptr, gradients.data()});
        adamw(pool, UpdatePass::update, test_step(1), divided.block(), {&all, 1},
              {nullptr, gradients.data()});
        CHECK(at_once == divided);
        Parameters other_seed(masters, bytes);
        AdamWStep step = test_step(1);
        step.seed = 8;
        adamw(pool, UpdatePass::update, step, other_seed.block(), {&all, 1},
              {nullptr, gradients.data()});
        CHECK_FALSE(at_once == other_seed);
    }
}

TEST_CASE("adamw: moments of parameters without gradients end at zero, not in denormals",
          "[optimizer]") {
    Parameters parameters(normal_values(100, 0.02F, 1), 12);
    const std::vector<float> gradients(100, 1e-15F);
    AdamWStep step;
    adamw_range(UpdatePass::update, step, parameters.block(), 0, 100, true,
                {nullptr, gradients.data()});
    CHECK(parameters.second_moment(50) > 0);
    for (step.step = 2; step.step < 900; ++step.step)
        adamw_range(UpdatePass::update, step, parameters.block(), 0, 100, true, {});
    CHECK(parameters.first_moment(50) == 0);
    CHECK(parameters.second_moment(50) == 0);
}

TEST_CASE("adamw: wrong options of the user name the option, its value and what is expected",
          "[optimizer]") {
    Parameters parameters({1.0F}, 12);
    const auto run = [&](auto change) {
        AdamWStep step;
        change(step);
        adamw_range(UpdatePass::update, step, parameters.block(), 0, 1, true, {});
    };
    CHECK_THROWS_AS(run([](AdamWStep& s) { s.beta1 = -0.5F; }), InputError);
    CHECK_THROWS_WITH(run([](AdamWStep& s) { s.beta2 = 1.5F; }),
                      ContainsSubstring("beta2 is 1.5, expected at least 0 and below 1"));
    CHECK_THROWS_WITH(run([](AdamWStep& s) { s.epsilon = 0; }),
                      ContainsSubstring("epsilon is 0, expected a finite number above 0"));
    CHECK_THROWS_WITH(run([](AdamWStep& s) { s.learning_rate = -1; }),
                      ContainsSubstring("learning_rate is -1"));
    CHECK_THROWS_WITH(run([](AdamWStep& s) { s.weight_decay = 2000; }),
                      ContainsSubstring("weight_decay is 2000"));
    CHECK(parameters.master(0) == 1.0F);
}

TEST_CASE("adamw: calls that can not be right are refused", "[optimizer]") {
    Parameters parameters(normal_values(300, 1, 1), 6);
    const ParameterBlock block = parameters.block();
    const auto range = [&](std::int64_t begin, std::int64_t end, AdamWStep step = {}) {
        adamw_range(UpdatePass::update, step, block, begin, end, true, {});
    };
    CHECK_NOTHROW(range(128, 300));
    CHECK_THROWS_AS(range(64, 300), InternalError);
    CHECK_THROWS_AS(range(0, 200), InternalError);
    CHECK_THROWS_AS(range(0, 301), InternalError);
    AdamWStep step;
    step.step = 0;
    CHECK_THROWS_AS(range(0, 300, step), InternalError);
    step.step = 1;
    step.gradient_scale = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(range(0, 300, step), InternalError);
    ThreadPool pool(1);
    const auto cover = [&](std::vector<DecayRange> ranges) {
        adamw(pool, UpdatePass::update, {}, block, ranges, {});
    };
    CHECK_NOTHROW(cover({{0, 128, true}, {128, 300, false}}));
    CHECK_THROWS_AS(cover({{0, 128, true}}), InternalError);
    CHECK_THROWS_AS(cover({{0, 128, true}, {256, 300, true}}), InternalError);
    ParameterBlock wrong = block;
    wrong.state_bytes = 10;
    CHECK_THROWS_AS(adamw_range(UpdatePass::update, {}, wrong, 0, 300, true, {}), InternalError);
}

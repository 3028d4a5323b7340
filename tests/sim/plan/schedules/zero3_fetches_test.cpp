// Which parameters ZeRO-3 copies in and drops, and which gradients leave together, by hand.
#include "sim/plan/schedules/zero3.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

using List = std::vector<int>;

// Three modules of 10 elements each, forward and back.
ParameterFetches there_and_back(std::int64_t live) {
    return ParameterFetches(
        {10, 10, 10}, {{0}, {1}, {2}, {2}, {1}, {0}},
        {.prefetch_bucket = 10, .live = live, .reuse_distance = 15, .persistence_threshold = 0});
}

void check_call(ParameterFetches& fetches, const List& missing, const List& prefetched,
                const List& released) {
    const ParameterFetches::Call call = fetches.next();
    CHECK(call.missing == missing);
    CHECK(call.prefetched == prefetched);
    CHECK(call.released == released);
}

}  // namespace

TEST_CASE("zero3: a module's parameters go when they are not used soon, the next come meanwhile",
          "[plan]") {
    ParameterFetches fetches = there_and_back(1000);
    check_call(fetches, {0}, {1}, {0});
    check_call(fetches, {}, {2}, {1});
    check_call(fetches, {}, {1}, {});  // 2 is used next and stays; 1, dropped before, comes again
    check_call(fetches, {}, {0}, {2});
    check_call(fetches, {}, {}, {1});
    check_call(fetches, {}, {}, {0});
}

TEST_CASE("zero-infinity: experts that are read together take a buffer for each tensor", "[plan]") {
    const auto out_of = [](int buffers) {
        ParameterFetches fetches({10}, {{0}}, {}, {{true}, buffers, {384}});
        fetches.next();
        return fetches.out_of_buffers();
    };
    CHECK(out_of(383));
    CHECK_FALSE(out_of(384));
}

TEST_CASE("zero3: with no room for live parameters nothing is prefetched", "[plan]") {
    ParameterFetches fetches = there_and_back(10);
    check_call(fetches, {0}, {}, {0});
    check_call(fetches, {1}, {}, {1});
    check_call(fetches, {2}, {}, {});
    check_call(fetches, {}, {}, {2});
    check_call(fetches, {1}, {}, {1});
    check_call(fetches, {0}, {}, {0});
}

TEST_CASE("zero3: a bucket leaves before the tensor that would not fit into it", "[plan]") {
    GradientBucket filling;
    CHECK_FALSE(filling.add(150e6, 3, 200e6));
    CHECK_FALSE(filling.add(40e6, 4, 200e6));
    const auto full = filling.add(20e6, 5, 200e6);
    REQUIRE(full);
    CHECK(full->elements == 190e6);
    CHECK(full->last == 4);
    // Joined in bf16, the larger tensor back in bf16 and in fp64.
    CHECK(full->device_bytes(true) == 2 * 190e6 + 2 * 150e6 + 8 * 150e6);
    CHECK(filling.elements == 20e6);
}

TEST_CASE("zero3: a tensor larger than the bucket leaves alone, outside of it", "[plan]") {
    GradientBucket filling;
    CHECK_FALSE(filling.add(500e6, 1, 200e6));
    const auto full = filling.add(1000, 2, 200e6);
    REQUIRE(full);
    CHECK(full->elements == 500e6);
    // Itself, back in bf16, then 250 million elements at a time in fp64 or all in fp32.
    CHECK(full->device_bytes(true) == 2 * 500e6 + 2 * 500e6 + 4 * 500e6);
}

TEST_CASE("zero-infinity: parameters are read before they are copied, the next ahead", "[plan]") {
    // As above, through two buffers of host memory.
    ParameterFetches fetches(
        {10, 10, 10}, {{0}, {1}, {2}, {2}, {1}, {0}},
        {.prefetch_bucket = 10, .live = 1000, .reuse_distance = 0, .persistence_threshold = 0},
        {{true, true, true}, 2});
    ParameterFetches::Call call = fetches.next();
    CHECK(call.read_first == List{0});
    CHECK(call.missing == List{0});
    CHECK(call.missing_wait);
    CHECK(call.prefetched.empty());  // on storage still: what is read ahead is prefetched next
    CHECK(call.read_ahead == List{1});
    CHECK(call.released == List{0});
    call = fetches.next();
    CHECK(call.read_first.empty());
    CHECK(call.missing == List{1});
    CHECK(call.missing_wait);
    CHECK(call.read_ahead == List{2});
    call = fetches.next();
    CHECK(call.missing == List{2});
    CHECK_FALSE(fetches.out_of_buffers());
}

TEST_CASE("zero-infinity: a module of three parameters fails with two buffers", "[plan]") {
    ParameterFetches fetches({10, 10, 10}, {{0, 1, 2}}, {}, {{true, true, true}, 2});
    fetches.next();
    CHECK(fetches.out_of_buffers());
}

#include "sim/base/short_vector.h"

#include <utility>
#include <vector>

#include "tests/catch.h"

using namespace sluice;

namespace {

using Numbers = ShortVector<int, 3>;

std::vector<int> all(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

TEST_CASE("plan: a short list keeps its elements in place and beyond") {
    for (const int count : {0, 1, 3, 4, 9}) {
        CAPTURE(count);
        std::vector<int> expected;
        Numbers numbers;
        for (int i = 0; i < count; ++i) numbers.push_back(i), expected.push_back(i);
        CHECK(all(numbers) == expected);
        CHECK(Numbers(expected) == numbers);
        CHECK(numbers.empty() == expected.empty());

        Numbers copy = numbers;
        copy.push_front(-1);
        CHECK(copy.front() == -1);
        CHECK(copy.size() == expected.size() + 1);
        CHECK(all(numbers) == expected);
        CHECK_FALSE(copy == numbers);

        Numbers moved = std::move(copy);
        CHECK(copy.empty());
        copy = {7, 8};
        moved.append(copy);
        CHECK(moved.back() == 8);
        moved.erase_if([](int one) { return one < 0 || one > 6; });
        std::erase_if(expected, [](int one) { return one > 6; });
        CHECK(all(moved) == expected);
        numbers = moved;
        CHECK(numbers == moved);
        numbers.clear();
        CHECK(numbers == Numbers());
    }
}

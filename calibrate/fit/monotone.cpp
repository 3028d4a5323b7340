#include "calibrate/fit/monotone.h"

namespace sluice {
namespace {

struct Block {
    double mean = 0, weight = 0;
    std::size_t count = 0;
};

Block pooled(const Block& a, const Block& b) {
    const double weight = a.weight + b.weight;
    return {(a.mean * a.weight + b.mean * b.weight) / weight, weight, a.count + b.count};
}

}  // namespace

std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights,
                             Monotone direction) {
    const double sign = direction == Monotone::increasing ? 1 : -1;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < values.size(); ++i) {
        blocks.push_back({values[i], weights[i], 1});
        while (blocks.size() > 1 &&
               sign * blocks[blocks.size() - 2].mean > sign * blocks.back().mean) {
            const Block last = blocks.back();
            blocks.pop_back();
            blocks.back() = pooled(blocks.back(), last);
        }
    }
    std::vector<double> result;
    for (const Block& block : blocks) result.insert(result.end(), block.count, block.mean);
    return result;
}

}  // namespace sluice

#include "engine/memory/arena_layout.h"

#include <algorithm>
#include <random>

namespace sluice {
namespace {

struct Item {
    std::size_t buffer = 0;
    Bytes bytes = 0;
    OperationId first = 0, last = 0;
    OperationId length() const { return last - first; }
    bool alive_with(const Item& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Item> items_of(const MemoryPlan& plan, OperationId operations, int scale, Bytes room) {
    std::vector<Item> items;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        const bool whole = buffer.first == kWholeStep;
        const Item item{
            i,
            (buffer.bytes * scale + room + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment,
            whole ? 0 : buffer.first, whole ? operations : buffer.last};
        if (buffer.tier == Tier::device && buffer.bytes > 0 && item.length() >= 0)
            items.push_back(item);
    }
    return items;
}

/// The lowest gap of `bytes` between taken ranges.
Bytes lowest_gap(std::vector<std::pair<Bytes, Bytes>> taken, Bytes bytes) {
    std::sort(taken.begin(), taken.end());
    Bytes at = 0;
    for (const auto& [begin, end] : taken) {
        if (begin - at >= bytes) break;
        at = std::max(at, end);
    }
    return at;
}

/// Places items one after another, each as low as the earlier ones allow. Returns their offsets.
std::vector<Bytes> place(const std::vector<Item>& items) {
    std::vector<Bytes> offsets;
    for (const Item& item : items) {
        std::vector<std::pair<Bytes, Bytes>> taken;
        for (std::size_t other = 0; other < offsets.size(); ++other)
            if (item.alive_with(items[other]))
                taken.emplace_back(offsets[other], offsets[other] + items[other].bytes);
        offsets.push_back(lowest_gap(std::move(taken), item.bytes));
    }
    return offsets;
}

/// The index of the item that ends highest.
std::size_t highest(const std::vector<Item>& items, const std::vector<Bytes>& offsets) {
    std::size_t top = 0;
    for (std::size_t i = 1; i < items.size(); ++i)
        if (offsets[i] + items[i].bytes > offsets[top] + items[top].bytes) top = i;
    return top;
}

/// The most bytes alive at once: no layout needs less.
Bytes most_alive(const std::vector<Item>& items) {
    Bytes most = 0;
    for (const Item& at : items) {  // a maximum begins where some buffer begins
        Bytes sum = 0;
        for (const Item& item : items)
            if (item.first <= at.first && at.first <= item.last) sum += item.bytes;
        most = std::max(most, sum);
    }
    return most;
}

/// The layout that needs the least of those tried, and the order in which its items were placed.
struct Best {
    ArenaLayout layout;
    std::vector<Item> order;

    /// Tries this order, and orders in which the item that ended highest goes first, and so lower.
    void improve(std::vector<Item> items) {
        constexpr int kTries = 12;
        for (int i = 0; i < kTries; ++i) {
            const std::vector<Bytes> offsets = place(items);
            const auto top = static_cast<std::ptrdiff_t>(highest(items, offsets));
            const Bytes total =
                offsets[static_cast<std::size_t>(top)] + items[static_cast<std::size_t>(top)].bytes;
            if (layout.total == 0 || total < layout.total) {
                layout.total = total;
                order = items;
                for (std::size_t k = 0; k < items.size(); ++k) {
                    layout.offset[items[k].buffer] = offsets[k];
                    layout.bytes[items[k].buffer] = items[k].bytes;
                }
            }
            std::rotate(items.begin(), items.begin() + top, items.begin() + top + 1);
        }
    }
};

/// Another order of all items.
void shuffle(std::vector<Item>& items, std::mt19937& random) {
    for (std::size_t k = items.size() - 1; k > 0; --k)
        std::swap(items[k], items[random() % (k + 1)]);
}

/// Three items change their places in the order.
void move_some(std::vector<Item>& items, std::mt19937& random) {
    for (int i = 0; i < 3; ++i) {
        const auto from = items.begin() + static_cast<std::ptrdiff_t>(random() % items.size()),
                   to = items.begin() + static_cast<std::ptrdiff_t>(random() % items.size());
        from < to ? std::rotate(from, from + 1, to + 1) : std::rotate(to, from, from + 1);
    }
}

}  // namespace

ArenaLayout layout_arena(const MemoryPlan& plan, OperationId operations, int scale, Bytes room) {
    std::vector<Item> items = items_of(plan, operations, scale, room);
    Best best{{std::vector<Bytes>(plan.buffers.size(), -1),
               std::vector<Bytes>(plan.buffers.size(), 0), 0},
              {}};
    if (items.empty()) return best.layout;
    const Bytes least = most_alive(items);
    // First fit. No single order is best: for 7B at batch 8, the longest lived first wastes 16%.
    // For 7B at batch 32 with everything kept it wastes 0.5%, and the shortest lived first nothing:
    // the tensors of the loss share one place with the workspaces of forward and of backward.
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.length() != b.length() ? a.length() > b.length() : a.bytes > b.bytes;
    });
    best.improve(items);
    std::reverse(items.begin(), items.end());
    best.improve(items);
    // Then pseudorandom orders, the same ones every time, in turn of all items and near the best
    // one; more of them for few buffers. Ten times as many while 0.4% are wasted: the trainer
    // refuses more than 1%. Of 1,838 random plans, 9 waste more than 0.1% and none more than 0.4%.
    std::mt19937 random(1);
    const std::size_t orders = 1 + 10'000 / items.size();
    const auto enough = [&](std::size_t tried) {
        const Bytes total = best.layout.total;
        return total <= least || (tried >= orders && total <= least + least / 250);
    };
    for (std::size_t i = 0; i < 10 * orders && !enough(i); ++i) {
        if (i % 2 == 0) items = best.order;
        i % 2 == 0 ? move_some(items, random) : shuffle(items, random);
        best.improve(items);
    }
    return best.layout;
}

}  // namespace sluice

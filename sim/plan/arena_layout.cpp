#include "sim/plan/arena_layout.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace sluice {
namespace {

/// A buffer that comes and goes.
struct Item {
    std::size_t number = 0;  ///< among those of the arena
    Bytes bytes = 0;
    OperationId first = 0, last = 0;
    OperationId length() const { return last - first; }
};

struct Placed {
    Bytes begin = 0, end = 0;
    OperationId first = 0, last = 0;
    bool alive_with(const Item& item) const { return first <= item.last && item.first <= last; }
};

/// By their offsets, of one try.
class Places {
  public:
    explicit Places(std::size_t most) { placed_.reserve(most); }

    void clear() { placed_.clear(); }
    void add(Bytes begin, const Item& item) {
        const auto behind = std::ranges::upper_bound(placed_, begin, {},
                                                     [](const Placed& one) { return one.begin; });
        placed_.insert(behind, {begin, begin + item.bytes, item.first, item.last});
    }

    Bytes lowest(const Item& item) const {
        Bytes at = 0;
        for (const Placed& one : placed_) {
            if (!one.alive_with(item)) continue;
            if (one.begin - at >= item.bytes) break;
            at = std::max(at, one.end);
        }
        return at;
    }
    /// Below `top`; less than 0 if there is no such place.
    Bytes highest(const Item& item, Bytes top) const {
        Bytes free_from = 0, found = -1;
        for (const Placed& one : placed_) {
            if (!one.alive_with(item)) continue;
            const Bytes free_to = std::min(one.begin, top);
            if (free_to - free_from >= item.bytes) found = free_to - item.bytes;
            free_from = std::max(free_from, one.end);
        }
        return top - free_from >= item.bytes ? top - item.bytes : found;
    }

  private:
    std::vector<Placed> placed_;
};

/// Where items are, by their numbers.
struct Packed {
    std::vector<Bytes> offsets;
    Bytes total = 0;
};

/// Tries orders in which items are placed, each as near to an end of the block as those before it
/// allow. Keeps the best layout.
class Packing {
  public:
    Packing(std::vector<Item> items, Bytes enough)
        : items_(std::move(items)), places_(items_.size()) {
        offsets_.resize(items_.size());
        find_peak();
        enough_ = std::max(least_, enough);
    }

    /// No single order is best. Buffers that forward keeps for backward are a stack: longest lived
    /// first, they leave no gap in it. Later buffers, such as gradients that are held, are a second
    /// stack, which grows from the other end into the memory that the first one leaves. Which
    /// buffers belong to it differs, so that several beginnings are tried.
    void run() {
        std::ranges::stable_sort(items_, [](const Item& a, const Item& b) {
            return a.length() != b.length() ? a.length() > b.length() : a.bytes > b.bytes;
        });
        const std::vector<Item> longest_first = items_;
        const std::int64_t placements = most_placements();
        const int tries = static_cast<int>(
            std::clamp<std::int64_t>(placements / (kOrders + kBeginnings), 1, kMostTries));
        constexpr OperationId kNone = std::numeric_limits<OperationId>::max();
        std::set<std::pair<int, OperationId>> begun;
        for (int order = 0; order < 3; ++order) {
            for (const OperationId after : {peak_, most_items_, kNone})
                if (begun.emplace(order, after).second && try_order(items_, after, tries)) return;
            if (order == 0) std::ranges::reverse(items_);
            if (order == 1) std::ranges::stable_sort(items_, std::ranges::greater(), &Item::bytes);
        }
        // Then beginnings at random, the same ones every time.
        std::mt19937 random(1);
        const std::int64_t beginnings =
            std::min<std::int64_t>(kBeginnings, placements / tries - kOrders);
        for (std::int64_t i = 0; i < beginnings; ++i) {
            const OperationId after = items_[random() % items_.size()].first - 1;
            if (begun.emplace(0, after).second && try_order(longest_first, after, tries)) return;
        }
    }

    Packed best() const {
        Packed out{std::vector<Bytes>(best_order_.size()), best_};
        for (std::size_t i = 0; i < best_order_.size(); ++i)
            out.offsets[best_order_[i].number] = best_offsets_[i];
        return out;
    }

  private:
    static constexpr int kMostTries = 12, kOrders = 9, kBeginnings = 24;

    /// Placing all takes time that grows with the square of their number: 10 ms for 4,000. With
    /// more than 1,000 there are fewer tries.
    std::int64_t most_placements() const {
        constexpr std::int64_t kMostSteps = 400'000'000;
        const auto items = static_cast<std::int64_t>(items_.size());
        return std::max<std::int64_t>(kOrders, kMostSteps / (items * items));
    }

    /// The most bytes alive at once: no layout needs less.
    void find_peak() {
        std::vector<Item> begins = items_, ends = items_;
        std::ranges::sort(begins, {}, &Item::first);
        std::ranges::sort(ends, {}, &Item::last);
        Bytes alive = 0;
        std::size_t count = 0, most = 0, ended = 0;
        for (std::size_t i = 0; i < begins.size(); ++i) {
            alive += begins[i].bytes, ++count;
            const OperationId at = begins[i].first;
            for (; ends[ended].last < at; ++ended) alive -= ends[ended].bytes, --count;
            if (i + 1 < begins.size() && begins[i + 1].first == at) continue;
            if (alive > least_) least_ = alive, peak_ = at;
            if (count > most) most = count, most_items_ = at;
        }
    }

    /// Items that begin after `second_stack` go to the upper end. Then the same with the item that
    /// ended highest first, until an order comes again. Whether the best layout is good enough.
    bool try_order(std::vector<Item> items, OperationId second_stack, int tries) {
        std::set<std::vector<std::size_t>> tried;
        for (int i = 0; i < tries && best_ > enough_; ++i) {
            std::vector<std::size_t> order;
            for (const Item& item : items) order.push_back(item.number);
            if (!tried.insert(std::move(order)).second) break;
            const std::size_t top = place(items, second_stack);
            const Bytes total = offsets_[top] + items[top].bytes;
            if (total < best_) best_ = total, best_order_ = items, best_offsets_ = offsets_;
            const auto highest = items.begin() + static_cast<std::ptrdiff_t>(top);
            std::rotate(items.begin(), highest, highest + 1);
        }
        return best_ <= enough_;
    }

    /// Returns the item that ends highest.
    std::size_t place(const std::vector<Item>& items, OperationId second_stack) {
        places_.clear();
        std::size_t top = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Item& item = items[i];
            Bytes at = item.first > second_stack ? places_.highest(item, least_) : -1;
            if (at < 0) at = places_.lowest(item);
            places_.add(at, item);
            offsets_[i] = at;
            if (at + item.bytes > offsets_[top] + items[top].bytes) top = i;
        }
        return top;
    }

    std::vector<Item> items_;
    Places places_;
    std::vector<Bytes> offsets_;
    Bytes least_ = 0, enough_ = 0;
    OperationId peak_ = 0, most_items_ = 0;
    Bytes best_ = std::numeric_limits<Bytes>::max();
    std::vector<Item> best_order_;
    std::vector<Bytes> best_offsets_;
};

/// Counts time by the items that begin. A step that updates ahead has operations that the waiting
/// step lacks, and so both get one layout.
void count_time_by_begins(std::vector<Item>& items) {
    std::vector<OperationId> begins;
    for (const Item& item : items) begins.push_back(item.first);
    std::ranges::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    const auto up_to = [&](OperationId at) {
        return static_cast<OperationId>(std::ranges::upper_bound(begins, at) - begins.begin()) - 1;
    };
    for (Item& item : items) item.first = up_to(item.first), item.last = up_to(item.last);
}

/// Half of the layouts that a choice of plans asks for are known: plans that differ on the host
/// have the same arena.
Packed packed(std::vector<Item> items, Bytes enough) {
    constexpr std::size_t kMostKnown = 16;  // some kB each, for as long as the thread lives
    thread_local std::map<std::vector<Bytes>, Packed> known;
    std::vector<Bytes> key = {enough};
    for (const Item& item : items) key.insert(key.end(), {item.bytes, item.first, item.last});
    if (const auto found = known.find(key); found != known.end()) return found->second;
    if (known.size() == kMostKnown) known.clear();
    Packing packing(std::move(items), enough);
    packing.run();
    return known[std::move(key)] = packing.best();
}

}  // namespace

std::optional<std::pair<BufferId, BufferId>> buffers_that_meet(const MemoryPlan& plan,
                                                               const ArenaLayout& layout) {
    std::vector<BufferId> placed;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i)
        if (layout.offset[i] >= 0) placed.push_back(static_cast<BufferId>(i));
    const auto alive_together = [](const Buffer& a, const Buffer& b) {
        return a.first == kWholeStep || b.first == kWholeStep ||
               (a.first <= b.last && b.first <= a.last);
    };
    std::ranges::sort(placed, {},
                      [&](BufferId id) { return layout.offset[static_cast<std::size_t>(id)]; });
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const auto a = static_cast<std::size_t>(placed[i]);
        const Bytes end = layout.offset[a] + layout.bytes[a];
        for (std::size_t j = i + 1; j < placed.size(); ++j) {
            const auto b = static_cast<std::size_t>(placed[j]);
            if (layout.offset[b] >= end) break;
            if (alive_together(plan.buffers[a], plan.buffers[b]))
                return std::pair(placed[i], placed[j]);
        }
    }
    return std::nullopt;
}

ArenaLayout layout_arena(const MemoryPlan& plan, int scale, Bytes enough, Memory memory) {
    ArenaLayout out{std::vector<Bytes>(plan.buffers.size(), -1),
                    std::vector<Bytes>(plan.buffers.size(), 0), 0};
    std::vector<Item> items;
    std::vector<std::size_t> of_item;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        const bool stands = buffer.first == kWholeStep;
        if (buffer.memory != memory || buffer.bytes <= 0 || (!stands && buffer.last < buffer.first))
            continue;
        const Bytes room = plan.in_one_arena ? buffer.parts * kRoomForParts : 0;
        out.bytes[i] =
            (buffer.bytes * scale + room + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
        if (stands) {
            out.offset[i] = out.total;
            out.total += out.bytes[i];
        } else {
            items.push_back({items.size(), out.bytes[i], buffer.first, buffer.last});
            of_item.push_back(i);
        }
    }
    if (items.empty()) return out;
    count_time_by_begins(items);
    const Packed inside = packed(std::move(items), enough - out.total);
    for (std::size_t i = 0; i < of_item.size(); ++i)
        out.offset[of_item[i]] = out.total + inside.offsets[i];
    out.total += inside.total;
    return out;
}

Peak device_peak(const MemoryPlan& plan, OperationId operations, Bytes enough, Memory memory) {
    Peak peak = peak_memory(plan, memory, operations);
    if (!plan.in_one_arena) return peak;
    const Bytes total = layout_arena(plan, 1, enough, memory).total;
    peak.by_kind[static_cast<std::size_t>(MemoryKind::gaps)] = total - peak.bytes;
    peak.bytes = total;
    return peak;
}

}  // namespace sluice

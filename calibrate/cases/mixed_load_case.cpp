// How do the optimizer, copies in both directions and products slow each other down?
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/case_host.h"
#include "calibrate/cases/load_window.h"
#include "engine/memory/host_region.h"

namespace sluice {
namespace {

constexpr double kLoadSpreadToWarnOf = 0.03;

/// Products that keep a lane busy for 2 ms on an H200, 5 ms on two cores.
struct ProductShape {
    std::int64_t m, n, k;
};
constexpr ProductShape kGpuProduct{8192, 8192, 8192};
constexpr ProductShape kCpuProduct{128, 1024, 1024};
constexpr std::int64_t kCpuProductSets =
    16;  // 50 MB of rotating operands, so that weights are not cached

struct WindowSeconds {
    Seconds warm_up, window;
};

WindowSeconds window_seconds(const MixedMachine& machine) {
    if (machine.is_gpu)
        return machine.quick ? WindowSeconds{0.05, 0.12} : WindowSeconds{0.04, 0.12};
    return machine.quick ? WindowSeconds{0.03, 0.06} : WindowSeconds{0.03, 0.1};
}

/// Operands of products, at the beginning of the arena.
class Products {
  public:
    explicit Products(Bench& bench)
        : bench_(bench),
          shape_(bench.device_facts.is_gpu ? kGpuProduct : kCpuProduct),
          sets_(bench.device_facts.is_gpu ? 1 : kCpuProductSets) {}

    Bytes bytes() const { return sets_ * set_bytes(); }

    /// y = x W^T as in a layer.
    void enqueue(std::int64_t call) {
        char* const base = bench_.at(call % sets_ * set_bytes(), set_bytes());
        const DType type = bench_.activations;
        Kernels::Product product;
        product.a = Matrix(base, type, shape_.m, shape_.k);
        product.d = Matrix(base + x_bytes(), type, shape_.m, shape_.n);
        product.b = Matrix(base + x_bytes() + y_bytes(), DType::bf16, shape_.n, shape_.k);
        product.transpose_b = Transpose::yes;
        bench_.device.products()->gemm(product);
    }

  private:
    Bytes x_bytes() const { return shape_.m * shape_.k * bytes_of(bench_.activations); }
    Bytes y_bytes() const { return shape_.m * shape_.n * bytes_of(bench_.activations); }
    Bytes set_bytes() const { return x_bytes() + y_bytes() + shape_.n * shape_.k * kBf16; }

    Bench& bench_;
    ProductShape shape_;
    std::int64_t sets_;
};

/// The windows of one set of loads in a group.
struct SetRates {
    LoadSet set;
    std::vector<LoadRates> windows;
};

Sample rates_of(const SetRates& rates, double LoadRates::*which) {
    std::vector<double> values;
    for (const LoadRates& window : rates.windows) values.push_back(window.*which);
    return summarize(values);
}

struct GroupRates {
    MixedGroup group;
    std::vector<SetRates> sets;
};

/// The repeated measurement that differs most.
struct WorstSpread {
    double spread = kLoadSpreadToWarnOf;
    std::string what;

    void look_at(const MixedGroup& group, const SetRates& rates) {
        const auto look = [&](const char* load, const char* unit, double LoadRates::*which,
                              double scale) {
            const Sample sample = rates_of(rates, which);
            if (sample.spread() <= spread) return;
            spread = sample.spread();
            what = fmt::format("{} bytes of state, {} threads, {}: {:.4g} to {:.4g} {}",
                               group.state_bytes, group.threads, load, sample.low / scale,
                               sample.high / scale, unit);
        };
        look("optimizer", "Gparam/s", &LoadRates::parameters, kGiga);
        look("copies in", "GB/s", &LoadRates::in_bytes, kGiga);
        look("copies out", "GB/s", &LoadRates::out_bytes, kGiga);
        look("products", "1/s", &LoadRates::products, 1);
    }
};

/// Runs all groups, one after another.
class MixedLoad {
  public:
    explicit MixedLoad(Bench& bench)
        : bench_(bench),
          machine_{bench.device_facts.is_gpu, bench.optimizer_threads, bench.quick,
                   bench.device.products() != nullptr},
          optimizer_(bench),
          products_(bench) {
        ThreadPool pool(bench.optimizer_threads, optimizer_cpus(bench, bench.optimizer_threads));
        const Bytes chunk = (machine_.is_gpu ? 64 : 16) * kMiB;
        const Bytes on_device = (bench.arena_bytes - products_.bytes()) / 2;
        const Bytes on_host = host_memory_budget(bench.host) / 8;
        const Bytes most = std::min({8 * chunk, on_device, on_host});
        const Bytes bytes = std::max<Bytes>(1, most / chunk) * chunk;
        host_ = HostRegion(2 * bytes, "copies to measure", pool, &bench.device);
        fill_normal(pool, host_.at<std::uint16_t>(0), host_.bytes() / kBf16, 1, 4);
        loads_.in = {host_.data(), bench.at(products_.bytes(), bytes), bytes, chunk};
        loads_.out = {host_.data() + bytes, bench.at(products_.bytes() + bytes, bytes), bytes,
                      chunk};
        loads_.optimizer = &optimizer_;
        loads_.product = [this](std::int64_t call) { products_.enqueue(call); };
    }

    void measure_all(CaseRecord& record) {
        for (const MixedGroup& group : mixed_groups(machine_)) {
            GroupRates rates{group, {}};
            for (const LoadSet set : mixed_windows(group, machine_))
                rates.sets.push_back({set, {}});
            windows_left_ += rates.sets.size() * mixed_rounds(group, machine_);
            groups_.push_back(std::move(rates));
        }
        windows_ = windows_left_;
        for (auto first = groups_.begin(); first != groups_.end();) {
            const auto end = std::find_if(first, groups_.end(), [&](const GroupRates& rates) {
                return rates.group.state_bytes != first->group.state_bytes;
            });
            measure_state({first, end});
            first = end;
        }
        for (const GroupRates& rates : groups_) add_rows(rates);
        if (!worst_.what.empty()) {
            record.warnings.push_back(fmt::format(
                "mixed_load: windows of the same loads differ by up to {:.0f}% ({}); was the "
                "machine busy?",
                100 * worst_.spread, worst_.what));
        }
        record.tables.push_back(std::move(table_));
    }

  private:
    /// Groups of one state, in rounds that alternate in direction: each set's windows are spread
    /// over the whole time, around its middle. So a machine that slows down changes no ratio
    /// between them.
    void measure_state(std::span<GroupRates> groups) {
        for (int round = 0; round < mixed_rounds(groups.front().group, machine_); ++round) {
            for (std::size_t i = 0; i < groups.size(); ++i)
                measure(round % 2 == 0 ? groups[i] : groups[groups.size() - 1 - i], round % 2 != 0);
        }
        optimizer_.check_result();
    }

    void measure(GroupRates& rates, bool backwards) {
        optimizer_.set(rates.group.state_bytes, rates.group.threads);
        if (rates.sets.front().windows.empty())  // the first round, since moments grow
            for (int i = 0; i < optimizer_.updates_per_pass(); ++i) optimizer_.update();
        const auto [warm_up, window] = window_seconds(machine_);
        for (std::size_t i = 0; i < rates.sets.size(); ++i) {
            SetRates& set = rates.sets[backwards ? rates.sets.size() - 1 - i : i];
            set.windows.push_back(run_loads(bench_.device, loads_, set.set, warm_up, window));
            --windows_left_;
            bench_.report(windows_ - windows_left_, windows_);
        }
    }

    void add_rows(const GroupRates& rates) {
        for (const SetRates& set : rates.sets) {
            worst_.look_at(rates.group, set);
            add_row(rates.group, set);
        }
    }

    void add_row(const MixedGroup& group, const SetRates& rates) {
        const auto median = [&](double LoadRates::*which, double scale) {
            return rates_of(rates, which).median / scale;
        };
        const auto number = [](auto value) { return static_cast<double>(value); };
        const LoadSet& set = rates.set;
        table_.add({number(group.state_bytes), number(set.work ? group.threads : 0),
                    number(set.compute), number(set.in), number(set.out),
                    median(&LoadRates::parameters, kGiga), median(&LoadRates::in_bytes, kGiga),
                    median(&LoadRates::out_bytes, kGiga), median(&LoadRates::products, 1),
                    number(group.held_out)});
    }

    Bench& bench_;
    MixedMachine machine_;
    OptimizerLoad optimizer_;
    Products products_;
    HostRegion host_;
    Loads loads_;
    std::vector<GroupRates> groups_;
    std::size_t windows_ = 0, windows_left_ = 0;
    WorstSpread worst_;
    CaseTable table_{
        .name = "mixed_load",
        .method =
            "the loads run together, each by its own thread, and are counted in a window "
            "common to all; one row is the median of a set's windows; rows of one state "
            "were measured in rounds there and back; threads 0: no optimizer",
        .columns = {"state_bytes", "threads", "compute", "in", "out", "adam_gparams_per_s",
                    "in_gb_per_s", "out_gb_per_s", "compute_per_s", "held_out"}};
};

}  // namespace

std::vector<MixedGroup> mixed_groups(const MixedMachine& machine) {
    std::vector<MixedGroup> groups;
    const auto add = [&](int state_bytes, bool held_out, std::initializer_list<int> sixteenths) {
        for (const int share : sixteenths) {
            const int threads = std::max(1, (machine.most_threads * share + 8) / 16);
            const auto same = [&](const MixedGroup& group) {
                return group.state_bytes == state_bytes && group.threads == threads;
            };
            if (std::none_of(groups.begin(), groups.end(), same))
                groups.push_back({state_bytes, threads, held_out});
        }
    };
    if (machine.quick) {
        add(12, false, {8, 16});
        add(8, true, {12});
        return groups;
    }
    add(12, false, {4, 8, 12, 16});
    if (machine.is_gpu) {
        add(12, true, {6, 10, 14});
        for (const int state_bytes : {8, 6}) {
            add(state_bytes, false, {4, 10, 16});
            add(state_bytes, true, {7, 13});
        }
    } else {
        add(12, true, {10});
        add(6, false, {16});
        add(8, true, {8, 16});  // predicted by 12: few processors leave no threads between
    }
    // With few threads: the held-out numbers are between those that predict them.
    std::stable_sort(groups.begin(), groups.end(), [](const MixedGroup& a, const MixedGroup& b) {
        return std::pair(-a.state_bytes, a.threads) < std::pair(-b.state_bytes, b.threads);
    });
    return groups;
}

std::vector<LoadSet> mixed_windows(const MixedGroup& group, const MixedMachine& machine) {
    const bool most = group.state_bytes == 12 && group.threads == machine.most_threads;
    std::vector<LoadSet> alone, together;
    for (int bits = 1; bits < 16; ++bits) {
        const LoadSet set{(bits & 8) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 1) != 0};
        const bool one_way = set.in != set.out;
        const bool single = (bits & (bits - 1)) == 0;
        if (set.compute && !machine.has_products) continue;
        if (machine.is_gpu && set.compute && (!most || (one_way && !single))) continue;
        (single ? alone : together).push_back(set);
    }
    alone.insert(alone.end(), together.begin(), together.end());
    return alone;
}

int mixed_rounds(const MixedGroup& group, const MixedMachine& machine) {
    if (machine.quick) return 1;
    return machine.is_gpu && group.state_bytes == 12 ? 4 : 2;  // the number that most trainings use
}

void measure_mixed_load(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    MixedLoad(bench).measure_all(record);
}

}  // namespace sluice

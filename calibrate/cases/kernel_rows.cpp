#include "calibrate/cases/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace sluice {
namespace {

// Kernels choose an algorithm by alignment too; tensors in training are aligned to 256 or more.
constexpr Bytes kAlignment = 4096;

Bytes aligned(Bytes bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Zone input_zone(const Bench& bench) { return {0, aligned(bench.arena_bytes / 2)}; }

Zone output_zone(const Bench& bench) {
    const Bytes begin = input_zone(bench).bytes;
    return {begin, bench.arena_bytes - begin};
}

Bytes rotated_bytes(const Bench& bench) { return (bench.device_facts.is_gpu ? 256 : 32) * kMiB; }

OperandSets::OperandSets(const Bench& bench, Zone zone, const std::vector<Bytes>& sizes) {
    for (const Bytes size : sizes) {
        offsets_.push_back(set_bytes_);
        set_bytes_ += aligned(size);
    }
    begin_ = bench.at(zone.begin, zone.bytes);
    if (set_bytes_ == 0) {
        sets_ = 1;
        return;
    }
    const std::int64_t wanted = (rotated_bytes(bench) + set_bytes_ - 1) / set_bytes_;
    sets_ = std::min(std::max<std::int64_t>(1, wanted), zone.bytes / set_bytes_);
}

char* OperandSets::at(std::int64_t call, std::size_t which) const {
    return begin_ + call % sets_ * set_bytes_ + offsets_[which];
}

namespace {

constexpr double kMostSpread = 0.03;
/// Lets a GPU rest for as long as it worked since its last rest, at most 30 ms. The large product
/// after that gives the host time to enqueue short calls.
class Rest {
  public:
    explicit Rest(Bench& bench) : bench_(&bench) {}
    void operator()() {
        bench_->device.finish_all();
        const Seconds worked = host_seconds() - rested_at_;
        std::this_thread::sleep_for(
            std::chrono::duration<double>(std::clamp(worked, kLeastRest, kMostRest)));
        rested_at_ = host_seconds();
        enqueue_large_products(*bench_, bench_->large_product / 2);  // one
    }

  private:
    // H200: it may exceed its limit by some 280 W for some 50 ms, and at rest regains 570 W.
    static constexpr Seconds kLeastRest = 0.005, kMostRest = 0.03;
    Bench* bench_;
    Seconds rested_at_ = 0;
};

}  // namespace

KernelRows::KernelRows(Bench& bench, std::string table,
                       const std::vector<std::string>& shape_columns, std::string method,
                       bool tells_held_out)
    : bench_(bench),
      timing_(kernel_timing(bench)),
      table_{std::move(table), std::move(method), shape_columns},
      shape_columns_(shape_columns.size()),
      tells_held_out_(tells_held_out) {
    for (const char* name : {"us", "us_low", "us_high"}) table_.columns.push_back(name);
    if (tells_held_out) table_.columns.push_back("held_out");
}

void KernelRows::measure(const KernelShape& shape, const std::function<void(std::int64_t)>& enqueue,
                         std::function<void()> refresh) {
    Timing timing = timing_;
    if (refresh) {
        timing.before_group = [rest = timing_.before_group, refresh = std::move(refresh)] {
            if (rest) rest();
            refresh();
        };
    }
    Sample sample = time_on_compute_lane(bench_.device, timing, enqueue);
    if (sample.spread() > kMostSpread) {
        const Sample again = time_on_compute_lane(bench_.device, timing, enqueue);
        if (again.spread() < sample.spread()) sample = again;
    }
    if (sample.spread() > worst_.spread()) {
        worst_ = sample;
        worst_shape_ = shape.size;
    }
    std::vector<double> row(shape.size.begin(), shape.size.end());
    for (const double seconds : {sample.median, sample.low, sample.high})
        row.push_back(seconds * kMega);
    if (tells_held_out_) row.push_back(shape.held_out ? 1 : 0);
    table_.add(std::move(row));
}

void KernelRows::leave_out(const KernelShape& shape) {
    if (left_out_++ == 0) first_left_out_ = shape.size;
}

void KernelRows::finish(CaseRecord& record) {
    if (worst_.spread() > kMostSpread)
        record.warnings.push_back(fmt::format(
            "{}: times of {} are {:.1f}% apart ({:.1f} to {:.1f} us), expected 3% at most",
            table_.name, describe(worst_shape_), 100 * worst_.spread(), worst_.low * kMega,
            worst_.high * kMega));
    if (left_out_ > 0) {
        record.warnings.push_back(fmt::format(
            "{}: {} of {} shapes were left out, since {} MiB of memory do not hold their matrices; "
            "the first is {}",
            table_.name, left_out_, table_.rows.size() + static_cast<std::size_t>(left_out_),
            bench_.arena_bytes / kMiB, describe(first_left_out_)));
    }
    record.tables.push_back(std::move(table_));
}

std::string KernelRows::describe(const ShapeSize& size) const {
    std::string out;
    for (std::size_t i = 0; i < shape_columns_; ++i)
        out += fmt::format("{}{} {}", i == 0 ? "" : ", ", table_.columns[i], size[i]);
    return out;
}

Timing kernel_timing(Bench& bench) {
    Timing timing{.warm_up = 0.003, .group = 0.004, .groups = 5};
    if (bench.quick) timing = {.warm_up = 0.003, .group = 0.003, .groups = 3};
    if (bench.large_product > 0) timing.before_group = Rest(bench);
    return timing;
}

ShapeLimits shape_limits(Bench& bench, Seconds longest) {
    const bool is_gpu = bench.device_facts.is_gpu;
    const std::int64_t size = is_gpu ? 4096 : 512;
    const Bytes bytes = size * size * bytes_of(DType::fp32);
    const auto matrix = [&](Zone zone, std::int64_t index, DType type) {
        return Matrix(bench.at(zone.begin + index * bytes, bytes), type, size, size);
    };
    const Kernels::Product product{.d = matrix(output_zone(bench), 0, bench.activations),
                                   .a = matrix(input_zone(bench), 0, bench.activations),
                                   .b = matrix(input_zone(bench), 1, DType::bf16),
                                   .transpose_b = Transpose::yes};
    const Sample sample = time_on_compute_lane(
        bench.device, kernel_timing(bench), [&](auto) { bench.device.products()->gemm(product); });
    const double rate = 2 * static_cast<double>(size * size * size) / sample.median;
    return {is_gpu, flops_limit(rate, longest), bench.quick};
}

AttentionShape heads_of(std::int64_t rows, std::int64_t columns, std::int64_t head_dim) {
    const std::int64_t heads = columns / head_dim;
    std::int64_t kv_heads = std::max<std::int64_t>(1, heads / 4);
    while (heads % kv_heads != 0) --kv_heads;
    std::int64_t sequences = (rows + 8191) / 8192;
    while (rows % sequences != 0) ++sequences;
    return {sequences, rows / sequences, heads - kv_heads, kv_heads, head_dim, 0};
}

}  // namespace sluice

// Is attention over hundreds of thousands of tokens right? Some queries and keys of the first and
// the last key/value head against sums in fp64 over all tokens. Prints the times, forward's with
// the time that building its graph takes.
#include <chrono>
#include <future>

#include "engine/kernels/attention_batch.h"
#include "tests/engine/cuda_kernels/attention_case.h"
#include "tests/engine/cuda_kernels/big_matrix.h"
#include "tests/engine/cuda_kernels/check_cases.h"

namespace sluice {
namespace {

/// Columns of a matrix on the host, in fp32.
using Strip = std::vector<float>;

/// The inputs of one key/value head's gradients, and the results.
class HostHead {
  public:
    HostHead(const AttentionShape& shape, std::int64_t kv_head)
        : shape_(shape), kv_head_(kv_head), scale_(1 / std::sqrt(double(shape.head_dim))) {}

    /// All columns at once: one thread takes a minute for 524,288 tokens.
    void read(Matrix qkv, Matrix out, Matrix dout, Matrix dqkv, const float* statistics) {
        const std::int64_t d = shape_.head_dim, first_query = kv_head_ * group();
        const std::int64_t k = shape_.query_width() + kv_head_ * d, v = k + shape_.key_width();
        std::vector<std::future<void>> reads;
        const auto read_strip = [&](Strip& into, Matrix from, std::int64_t column) {
            reads.push_back(std::async(std::launch::async, [&into, from, column, d] {
                into = read_columns(from, column, d);
            }));
        };
        for (std::vector<Strip>* const strips : {&queries_, &outputs_, &doutputs_, &dqueries_})
            strips->resize(static_cast<std::size_t>(group()));
        for (std::int64_t g = 0; g < group(); ++g) {
            const std::int64_t q = (first_query + g) * d;
            const auto head = static_cast<std::size_t>(g);
            read_strip(queries_[head], qkv, q), read_strip(outputs_[head], out, q);
            read_strip(doutputs_[head], dout, q), read_strip(dqueries_[head], dqkv, q);
            log_sums_.push_back(
                read_floats(statistics + (first_query + g) * shape_.sequence, shape_.sequence));
        }
        read_strip(keys_, qkv, k), read_strip(values_, qkv, v);
        read_strip(dkeys_, dqkv, k), read_strip(dvalues_, dqkv, v);
        for (std::future<void>& strip : reads) strip.get();
    }

    /// Shares of the tolerance that an output, a log-sum-exp and the gradient of a query use.
    double check_query(std::int64_t g, std::int64_t token) const {
        const auto head = static_cast<std::size_t>(g);
        const float *const q = row(queries_[head], token), *const dy = row(doutputs_[head], token);
        std::vector<double> scores, gains;  // of each key: q k and dy v
        double largest = -1e300;
        for (std::int64_t key = 0; key <= token; ++key) {
            scores.push_back(scale_ * dot(q, row(keys_, key)));
            gains.push_back(dot(dy, row(values_, key)));
            largest = std::max(largest, scores.back());
        }
        double sum = 0, mean = 0;
        for (std::size_t key = 0; key < scores.size(); ++key) {
            scores[key] = std::exp(scores[key] - largest);
            sum += scores[key], mean += scores[key] * gains[key];
        }
        std::vector<double> out(width()), dq(width());
        for (std::size_t key = 0; key < scores.size(); ++key) {
            const double p = scores[key] / sum, ds = p * (gains[key] - mean / sum) * scale_;
            add(out, p, row(values_, static_cast<std::int64_t>(key)));
            add(dq, ds, row(keys_, static_cast<std::int64_t>(key)));
        }
        const std::vector<double> log_sum{largest + std::log(sum)};
        return std::max(
            {attention_share(whole(outputs_[head], token), out),
             attention_share(whole(dqueries_[head], token), dq),
             share_of({1e-3, 1e-4}, {double(log_sums_[head][std::size_t(token)])}, log_sum)});
    }
    /// The same of the gradients of a key and its value.
    double check_key(std::int64_t token) const {
        const float *const k = row(keys_, token), *const v = row(values_, token);
        std::vector<double> dk(width()), dv(width());
        for (std::size_t g = 0; g < queries_.size(); ++g)
            for (std::int64_t query = token; query < shape_.sequence; ++query) {
                const float *const q = row(queries_[g], query), *const dy =
                                                                    row(doutputs_[g], query);
                const double p =
                    std::exp(scale_ * dot(q, k) - double(log_sums_[g][std::size_t(query)]));
                add(dv, p, dy);
                add(dk, p * (dot(dy, v) - dot(dy, row(outputs_[g], query))) * scale_, q);
            }
        return std::max(attention_share(whole(dkeys_, token), dk),
                        attention_share(whole(dvalues_, token), dv));
    }
    std::int64_t group() const { return shape_.heads / shape_.kv_heads; }

  private:
    std::size_t width() const { return static_cast<std::size_t>(shape_.head_dim); }
    const float* row(const Strip& of, std::int64_t token) const {
        return of.data() + token * shape_.head_dim;
    }
    std::vector<double> whole(const Strip& of, std::int64_t token) const {
        return {row(of, token), row(of, token) + width()};
    }
    double dot(const float* a, const float* b) const {
        float sum = 0;
        for (std::size_t i = 0; i < width(); ++i) sum += a[i] * b[i];
        return double(sum);
    }
    static void add(std::vector<double>& sum, double factor, const float* values) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * double(values[i]);
    }

    AttentionShape shape_;
    std::int64_t kv_head_;
    double scale_;
    std::vector<Strip> queries_, outputs_, doutputs_, dqueries_, log_sums_;  // of each query head
    Strip keys_, values_, dkeys_, dvalues_;
};

template <typename Work>
double seconds_of(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    wait_for_device();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_long_attention(std::int64_t tokens) {
    // Heads of Qwen2.5-7B.
    const AttentionShape shape{1, tokens, 28, 4, 128};
    const std::int64_t workspace_bytes = gpu().kernels().attention_workspace_bytes(shape);
    if (!has_device_memory(4 * tokens * (shape.qkv_width() + shape.query_width()) +
                           4 * shape.heads * tokens + workspace_bytes))
        return;
    DeviceMatrix qkv(tokens, shape.qkv_width()), dqkv(tokens, shape.qkv_width());
    DeviceMatrix out(tokens, shape.query_width()), dout(tokens, shape.query_width());
    DeviceMatrix statistics(1, shape.heads * tokens, DType::fp32);
    const DeviceMemory workspace = allocate_on_device(workspace_bytes);
    qkv.fill_random(1, {-3, 3});
    dout.fill_random(2);
    CudaKernels& kernels = gpu().kernels();
    // fill_random() repeats its rows; rotated, no two are alike.
    kernels.rotary(shape, {.theta = 1e6}, qkv.view(), false);
    auto* const log_sums = static_cast<float*>(statistics.view().data);
    const auto forward = [&] { kernels.attention(shape, qkv.view(), out.view(), log_sums); };
    const auto backward = [&] {
        kernels.attention_backward(shape, qkv.view(), out.view(), log_sums, dout.view(),
                                   dqkv.view(), workspace.get());
    };
    const double forward_s = seconds_of(forward);
    const double backward_s = seconds_of(backward);
    const double flops = attention_flops(shape);
    fmt::print(
        "attention of {} tokens: forward {:.3f} s ({:.0f} TFLOPS), backward {:.3f} s "
        "({:.0f}), workspace {:.2f} GB\n",
        tokens, forward_s, flops / forward_s / 1e12, backward_s, 2.5 * flops / backward_s / 1e12,
        double(workspace_bytes) / 1e9);
    // Reading a head's columns takes seconds of the longest sequence: the last one's are farthest.
    std::vector<std::int64_t> kv_heads = {shape.kv_heads - 1};
    if (tokens < 200'000) kv_heads.push_back(0);
    for (const std::int64_t kv_head : kv_heads) {
        HostHead head(shape, kv_head);
        head.read(qkv.view(), out.view(), dout.view(), dqkv.view(), log_sums);
        // Where a row begins behind 2^31 elements of q, k and v, too.
        const std::int64_t middle = std::min(tokens - 70, (std::int64_t{1} << 31) / 4608 + 3);
        std::vector<std::future<double>> shares;
        for (const std::int64_t token : {std::int64_t{0}, tokens / 3, middle, tokens - 1}) {
            const auto check = [&head, token] {
                return std::max(head.check_query(0, token),
                                head.check_query(head.group() - 1, token));
            };
            shares.push_back(std::async(std::launch::async, check));
            shares.push_back(
                std::async(std::launch::async, [&head, token] { return head.check_key(token); }));
        }
        double worst = 0;
        for (std::future<double>& share : shares) worst = std::max(worst, share.get());
        fmt::print("  key/value head {}: {:.1f}% of the tolerance\n", kv_head, 100 * worst);
        CHECK(worst <= 1);
    }
}

TEST_CASE("attention: a sequence of 131,072 tokens", "[cuda_kernels][long]") {
    if (has_gpu()) check_long_attention(131'072);
}

TEST_CASE("attention: a sequence of 524,288 tokens", "[cuda_kernels][long]") {
    if (has_gpu()) check_long_attention(524'288);
}

TEST_CASE("attention: gradients of some heads at a time, for two sequences",
          "[cuda_kernels][long]") {
    if (!has_gpu()) return;
    const AttentionShape both{2, 81'920, 28, 4, 128}, one{1, both.sequence, 28, 4, 128};
    const auto at_once = [](const AttentionShape& s) {
        return attention_at_once(batch_of(s)).kv_heads;
    };
    REQUIRE(at_once(both) == 2);
    REQUIRE(at_once(one) == 4);
    CudaKernels& kernels = gpu().kernels();
    const std::int64_t workspace_bytes = kernels.attention_workspace_bytes(both);
    if (!has_device_memory(8 * both.tokens() * both.qkv_width() + workspace_bytes)) return;
    DeviceMatrix qkv(both.tokens(), both.qkv_width()), out(both.tokens(), both.query_width());
    DeviceMatrix dout(both.tokens(), both.query_width()), dqkv(both.tokens(), both.qkv_width());
    DeviceMatrix alone(one.tokens(), one.qkv_width());
    DeviceMatrix statistics(1, both.heads * both.tokens(), DType::fp32);
    const DeviceMemory workspace = allocate_on_device(workspace_bytes);
    qkv.fill_random(1, {-3, 3}), dout.fill_random(2);
    kernels.rotary(both, {.theta = 1e6}, qkv.view(), false);
    auto* const log_sums = static_cast<float*>(statistics.view().data);
    kernels.attention(both, qkv.view(), out.view(), log_sums);
    kernels.attention_backward(both, qkv.view(), out.view(), log_sums, dout.view(), dqkv.view(),
                               workspace.get());
    for (const std::int64_t sequence : {0, 1}) {
        const auto of = [&](const DeviceMatrix& m) {
            return m.view().row_range(sequence * one.tokens(), one.tokens());
        };
        kernels.attention_backward(one, of(qkv), of(out),
                                   log_sums + sequence * one.heads * one.sequence, of(dout),
                                   alone.view(), workspace.get());
        for (const std::int64_t row : {std::int64_t{0}, one.tokens() - 64})
            CHECK(attention_share(CopyOfRows(of(dqkv), row, 64).read(),
                                  CopyOfRows(alone.view(), row, 64).read()) <= 1);
    }
    // Gradients of parts may overwrite q, k and v.
    kernels.attention_backward(both, qkv.view(), out.view(), log_sums, dout.view(), qkv.view(),
                               workspace.get());
    for (const std::int64_t row : {std::int64_t{0}, one.tokens() - 32, both.tokens() - 64})
        CHECK(attention_share(CopyOfRows(qkv.view(), row, 64).read(),
                              CopyOfRows(dqkv.view(), row, 64).read()) <= 1);
}

}  // namespace
}  // namespace sluice

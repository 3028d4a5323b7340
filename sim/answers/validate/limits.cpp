#include "sim/answers/validate/limits.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/format.h"

namespace sluice {
namespace {

bool exceeds(std::optional<double> error, double limit) {
    return error && std::abs(*error) > limit;
}

void add_runs(std::vector<std::string>& sentences, const char* what, double limit,
              const std::vector<std::string>& runs) {
    if (!runs.empty())
        sentences.push_back(
            fmt::format("{} off by more than {:g}%: {}", what, 100 * limit, fmt::join(runs, ", ")));
}

std::vector<std::string> beyond_throughput(const Validation& validation, double limit) {
    std::vector<std::string> runs;
    for (const RunComparison& c : validation.runs)
        if (exceeds(c.throughput_error(), limit))
            runs.push_back(fmt::format("{} ({})", c.run.name, format_error(c.throughput_error())));
    return runs;
}

std::vector<std::string> beyond_memory(const Validation& validation, double limit) {
    std::vector<std::string> runs;
    for (const RunComparison& c : validation.runs) {
        for (const auto& [name, error] :
             {std::pair{"device", c.device_error()}, std::pair{"host", c.host_error()}})
            if (exceeds(error, limit))
                runs.push_back(fmt::format("{} ({} {})", c.run.name, name, format_error(error)));
    }
    return runs;
}

}  // namespace

std::vector<std::string> beyond_limits(const Validation& validation, const Limits& limits) {
    std::vector<std::string> sentences;
    if (limits.throughput)
        add_runs(sentences, "tokens/s are", *limits.throughput,
                 beyond_throughput(validation, *limits.throughput));
    const double mean = validation.summaries.back().throughput.mean_absolute;
    if (limits.mean_throughput && mean > *limits.mean_throughput)
        sentences.push_back(fmt::format("the mean error of tokens/s is more than {:g}%: {:.1f}%",
                                        100 * *limits.mean_throughput, 100 * mean));
    if (limits.memory)
        add_runs(sentences, "memory is", *limits.memory, beyond_memory(validation, *limits.memory));
    return sentences;
}

}  // namespace sluice

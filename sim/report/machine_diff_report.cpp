#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/answers/machines/machine_diff.h"

namespace sluice {
namespace {

std::string percent(double relative) { return fmt::format("{:+.1f}%", 100 * relative); }

std::string number_lines(const MachineDiff& diff) {
    if (diff.numbers.empty()) return "";
    std::string out = fmt::format("{:<52} {:>12} {:>12} {:>9}  {}\n", "numbers", "A", "B", "B to A",
                                  "5% to 95% of A and of B");
    for (const NumberDiff& number : diff.numbers) {
        out += fmt::format("{:<52} {:>12.5g} {:>12.5g} {:>9}", number.path, number.a, number.b,
                           percent(number.relative));
        if (number.ranges_overlap)
            out += fmt::format("  {} and {}: {}", number.range_a, number.range_b,
                               *number.ranges_overlap ? "overlap" : "apart");
        out += "\n";
    }
    return out + "\n";
}

std::string curve_lines(const MachineDiff& diff) {
    if (diff.curves.empty()) return "";
    std::string out =
        fmt::format("{:<52} {:>13} {:>9}  {}\n", "curves", "common points", "largest", "at");
    for (const CurveDiff& curve : diff.curves)
        out += curve.common == 0 ? fmt::format("{:<52} {:>13}\n", curve.path, "none")
                                 : fmt::format("{:<52} {:>13} {:>9}  {}\n", curve.path,
                                               curve.common, percent(curve.largest), curve.where);
    return out + "\n";
}

std::string kernel_lines(const MachineDiff& diff) {
    if (diff.kernels.empty()) return "";
    std::string out = fmt::format("{:<52} {:>13} {:>9} {:>9}  {}\n", "kernel times",
                                  "common shapes", "mean", "largest", "at");
    for (const KernelDiff& kernel : diff.kernels)
        out += kernel.common == 0
                   ? fmt::format("{:<52} {:>13}\n", kernel.path, "none")
                   : fmt::format("{:<52} {:>13} {:>9} {:>9}  {}\n", kernel.path, kernel.common,
                                 percent(kernel.mean), percent(kernel.largest), kernel.shape);
    return out + "\n";
}

std::string only_lines(const char* name, const std::vector<std::string>& paths) {
    return paths.empty() ? "" : fmt::format("only in {}: {}\n", name, fmt::join(paths, ", "));
}

}  // namespace

std::string machine_diff_text(const MachineDiff& diff) {
    std::string out = fmt::format("A: {}\nB: {}\n\n", diff.a, diff.b);
    for (const TextDiff& text : diff.texts)
        out += fmt::format("{}\n  A: {}\n  B: {}\n", text.path, text.a, text.b);
    if (!diff.texts.empty()) out += "\n";
    out += number_lines(diff) + curve_lines(diff) + kernel_lines(diff);
    out += only_lines("A", diff.only_a) + only_lines("B", diff.only_b);
    return out + fmt::format("equal: {} entries\n", diff.equal);
}

std::string machine_diff_json(const MachineDiff& diff) {
    using Json = nlohmann::ordered_json;
    Json out = {{"a", diff.a}, {"b", diff.b}};
    out["texts"] = out["numbers"] = out["curves"] = out["kernels"] = Json::array();
    for (const TextDiff& text : diff.texts)
        out["texts"].push_back({{"path", text.path}, {"a", text.a}, {"b", text.b}});
    for (const NumberDiff& number : diff.numbers) {
        Json entry = {
            {"path", number.path}, {"a", number.a}, {"b", number.b}, {"relative", number.relative}};
        if (number.ranges_overlap) entry["ranges_overlap"] = *number.ranges_overlap;
        out["numbers"].push_back(std::move(entry));
    }
    for (const CurveDiff& curve : diff.curves)
        out["curves"].push_back({{"path", curve.path},
                                 {"common_points", curve.common},
                                 {"largest_relative", curve.largest},
                                 {"at", curve.where}});
    for (const KernelDiff& kernel : diff.kernels)
        out["kernels"].push_back({{"path", kernel.path},
                                  {"common_shapes", kernel.common},
                                  {"mean_relative", kernel.mean},
                                  {"largest_relative", kernel.largest},
                                  {"at", kernel.shape}});
    out["only_a"] = diff.only_a;
    out["only_b"] = diff.only_b;
    out["equal"] = diff.equal;
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sluice

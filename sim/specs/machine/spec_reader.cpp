#include "sim/specs/machine/spec_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

void add_once(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

}  // namespace

bool SpecReader::knows(std::string_view path) const {
    const Quantity* quantity = profile_.find(path);
    return quantity != nullptr && quantity->value;
}

std::optional<double> SpecReader::take(std::string_view path, Trust trust) {
    const Quantity* quantity = profile_.find(path);
    if (quantity == nullptr || !quantity->value) return std::nullopt;
    add_once(inputs_, quantity->path);
    judge(quantity->method, trust, fmt::format("{} {:g}", path, *quantity->value),
          quantity->note.empty() ? quantity->source : quantity->note);
    return quantity->value;
}

double SpecReader::required(std::string_view path, Trust trust) {
    if (const auto value = take(path, trust)) return *value;
    const Quantity* quantity = profile_.find(path);
    if (quantity == nullptr)
        throw InputError(fmt::format("{}: {} is missing; add it", profile_.file, path));
    throw InputError(
        fmt::format("{}: {} is not known ({}), so no step can be predicted; give it with "
                    "--set {}=NUMBER",
                    profile_.file, path, quantity->note, path),
        "settings");
}

double SpecReader::constant(std::string_view path, double h200, Trust trust) {
    if (const auto value = take(path, trust)) return *value;
    constants_assumed_ = true;
    return h200;
}

std::optional<double> SpecReader::take_for_others(std::string_view path) {
    const Quantity* quantity = profile_.find(path);
    if (quantity == nullptr || !quantity->value) return std::nullopt;
    add_once(inputs_, quantity->path);
    if (quantity->method != Method::measured) {
        transfer_for_others(
            fmt::format("{} {:g} is {} ({})", path, *quantity->value, method_name(quantity->method),
                        quantity->note.empty() ? quantity->source : quantity->note));
    }
    return quantity->value;
}

double SpecReader::constant_for_others(std::string_view path, double h200) {
    if (const auto value = take_for_others(path)) return *value;
    transfer_for_others("PyTorch's launch overheads are the H200 machine's");
    return h200;
}

std::vector<std::vector<double>> SpecReader::take_rows(std::string_view path) {
    const Curve* curve = profile_.find_curve(path);
    if (curve == nullptr) return {};
    judge(curve->method, Trust::measured, std::string(path),
          curve->note.empty() ? curve->source : curve->note);
    return curve->points;
}

std::vector<std::pair<double, double>> SpecReader::take_curve(std::string_view path) {
    std::vector<std::pair<double, double>> points;
    for (const auto& row : take_rows(path)) points.emplace_back(row[0], row[1]);
    return points;
}

std::vector<std::pair<double, double>> SpecReader::take_curve_for_others(std::string_view path) {
    const Curve* curve = profile_.find_curve(path);
    if (curve == nullptr) return {};
    if (curve->method != Method::measured) {
        transfer_for_others(fmt::format("{} is {} ({})", path, method_name(curve->method),
                                        curve->note.empty() ? curve->source : curve->note));
    }
    std::vector<std::pair<double, double>> points;
    for (const auto& row : curve->points) points.emplace_back(row[0], row[1]);
    return points;
}

std::optional<KernelTable> SpecReader::take_kernels(KernelTableId id) {
    const auto& kernels = profile_.kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [id](const KernelEntry& entry) {
        return entry.measured.id == id;
    });
    if (found == kernels.end()) return std::nullopt;
    if (found->method != Method::measured)
        judge(found->method, Trust::measured, "times of kernels",
              found->note.empty() ? found->source : found->note);
    return found->measured.table();
}

void SpecReader::judge(Method method, Trust trust, const std::string& subject,
                       const std::string& reason) {
    if (trust == Trust::as_given || method == Method::measured) return;
    if (trust == Trust::datasheet && method == Method::datasheet) return;
    if (method == Method::transferred) return transfer(fmt::format("{} is {}", subject, reason));
    confidence_ = std::max(confidence_, Confidence::datasheet);
    say(fmt::format("{} is {} ({})", subject,
                    method == Method::datasheet ? "a datasheet value" : "an estimate", reason));
}

void SpecReader::say(std::string sentence) { add_once(assumptions_, std::move(sentence)); }

void SpecReader::say_first(std::string sentence) {
    assumptions_.insert(assumptions_.begin(), std::move(sentence));
}

void SpecReader::transfer(std::string sentence) {
    confidence_ = std::max(confidence_, Confidence::transferred);
    say(std::move(sentence));
}

void SpecReader::transfer_for_others(std::string sentence) {
    add_once(others_assumptions_, std::move(sentence));
}

void SpecReader::finish(MachineSpec& machine) {
    if (constants_assumed_)
        transfer("launch overheads and the sizes of context and process are the H200 machine's");
    machine.confidence = confidence_;
    machine.assumptions = std::move(assumptions_);
    machine.others_assumptions = std::move(others_assumptions_);
    machine.inputs = std::move(inputs_);
}

}  // namespace sluice

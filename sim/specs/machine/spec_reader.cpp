#include "sim/specs/machine/spec_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

void add_once(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

template <typename Entry>
const std::string& reason_of(const Entry& entry) {
    return entry.note.empty() ? entry.source : entry.note;
}

Trust trust_of(std::string_view path) { return number_at(path)->trust; }

}  // namespace

bool SpecReader::knows(std::string_view path) const { return profile_.number(path).has_value(); }

std::optional<double> SpecReader::take(std::string_view path) {
    if (!knows(path)) return std::nullopt;
    const Quantity* quantity = profile_.find(path);
    add_once(inputs_, quantity->path);
    judge(*quantity, path, fmt::format("{} {:g}", path, *quantity->value));
    return quantity->value;
}

double SpecReader::required(std::string_view path) {
    if (const auto value = take(path)) return *value;
    const Quantity* quantity = profile_.find(path);
    if (quantity == nullptr)
        throw InputError(fmt::format("{}: {} is missing; add it", profile_.file, path));
    throw InputError(
        fmt::format("{}: {} is not known ({}), so no step can be predicted; give it with "
                    "--set {}=NUMBER",
                    profile_.file, path, quantity->note, path),
        "settings");
}

double SpecReader::constant(const MachineNumber& row) {
    if (const auto value = take(row.path)) return *value;
    if (row.trust == Trust::others)
        assume(row.trust, "PyTorch's launch overheads are the H200 machine's");
    else
        constants_assumed_ = true;
    return row.h200;
}

std::vector<std::vector<double>> SpecReader::take_rows(std::string_view path) {
    const Curve* curve = profile_.find_curve(path);
    if (curve == nullptr) return {};
    judge(*curve, path, std::string(path));
    return curve->points;
}

std::vector<std::pair<double, double>> SpecReader::take_curve(std::string_view path) {
    std::vector<std::pair<double, double>> points;
    for (const auto& row : take_rows(path)) points.emplace_back(row[0], row[1]);
    return points;
}

std::optional<KernelTable> SpecReader::take_kernels(std::string_view path) {
    const auto& kernels = profile_.kernels;
    const auto found = std::ranges::find(kernels, path, &KernelEntry::path);
    if (found == kernels.end()) return std::nullopt;
    judge(*found, path, "times of kernels");
    return found->measured.table();
}

template <typename Entry>
void SpecReader::judge(const Entry& entry, std::string_view path, const std::string& subject) {
    const Trust trust = trust_of(path);
    const Method method = entry.method;
    const std::string& reason = reason_of(entry);
    if (trust == Trust::as_given || method == Method::measured) return;
    if (trust == Trust::datasheet && method == Method::datasheet) return;
    const auto is_reason = [&](const char* what) {
        return fmt::format("{} is {} ({})", subject, what, reason);
    };
    if (trust == Trust::others) return assume(trust, is_reason(method_name(method)));
    if (trust == Trust::where_used) return say_where_used(path, is_reason(method_name(method)));
    if (method == Method::transferred)
        return assume(trust, fmt::format("{} is {}", subject, reason));
    confidence_ = std::max(confidence_, Confidence::datasheet);
    say(is_reason(method == Method::datasheet ? "a datasheet value" : "an estimate"));
}

std::vector<SpecReader::Sentence>& SpecReader::sentences_of(Trust trust) {
    if (trust == Trust::others) return others_assumptions_;
    confidence_ = std::max(confidence_, Confidence::transferred);
    return assumptions_;
}

void SpecReader::assume_of(Trust trust, std::string_view before, std::string_view name,
                           std::string_view after) {
    std::vector<Sentence>& sentences = sentences_of(trust);
    const auto same = std::find_if(sentences.begin(), sentences.end(), [&](const Sentence& said) {
        return said.before == before && said.after == after;
    });
    if (same == sentences.end())
        sentences.push_back({std::string(before), std::string(name), std::string(after)});
    else if (!name.empty())
        same->names += fmt::format(", {}", name);
}

void SpecReader::assume(Trust trust, std::string sentence) { assume_of(trust, sentence, "", ""); }

void SpecReader::say(std::string sentence) {
    const auto same = [&](const Sentence& said) { return said.text() == sentence; };
    if (std::none_of(assumptions_.begin(), assumptions_.end(), same))
        assumptions_.push_back({std::move(sentence), "", ""});
}

void SpecReader::say_first(std::string sentence) {
    assumptions_.insert(assumptions_.begin(), {std::move(sentence), "", ""});
}

void SpecReader::say_where_used(std::string_view path, std::string sentence) {
    where_used_.emplace_back(path, std::move(sentence));
}

void SpecReader::finish(MachineSpec& machine) {
    if (constants_assumed_)
        assume(Trust::measured,
               "launch overheads and the sizes of context and process are the H200 machine's");
    machine.confidence = confidence_;
    for (const Sentence& said : assumptions_) machine.assumptions.push_back(said.text());
    for (const Sentence& said : others_assumptions_)
        machine.others_assumptions.push_back(said.text());
    for (auto& [path, sentence] : where_used_) {
        auto& list = path.starts_with("storage.")   ? machine.storage.assumptions
                     : path.starts_with("network.") ? machine.interconnect.network_assumptions
                                                    : machine.interconnect.assumptions;
        list.push_back(std::move(sentence));
    }
    machine.inputs = std::move(inputs_);
}

}  // namespace sluice

#include "sim/specs/scenario/project_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/base/json_object.h"
#include "sim/base/json_text.h"
#include "sim/specs/scenario/money_options.h"
#include "sim/specs/scenario/task.h"

namespace sluice {
namespace {

constexpr const char* kFormat = "sluice project";
constexpr std::int64_t kWithoutRun = 1, kNewest = 2;  // versions of the file
constexpr std::string_view kElement = "<script type=\"application/json\" id=\"sluice-project\">";
constexpr std::string_view kEnd = "</script>";

using Values = std::map<std::string, std::string>;

Values read_values(const JsonObject& scenario, const char* key,
                   const std::vector<std::string>& known) {
    Values out;
    const auto object = scenario.object_or_none(key);
    if (!object) return out;
    object->allow_only(known);
    for (const std::string& field : object->keys()) out[field] = object->scalar_text(field);
    return out;
}

std::vector<std::string> training_fields() {
    std::vector<std::string> out;
    for (const Option& option : training_options()) out.emplace_back(option.field);
    return out;
}

std::vector<std::string> money_fields() {
    std::vector<std::string> out;
    for (const MoneyOption& option : money_options()) out.emplace_back(option.field);
    return out;
}

/// Until November 2026 a purchase was `"buy": 1`.
Values read_money(const JsonObject& object) {
    constexpr const char* kBuy = "buy";
    std::vector<std::string> known = money_fields();
    known.emplace_back(kBuy);
    Values out = read_values(object, "money", known);
    if (const auto buy = out.find(kBuy); buy != out.end()) {
        if (buy->second == "1") out["ownership"] = ownership_name(Ownership::buy);
        out.erase(buy);
    }
    return out;
}

PlannedScenario read_one(const JsonObject& object) {
    object.allow_only({"name", "notes", "model", "layers", "untied", "vocabulary", "machine",
                       "host_memory", "set", "training", "money"});
    PlannedScenario out;
    out.name = object.text("name");
    out.notes = object.text_or("notes", "");
    out.model.model = object.text("model");
    if (object.has("layers")) out.model.layers = object.scalar_text("layers");
    out.model.untied = object.boolean_or("untied", false);
    if (object.has("vocabulary")) out.model.vocabulary = object.scalar_text("vocabulary");
    out.machine.machine = object.text("machine");
    if (object.has("host_memory")) out.machine.host_memory = object.text("host_memory");
    if (object.has("set")) out.machine.settings = object.texts("set");
    out.training = read_values(object, "training", training_fields());
    out.money = read_money(object);
    return out;
}

/// A JSON number if the text is one and reads back as the same text.
nlohmann::ordered_json as_value(const std::string& text) {
    const std::optional<double> value = parse_number(text);
    if (!value || !std::isfinite(*value)) return text;  // "inf" and "nan" also parse as numbers
    nlohmann::ordered_json number = json_number(*value);
    return number.dump() == text ? number : nlohmann::ordered_json(text);
}

nlohmann::ordered_json values_json(const Values& values, const std::vector<std::string>& order) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const std::string& field : order)
        if (const auto given = values.find(field); given != values.end())
            out[field] = as_value(given->second);
    return out;
}

nlohmann::ordered_json scenario_json(const PlannedScenario& planned) {
    nlohmann::ordered_json out;
    out["name"] = planned.name;
    if (!planned.notes.empty()) out["notes"] = planned.notes;
    out["model"] = planned.model.model;
    if (planned.model.layers) out["layers"] = as_value(*planned.model.layers);
    if (planned.model.untied) out["untied"] = true;
    if (planned.model.vocabulary) out["vocabulary"] = as_value(*planned.model.vocabulary);
    out["machine"] = planned.machine.machine;
    if (planned.machine.host_memory) out["host_memory"] = *planned.machine.host_memory;
    if (!planned.machine.settings.empty()) out["set"] = planned.machine.settings;
    if (!planned.training.empty())
        out["training"] = values_json(planned.training, training_fields());
    if (!planned.money.empty()) out["money"] = values_json(planned.money, money_fields());
    return out;
}

AskedRun read_asked_run(const JsonObject& object) {
    object.allow_only({"question", "ways"});
    AskedRun out;
    out.fields = read_values(object, "question", asked_run_fields());
    // The start page shows it as a choice, which cannot keep a mistake.
    if (const auto task = out.fields.find("task"); task != out.fields.end())
        read_task(task->second, object.object("question").where("task"));
    for (const JsonObject& way : object.objects("ways")) out.ways.push_back(read_one(way));
    return out;
}

nlohmann::ordered_json asked_run_json(const AskedRun& run) {
    nlohmann::ordered_json ways = nlohmann::ordered_json::array();
    for (const PlannedScenario& way : run.ways) ways.push_back(scenario_json(way));
    return {{"question", values_json(run.fields, asked_run_fields())}, {"ways", std::move(ways)}};
}

/// The JSON of a page's project_element().
std::string_view json_of_page(std::string_view page, const std::string& file) {
    const std::size_t begin = page.find(kElement);
    const std::size_t end = begin == std::string_view::npos ? begin : page.find(kEnd, begin);
    if (end == std::string_view::npos)
        throw InputError(fmt::format(
            "{} is a page without scenarios; name a project, or a page of sluice report or the "
            "planner",
            file));
    return page.substr(begin + kElement.size(), end - begin - kElement.size());
}

/// Splits FILE:NAME. Files and names may contain colons; npos: no name is given.
std::size_t colon_before_name(const std::string& file_and_name) {
    std::error_code error;
    if (std::filesystem::exists(file_and_name, error)) return std::string::npos;
    const std::size_t first = file_and_name.find(':');
    for (std::size_t at = first; at != std::string::npos; at = file_and_name.find(':', at + 1))
        if (std::filesystem::is_regular_file(file_and_name.substr(0, at), error)) return at;
    return first;
}

}  // namespace

const std::vector<std::string>& asked_run_fields() {
    static const std::vector<std::string> out = {"model", "task",       "tokens",
                                                 "seq",   "days",       "budget_usd",
                                                 "owned", "owned_gpus", "owned_memory"};
    return out;
}

Project parse_project(std::string_view text, const std::string& file) {
    const JsonObject root =
        JsonObject::parse(is_page(text) ? json_of_page(text, file) : text, file);
    if (!root.has("format") || root.text_or("format", "") != kFormat)
        throw InputError(
            fmt::format("{} is {}, expected \"{}\"; name a project that the planner saved",
                        root.where("format"),
                        root.has("format") ? root.shown_value("format") : "missing", kFormat));
    const std::int64_t version = root.integer("version", 1, 1'000'000);
    if (version > kNewest)
        throw InputError(fmt::format(
            "{} is {}, expected at most {}; a newer sluice wrote it: open it with that version",
            root.where("version"), version, kNewest));
    root.allow_only({"format", "version", "scenarios", "current", "asked_run"});
    Project out;
    for (const JsonObject& scenario : root.objects("scenarios"))
        out.scenarios.push_back(read_one(scenario));
    if (out.scenarios.empty())
        throw InputError(fmt::format("{} is empty, expected a scenario", root.where("scenarios")));
    out.current = static_cast<std::size_t>(
        root.integer_or("current", 0, 0, static_cast<std::int64_t>(out.scenarios.size()) - 1));
    if (const auto run = root.object_or_none("asked_run")) out.asked_run = read_asked_run(*run);
    return out;
}

std::string project_json(const Project& project) {
    nlohmann::ordered_json out;
    out["format"] = kFormat;
    out["version"] = project.asked_run ? kNewest : kWithoutRun;
    out["scenarios"] = nlohmann::ordered_json::array();
    for (const PlannedScenario& planned : project.scenarios)
        out["scenarios"].push_back(scenario_json(planned));
    out["current"] = project.current;
    if (project.asked_run) out["asked_run"] = asked_run_json(*project.asked_run);
    return readable_json(out);
}

std::string project_element(const Project& project) {
    std::string out(kElement);
    // The page's reader would end the element at "</script>" in a name; JSON knows "<" as a number.
    for (const char one : project_json(project))
        one == '<' ? void(out += "\\u003c") : void(out += one);
    return out.append(kEnd) + "\n";
}

bool is_page(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '<';
}

PlannedScenario read_planned_scenario(const std::string& file_and_name) {
    const std::size_t colon = colon_before_name(file_and_name);
    const std::string file = file_and_name.substr(0, colon);
    const Project project = parse_project(read_text_file(file), file);
    if (colon == std::string::npos) return project.scenarios[project.current];
    const std::string name = file_and_name.substr(colon + 1);
    std::vector<std::string> names;
    for (const PlannedScenario& planned : project.scenarios) names.push_back(planned.name);
    const auto count = std::ranges::count(names, name);
    if (count == 1)
        return project
            .scenarios[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
    if (count > 1)
        throw InputError(
            fmt::format("--scenario is \"{}\": {} has {} scenarios of that name; "
                        "rename all but one",
                        file_and_name, file, count));
    throw InputError(fmt::format("--scenario is \"{}\": {} has no scenario of that name, only {}{}",
                                 file_and_name, file, fmt::join(names, ", "),
                                 did_you_mean(name, names)));
}

}  // namespace sluice

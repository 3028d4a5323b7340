#include "engine/cli/recipe.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <set>

#include "engine/data/files.h"
#include "engine/train/run_checkpoints.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/command_line/program.h"

namespace sluice {
namespace {

constexpr const char* kRecipeFlag = "--recipe";
constexpr const char* kPlanFlag = "--plan";

std::string key_of(const CLI::Option& option) { return option.get_name().substr(2); }

/// Whether another option was given on the command line in its place.
bool is_replaced(const CLI::Option& option) {
    const std::set<CLI::Option*> others = option.get_excludes();
    return std::any_of(others.begin(), others.end(),
                       [](const CLI::Option* other) { return other->count() > 0; });
}

class RecipeFormat : public CLI::ConfigBase {
  public:
    RecipeFormat(const CLI::App& app, bool continues) : app_(app), continues_(continues) {}

    std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
        std::vector<CLI::ConfigItem> out;
        std::set<std::string> names;
        for (CLI::ConfigItem& item : ConfigBase::from_config(in)) {
            if (item.name == "++" || item.name == "--") continue;  // where sections begin and end
            std::replace(item.name.begin(), item.name.end(), '_', '-');
            item.parents.clear();
            const CLI::Option& option = option_of(item.name);
            if (!names.insert(item.name).second)
                throw refusal(fmt::format("key \"{}\" is given twice, expected once", item.name));
            if (continues_ && option.get_name() == kPlanFlag) continue;
            if (!is_replaced(option)) out.push_back(std::move(item));
        }
        return out;
    }

  private:
    const CLI::Option& option_of(const std::string& name) const {
        const CLI::Option* const option = app_.get_option_no_throw("--" + name);
        if (option != nullptr && option->get_configurable()) return *option;
        std::vector<std::string> keys;
        for (const CLI::Option* one : app_.get_options())
            if (one->get_configurable()) keys.push_back(key_of(*one));
        throw refusal(fmt::format("unknown key \"{}\"{}", name, did_you_mean(name, keys)));
    }

    CLI::ConfigError refusal(const std::string& what) const {
        const std::vector<std::string> files = app_.get_config_ptr()->results();
        const std::string sentence = fmt::format("{}: {}", files.front(), what);
        return {sentence, CLI::ExitCodes::ConfigError};
    }

    const CLI::App& app_;
    bool continues_;
};

/// As TOML has it. CLI11 reads no escapes.
std::string toml_value(const std::string& text) {
    if (text == "true" || text == "false" || parse_number(text)) return text;
    const char quote = text.find('"') == std::string::npos ? '"' : '\'';
    return quote + text + quote;
}

std::string toml_values(const std::vector<std::string>& texts) {
    if (texts.size() == 1) return toml_value(texts.front());
    std::vector<std::string> values;
    std::transform(texts.begin(), texts.end(), std::back_inserter(values), toml_value);
    return fmt::format("[{}]", fmt::join(values, ", "));
}

/// The recipe of the checkpoint to continue from.
std::optional<std::string> recipe_to_continue(const std::string& folder) {
    try {
        const auto newest = newest_checkpoint(folder);
        if (!newest) return std::nullopt;
        const std::string file = path_in(*newest, kRecipeFile);
        return is_there(file) ? std::optional(file) : std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;  // the run says why
    }
}

}  // namespace

RunWords run_words(int argc, char** argv) {
    RunWords out{{argv, argv + argc}};
    // Only these options matter here; the program's parser judges all words.
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::string folder, given_out, recipe;
    const CLI::Option* const resume = app.add_option("--resume", folder)->expected(0, 1);
    app.add_option("--out", given_out);
    app.add_option(kRecipeFlag, recipe);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError&) {
        return out;
    }
    if (resume->count() == 0 || !recipe.empty()) return out;
    if (const auto file = recipe_to_continue(folder.empty() ? given_out : folder)) {
        out.words.insert(out.words.end(), {kRecipeFlag, *file});
        out.continues = true;
    }
    return out;
}

void add_recipe(CLI::App& app, const RunWords& words) {
    app.set_config(kRecipeFlag, "", "a file of options (TOML): the name of each flag is a key")
        ->type_name("FILE")
        ->group("Data")
        ->configurable(false);
    app.config_formatter(std::make_shared<RecipeFormat>(app, words.continues));
}

std::string recipe_text(const CLI::App& app, const std::vector<std::string>& words) {
    std::string command;
    for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
    std::replace(command.begin(), command.end(), '\n', ' ');
    std::string out = fmt::format("# {}\n", printable(command));
    for (const CLI::Option* option : app.get_options())
        if (option->get_configurable() && option->count() > 0)
            out += fmt::format("{} = {}\n", key_of(*option), toml_values(option->results()));
    return out;
}

}  // namespace sluice

#include "sim/command_line/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

constexpr std::size_t kTextColumn = 33;
constexpr char kBetween = '\n';  // the brief description and the whole one

using Lines = std::vector<std::string>;

/// Adds the text's words to the last line, and to further ones that begin in column `indent`.
void add_words(Lines& lines, const std::string& text, std::size_t indent) {
    for (const std::string& word : CLI::detail::split(text, ' ')) {
        if (word.empty()) continue;
        const bool begins = lines.back().empty() || lines.back().back() == ' ';
        if (!begins && lines.back().size() + 1 + word.size() > kHelpColumns)
            lines.emplace_back(indent, ' ');
        else if (!begins)
            lines.back() += ' ';
        lines.back() += word;
    }
}

struct Group {
    std::string title;
    std::vector<const CLI::Option*> options;
    Lines lines = {};
    bool folded = false;
};

class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        const bool in_full = mode == CLI::AppFormatMode::All;
        Lines head = {""};
        add_words(head, app->get_description(), 0);
        head.push_back(usage(*app, name));
        std::vector<Group> groups = groups_of(*app, in_full);
        Lines commands = subcommands(*app);
        while (!in_full && lines_in(groups) + head.size() + commands.size() > kHelpLines)
            if (!fold_longest(groups)) break;
        std::string out;
        const auto print = [&out](const Lines& lines) {
            for (const std::string& line : lines) out += line + '\n';
        };
        print(head);
        for (const Group& group : groups) print(group.lines);
        print(commands);
        return out;
    }

  private:
    std::string usage(const CLI::App& app, const std::string& name) const {
        std::string out = make_usage(&app, name);
        out.pop_back();  // the end of the line
        return out;
    }

    /// "--micro-batch N"
    std::string name_of(const CLI::Option& option) const {
        const bool positional = option.get_positional();
        std::string out = option.get_name(positional, !positional);
        if (option.get_type_size() == 0) return out;
        if (!positional && !option.get_type_name().empty()) out += ' ' + option.get_type_name();
        const bool several = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
        return several ? out + " ..." : out;
    }

    std::string text_of(const CLI::Option& option, bool in_full) const {
        std::string out = option.get_description();
        const std::size_t between = out.find(kBetween);
        if (between != std::string::npos)
            out = in_full ? out.substr(between + 1) : out.substr(0, between);
        if (!option.get_default_str().empty())
            out += fmt::format(" [{}]", option.get_default_str());
        for (const CLI::Option* needed : option.get_needs())
            out += fmt::format("; needs {}", needed->get_name());
        if (option.get_required() && !option.get_positional()) out += "; required";
        return out;
    }

    std::vector<Group> groups_of(const CLI::App& app, bool in_full) const {
        const auto belongs = [in_full, asked = schedule_of(app)](const CLI::Option* option) {
            const auto row = std::ranges::find(training_options(), option->get_name(), option_flag);
            return row == training_options().end() || (in_full && !asked) ||
                   has_option(asked.value_or(Schedule()), *row);
        };
        std::vector<Group> out = {{"Words", app.get_options([](const CLI::Option* option) {
                                       return option->get_positional();
                                   })}};
        for (const std::string& title : app.get_groups())
            out.push_back({title, app.get_options([&](const CLI::Option* option) {
                               return option->get_group() == title && option->nonpositional() &&
                                      belongs(option);
                           })});
        std::erase_if(out, [](const Group& group) { return group.options.empty(); });
        for (Group& group : out) {
            group.lines = {"", group.title + ":"};
            for (const CLI::Option* option : group.options)
                add_entry(group.lines, name_of(*option), text_of(*option, in_full));
        }
        return out;
    }

    /// The one that the words name, if they do. Throws InputError where there is none of that name.
    static std::optional<Schedule> schedule_of(const CLI::App& app) {
        const CLI::Option* const option = app.get_option_no_throw("--schedule");
        if (option == nullptr || option->count() == 0) return std::nullopt;
        TrainingSpec training;
        set_option(training, training_option("schedule"), option->results().back(), "--schedule");
        return training.schedule;
    }

    static void add_entry(Lines& lines, const std::string& name, const std::string& text) {
        lines.push_back("  " + name);
        const std::size_t begin = lines.back().size() + 2, end = kTextColumn + text.size();
        if (begin > kTextColumn && begin + text.size() > kHelpColumns && end <= kHelpColumns)
            lines.emplace_back();  // the text fits on a line of its own
        lines.back().resize(std::max(lines.back().empty() ? 0 : begin, kTextColumn), ' ');
        add_words(lines, text, kTextColumn);
    }

    Lines subcommands(const CLI::App& app) const {
        Lines out;
        for (const CLI::App* command : app.get_subcommands({})) {
            if (out.empty()) out = {"", "Subcommands:"};
            add_entry(out, command->get_name(), command->get_description());
        }
        return out;
    }

    static std::size_t lines_in(const std::vector<Group>& groups) {
        std::size_t out = 0;
        for (const Group& group : groups) out += group.lines.size();
        return out;
    }

    /// Leaves the names of the options alone; false if all groups are folded.
    bool fold_longest(std::vector<Group>& groups) const {
        const auto length = [](const Group& group) {
            return group.folded ? 0 : group.lines.size();
        };
        Group& longest = *std::ranges::max_element(groups, {}, length);
        if (longest.folded) return false;
        longest.folded = true;
        longest.lines = {"", longest.title + " (--help-all tells their meaning):", "  "};
        for (const CLI::Option* option : longest.options) {
            const std::string name = name_of(*option);
            Lines& lines = longest.lines;
            if (lines.back().size() + 2 + name.size() > kHelpColumns) lines.emplace_back("  ");
            lines.back() += (lines.back().size() > 2 ? "  " : "") + name;
        }
        return true;
    }
};

void set_help(CLI::App& app, const std::shared_ptr<HelpFormatter>& formatter) {
    app.formatter(formatter);
    app.set_help_flag("-h,--help", "these lines; [...]: a default");
    app.set_help_all_flag("--help-all", "all options, with ranges and the whole text");
    for (CLI::App* command : app.get_subcommands({})) set_help(*command, formatter);
}

}  // namespace

std::string described(const std::string& brief, const std::string& whole) {
    return brief + kBetween + whole;
}

void set_help(CLI::App& app) { set_help(app, std::make_shared<HelpFormatter>()); }

}  // namespace sluice

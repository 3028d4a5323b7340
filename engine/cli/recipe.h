// Which options does a recipe give: a file with a key for each flag, also the one that each
// checkpoint keeps?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace sluice {

/// The command line of a program, perhaps with the recipe of the checkpoint that it continues from.
struct RunWords {
    std::vector<std::string> words;  ///< the program first
    /// The recipe is a checkpoint's, which keeps its plan itself: the recipe's is not taken.
    bool continues = false;
};

/// `--resume FOLDER`, or `--resume` with `--out FOLDER`, takes the recipe of the folder's newest
/// checkpoint where it has one and no --recipe is given.
RunWords run_words(int argc, char** argv);

/// Adds --recipe. Options on the command line go before those of the file, which may have sections
/// of any names. A wrong file ends as a wrong command line does. Call it after all other options.
void add_recipe(CLI::App& app, const RunWords& words);

/// After the command line was read: all options that were given, on it or in a recipe, as such a
/// file, below the command.
std::string recipe_text(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sluice

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/cli/commands.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

int list_models() {
    fmt::print("{:<28} {:>11} {:>11} {:>6} {:>7} {:>8}  {}\n", "name", "parameters", "active",
               "layers", "hidden", "vocab", "type");
    std::vector<std::string> names = library_models();
    for (const ScaledTarget& target : scaled_targets()) names.emplace_back(target.name);
    for (const std::string& name : names) {
        const ModelSpec model = read_model(name);
        fmt::print("{:<28} {:>11} {:>11} {:>6} {:>7} {:>8}  {}\n", name,
                   format_count(static_cast<double>(total_parameters(model))),
                   format_count(static_cast<double>(active_parameters(model))),
                   format_number_of(model.layer_count(), "layer"), model.hidden, model.vocabulary,
                   model.family);
    }
    return 0;
}

struct ShowFlags {
    std::string name;
    bool json = false;
};

int show_json(const ModelSpec& model) {
    nlohmann::ordered_json out;
    out["name"] = model.name;
    out["type"] = model.family;
    out["parameters"] = total_parameters(model);
    out["active_parameters"] = active_parameters(model);
    out["embedding_parameters"] = embedding_parameters(model);
    out["head_parameters"] = head_parameters(model);
    out["largest_layer_parameters"] = largest_layer_parameters(model);
    out["layers"] = model.layer_count();
    out["hidden"] = model.hidden;
    out["vocabulary"] = model.vocabulary;
    out["tied_embeddings"] = model.tied_embeddings;
    out["longest_sequence"] = model.longest_sequence;
    out["source"] = model.source;
    out["note"] = model.note;
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return 0;
}

int show_text(const ModelSpec& model) {
    fmt::print(
        "{}: {} parameters, {} active for a token; {}, hidden {}, vocabulary {}, embeddings "
        "{}\n",
        model.name, format_thousands(static_cast<double>(total_parameters(model))),
        format_thousands(static_cast<double>(active_parameters(model))),
        format_number_of(model.layer_count(), "layer"), model.hidden, model.vocabulary,
        model.tied_embeddings ? "tied" : "untied");
    fmt::print("source: {}\n", model.source);
    if (!model.note.empty()) fmt::print("note: {}\n", model.note);
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        const auto count =
            std::count(model.layers.begin(), model.layers.end(), static_cast<int>(kind));
        fmt::print(
            "\n{} of {} parameters{}\n", format_number_of(count, "layer"),
            format_thousands(static_cast<double>(layer_parameters(model, model.kinds[kind]))),
            model.kinds[kind].attention.window > 0
                ? fmt::format(", sliding window {}", model.kinds[kind].attention.window)
                : "");
        for (const ParameterTensor& tensor : layer_tensors(model, model.kinds[kind])) {
            fmt::print("  {:<28} {:>7} x {:<7}{}\n", tensor.name, tensor.rows, tensor.columns,
                       tensor.count > 1 ? fmt::format(" x {}", tensor.count) : "");
        }
    }
    return 0;
}

}  // namespace

void add_models(CLI::App& app, Command& chosen) {
    CLI::App* const models = app.add_subcommand("models", "The models of the built-in library");
    models->callback([&chosen, models] {
        if (models->get_subcommands().empty()) chosen = list_models;
    });
    CLI::App* const show = models->add_subcommand("show", "One model: its layers and tensors");
    const auto flags = std::make_shared<ShowFlags>();
    show->add_option("name", flags->name, "a name, a generic shape or a path to a config.json")
        ->required();
    show->add_flag("--json", flags->json, "as JSON");
    show->callback([&chosen, flags] {
        chosen = [flags] {
            return flags->json ? show_json(read_model(flags->name))
                               : show_text(read_model(flags->name));
        };
    });
}

}  // namespace sluice

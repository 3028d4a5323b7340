#include "engine/cli/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>

#include "engine/machine/bus_errors.h"
#include "engine/train/exported_model.h"
#include "engine/train/progress.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/command_line/help.h"
#include "sim/command_line/program.h"

namespace sluice {
namespace {

struct ExportFlags {
    ExportRequest request;
    std::string precision = "bf16";
    std::optional<std::string> shard_size;
};

struct Precision {
    const char* name;
    Dtype dtype;
};
constexpr std::array kPrecisions = {Precision{"bf16", Dtype::bf16}, Precision{"fp32", Dtype::f32}};

Dtype dtype_of(const std::string& precision) {
    for (const auto& [name, dtype] : kPrecisions)
        if (precision == name) return dtype;
    throw InputError(fmt::format("--precision is \"{}\", expected bf16 or fp32", precision));
}

void add_flags(CLI::App& app, ExportFlags& flags) {
    app.add_option("FROM", flags.request.from, "folder of a run, or one of its checkpoints")
        ->required()
        ->type_name("");
    add_option(app, {"--out", "FOLDER"}, flags.request.to, "the folder to make")->required();
    add_option(app, {"--precision", "{bf16,fp32}"}, flags.precision,
               "bf16, or fp32: the masters to the bit, as far as --state-bytes kept them")
        ->capture_default_str();
    add_option(app, {"--base", "FOLDER"}, flags.request.base,
               "the weights that adapters are merged into [those they were trained beside]");
    add_option(app, {"--shard-size", "SIZE"}, flags.shard_size,
               "a file has at most this size, as in 2GB, or one tensor [5GB]");
}

int export_as(ExportFlags& flags) {
    explain_bus_errors();
    flags.request.dtype = dtype_of(flags.precision);
    if (flags.shard_size)
        flags.request.shard_bytes =
            static_cast<std::int64_t>(parse_memory_size(*flags.shard_size, "--shard-size"));
    const ExportedModel made = export_model(flags.request);
    say(fmt::format("{}: the model of {} in {}, {} in {}\n", flags.request.to, made.checkpoint,
                    flags.precision, format_bytes(static_cast<double>(made.bytes)),
                    format_number_of(static_cast<std::int64_t>(made.files), "file")));
    return 0;
}

}  // namespace

int run_export(int argc, char** argv) {
    CLI::App app("Makes a model's folder of a checkpoint, for transformers, vLLM and others.",
                 "sluice-train export");
    ExportFlags flags;
    add_flags(app, flags);
    return run_program(
        app, [&] { return export_as(flags); }, argc - 1, argv + 1);
}

}  // namespace sluice

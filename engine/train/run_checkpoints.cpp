#include "engine/train/run_checkpoints.h"

#include <fmt/format.h>

#include <cstdio>

#include "sim/base/input_error.h"

namespace sluice {

RunCheckpoints::RunCheckpoints(const ModelSpec& model, const TrainSettings& settings,
                               std::int64_t state_bytes)
    : model_(model),
      settings_(settings),
      lock_(*settings.out),
      beside_(read_model_files(settings.model_files)) {
    const std::string& out = *settings.out;
    prepare_output_folder(out);
    if (const auto there = newest(); there && !settings.resume)
        throw InputError(fmt::format(
            "--out {}: holds {} already; give --resume to continue from it, or another folder", out,
            *there));
    const std::int64_t saves =
        settings.save_every == 0 ? 1 : (settings.steps - 1) / settings.save_every + 1;
    refuse_small_disk(out, total_parameters(model) * state_bytes, saves, settings.keep);
}

std::optional<TrainingState> RunCheckpoints::load(ParameterStore& store,
                                                  const std::string& settings) const {
    const std::vector<std::string> folders = checkpoints_by_age(*settings_.out);
    for (const std::string& folder : folders) {
        try {
            TrainingState state = load_checkpoint(folder, model_, store);
            const std::string changes = changed_settings(folder, state.settings, settings);
            fmt::print("continuing from {}\n", folder);
            if (!changes.empty()) fmt::print("note: {}\n", changes);
            return state;
        } catch (const DamagedCheckpoint& damage) {
            fmt::print(stderr, "warning: {}\n", damage.what());
        }
    }
    if (!folders.empty())
        throw InputError(
            fmt::format("--out {}: holds no checkpoint without damage; choose another --out to "
                        "start from step 1",
                        *settings_.out));
    return std::nullopt;
}

bool RunCheckpoints::is_due(std::int64_t step) const {
    return settings_.save_every > 0 && step % settings_.save_every == 0;
}

void RunCheckpoints::save(const ParameterStore& store, const TrainingState& state,
                          bool last) const {
    try {
        save_checkpoint(*settings_.out, model_, store, state, settings_.keep, beside_);
    } catch (const InputError& error) {
        if (last) throw;
        fmt::print(stderr, "sluice-train: no checkpoint of step {}: {}\n", state.step,
                   error.what());
    }
}

}  // namespace sluice

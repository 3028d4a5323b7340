// How is each answer shown: as a table, text, JSON, CSV, picture, or a page that needs no other
// file? Keys of JSON and CSV carry units; errors are shares.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "sim/report/bars.h"
#include "sim/report/table.h"

namespace sluice {

struct AdviceRequest;
struct AuditedClaim;
struct ClaimFile;
struct Comparison;
struct CostAnswer;
struct Prediction;
struct Decision;
struct FindAnswer;
struct MachineAdvice;
struct MachineChoices;
struct MachineDiff;
struct MachineProfile;
struct ModelSpec;
struct OperationErrors;
struct PublishedTable;
struct RunComparison;
struct Sensitivity;
struct TrackRecord;
struct Upgrade;
struct Validation;

/// Precondition: `machines` is not empty.
std::string advice_text(const std::vector<MachineAdvice>& machines, const AdviceRequest& request);
std::string advice_json(const std::vector<MachineAdvice>& machines, const AdviceRequest& request);

std::string audit_text(const ClaimFile& file, const std::vector<AuditedClaim>& claims);
std::string audit_json(const ClaimFile& file, const std::vector<AuditedClaim>& claims);

/// A row a system and number of layers. For what does not fit, people see no speed and programs the
/// speed without that limit.
Table systems_table(std::span<const Comparison> comparisons, const BytesText& bytes = format_bytes);
/// The table of one comparison, with a last row of the available memory. For people.
Table systems_and_memory(const Comparison& comparison);
/// One comparison as a row a system; several, which have the same systems, as a row a number of
/// layers. Never none.
std::string comparison_text(std::span<const Comparison> comparisons);
std::string comparison_json(std::span<const Comparison> comparisons);
std::string comparison_csv(std::span<const Comparison> comparisons);
/// A bar of tokens/s a system, with its band; grey where it does not fit.
BarChart comparison_bars(std::span<const Comparison> comparisons);

std::string cost_text(const CostAnswer& answer, const Prediction& prediction);
std::string cost_json(const CostAnswer& answer, const Prediction& prediction);

std::string find_text(const FindAnswer& answer);
std::string find_json(const FindAnswer& answer);

/// A row a machine, with what it costs.
Table machine_choices_table(const MachineChoices& choices);
std::string machine_choices_text(const MachineChoices& choices);
std::string machine_choices_json(const MachineChoices& choices);
/// Only machines that do it and have a price.
std::string machine_choices_csv(const MachineChoices& choices);
/// Two plots: tokens/s over dollars an hour, and over dollars per million tokens, of the machines
/// that do it and have a price.
Picture machine_choices_picture(const MachineChoices& choices);

/// A row an upgrade: its gain, then what limits.
Table upgrades_table(const Sensitivity& sensitivity);
std::string sensitivity_text(const Sensitivity& sensitivity);
std::string sensitivity_json(const Sensitivity& sensitivity);
/// A bar an upgrade, in their order; grey where its band reaches 0 or less.
BarChart upgrade_bars(const Sensitivity& sensitivity);
/// The gain of one with its band, with which settings, and what limits then.
std::string upgrade_sentence(const Upgrade& upgrade);
/// What the machine is bound by, what gains most, and what limits then.
std::string sensitivity_sentence(const Sensitivity& sensitivity);

/// "Which of 3 machines should train Qwen2.5-14B (...)?"
std::string question(const Decision& decision);
/// One sentence or a few: which machine, how fast, for how much; how sure that is.
std::vector<std::string> answer(const Decision& decision);
/// Tokens of the run: "20 B", "1.5 B".
std::string tokens_words(const Decision& decision);
/// One sentence.
std::string track_record_words(const TrackRecord& record);
/// SVG within figures: bars, memory, cost against speed and, of the chosen machine, a step and
/// upgrades.
std::string decision_pictures(const Decision& decision);
/// The answer and the machines.
std::string decision_text(const Decision& decision);
std::string decision_html(const Decision& decision);

/// The runs, a row each.
Table validation_table(const Validation& validation, const BytesText& bytes = format_bytes);
/// The runs, their phases, then the errors of each group.
std::string validation_text(const Validation& validation);
/// With `operations` the errors of operations, of all runs and of each.
std::string validation_json(const Validation& validation,
                            const OperationErrors* operations = nullptr);
std::string validation_csv(const Validation& validation);
std::string validation_html(const Validation& validation);
/// Predicted over measured tokens/s on logarithmic axes, with the diagonal and lines at +-5%; a
/// colour a group; names of the runs that are most wrong. The id of a point is its place among the
/// runs. Fills the space. Precondition: a run at least.
Picture scatter_picture(const Validation& validation, const PictureSpace& space = {730, 760});
/// Name, measured, predicted and their difference, a line each.
std::string run_tooltip(const RunComparison& run);
/// The error of tokens/s as a bar a run, and the predicted 5-95% band.
BarChart error_bars(const Validation& validation);

/// Kinds of operations by lane, then the single ones that are most wrong.
std::string operation_errors_text(const OperationErrors& errors);
nlohmann::ordered_json operation_errors_json(const OperationErrors& errors);

/// A row a published row, then explanations and what is not compared.
std::string published_text(const PublishedTable& table);
std::string published_json(const PublishedTable& table);

/// A row a model of the library.
std::string models_text();
/// Its size and, by kind of layer, its tensors.
std::string model_text(const ModelSpec& model);
std::string model_json(const ModelSpec& model);

/// A row a machine of the library, with how far predictions for it can be trusted.
std::string machines_text();
/// Every number with its method, date and source, and what is assumed where one is missing.
std::string machine_text(const MachineProfile& profile);
std::string machine_json(const MachineProfile& profile);

std::string machine_diff_text(const MachineDiff& diff);
std::string machine_diff_json(const MachineDiff& diff);

}  // namespace sluice

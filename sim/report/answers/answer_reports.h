// How is each answer shown: as a table, text, JSON, CSV, picture or web page? JSON and CSV keys
// carry units; errors are shares.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
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
struct RunCost;
struct RunLimits;
struct RunQuestion;
struct RunWay;
struct Sensitivity;
struct FullNode;
struct TrackRecord;
struct Upgrade;
struct Validation;

/// Whether the run meets the limits; empty without any.
Cell meets_cell(const RunLimits& limits, const RunCost& run, bool priced);

/// Precondition: `machines` is not empty.
std::string advice_text(const std::vector<MachineAdvice>& machines, const AdviceRequest& request);
std::string advice_json(const std::vector<MachineAdvice>& machines, const AdviceRequest& request);

std::string audit_text(const ClaimFile& file, const std::vector<AuditedClaim>& claims);
std::string audit_json(const ClaimFile& file, const std::vector<AuditedClaim>& claims);

/// One row per system and number of layers. Where a system does not fit, people see no speed;
/// programs read the speed without the memory limit.
Table systems_table(std::span<const Comparison> comparisons, const BytesText& bytes = format_bytes);
/// The table of one comparison for people, with a last row of the available memory.
Table systems_and_memory(const Comparison& comparison);
/// For one comparison, one row per system; for several with the same systems, one row per number of
/// layers. Precondition: at least one comparison.
std::string comparison_text(std::span<const Comparison> comparisons);
std::string comparison_json(std::span<const Comparison> comparisons);
std::string comparison_csv(std::span<const Comparison> comparisons);
/// One bar of tokens/s per system, with its band; grey where the system does not fit.
BarChart comparison_bars(std::span<const Comparison> comparisons);

std::string cost_text(const CostAnswer& answer, const Prediction& prediction,
                      const std::optional<FullNode>& together);
std::string cost_json(const CostAnswer& answer, const Prediction& prediction,
                      const std::optional<FullNode>& together);
/// A line a way to pay; the last is a job beside others on its node.
std::string cost_csv(const CostAnswer& answer, const Prediction& prediction,
                     const std::optional<FullNode>& together);

/// A row for each way to pay, grouped: rent by the hour, spot, reserved, own cluster, bought; last
/// as many jobs as the node holds. A way without a price has a row that says what is missing.
Table ways_to_pay_table(const CostAnswer& answer, const std::optional<FullNode>& together);
/// When buying pays off, and what the node costs if jobs fill it. One to a few sentences.
std::vector<std::string> ways_to_pay_words(const CostAnswer& answer,
                                           const std::optional<FullNode>& together);
/// Dollars of today over the months of ownership: rented, and bought; with the break-even. Empty if
/// one of them has no price.
std::optional<Picture> break_even_picture(const CostAnswer& answer, const PictureSpace& space = {});

/// The same three as parts of a page.
std::string ways_to_pay_html(const CostAnswer& answer, const std::optional<FullNode>& together);

std::string find_text(const FindAnswer& answer);
std::string find_json(const FindAnswer& answer);

/// One row per machine, with its costs.
Table machine_choices_table(const MachineChoices& choices);
std::string machine_choices_text(const MachineChoices& choices);
std::string machine_choices_json(const MachineChoices& choices);
/// Only machines that reach the goal and have a price.
std::string machine_choices_csv(const MachineChoices& choices);
/// Two plots of the machines that reach the goal and have a price: tokens/s over dollars an hour,
/// and over dollars per million tokens.
Picture machine_choices_picture(const MachineChoices& choices);

/// Warnings about a way: deadline and budget, also at the slow end of the band, and
/// a host that is assumed.
std::vector<std::string> run_warnings(const RunQuestion& question, const RunWay& way);
/// Where the model is kept, the speed, and what is paid for.
std::string run_explanation(const RunWay& way);
/// How many ways fit and meet the limits, and which machines are not proposed and why.
std::string ways_summary(const RunQuestion& question, const std::vector<RunWay>& ways);
/// A row for each way that fits, in the order of `ways`.
Table ways_table(const RunQuestion& question, const std::vector<RunWay>& ways);
/// The proposed ways, then all that fit.
std::string run_text(const RunQuestion& question, const std::vector<RunWay>& ways);
std::string run_json(const RunQuestion& question, const std::vector<RunWay>& ways);

/// One row per upgrade: its gain, and the limit after it.
Table upgrades_table(const Sensitivity& sensitivity);
std::string sensitivity_text(const Sensitivity& sensitivity);
std::string sensitivity_json(const Sensitivity& sensitivity);
/// One bar per upgrade, in the same order; grey where its band reaches 0 or less.
BarChart upgrade_bars(const Sensitivity& sensitivity);
/// The gain of one upgrade with its band, the settings, and the limit after it.
std::string upgrade_sentence(const Upgrade& upgrade);
/// The machine's limit, the upgrade with the largest gain, and the limit after it.
std::string sensitivity_sentence(const Sensitivity& sensitivity);

/// "Which of 3 machines should train Qwen2.5-14B (...)?"
std::string question(const Decision& decision);
/// One to a few sentences: which machine, its speed and cost, and how sure the answer is.
std::vector<std::string> answer(const Decision& decision);
/// The tokens of the run: "20 B", "1.5 B".
std::string tokens_words(const Decision& decision);
/// One sentence about measured errors of earlier predictions.
std::string track_record_words(const TrackRecord& record);
/// One row per candidate with its speed, memory and costs; the chosen one is marked.
Table decision_machines_table(const Decision& decision);
/// The settings of each candidate as flags.
Table decision_settings_table(const Decision& decision);
/// SVG in figures: bars, memory, cost against speed, and for the chosen machine a step and
/// upgrades.
std::string decision_pictures(const Decision& decision);
std::string decision_text(const Decision& decision);
std::string decision_html(const Decision& decision);

Table validation_table(const Validation& validation, const BytesText& bytes = format_bytes);
/// The runs, their phases, then the errors of each group.
std::string validation_text(const Validation& validation);
/// With `operations`, also the errors of operations over all runs and in each run.
std::string validation_json(const Validation& validation,
                            const OperationErrors* operations = nullptr);
std::string validation_csv(const Validation& validation);
std::string validation_html(const Validation& validation);
/// Predicted over measured tokens/s on logarithmic axes, with the diagonal and lines at +-5%. Each
/// group has a colour, and the runs with the largest errors have names. A point's id is the run's
/// index. Fills the space. Precondition: at least one run.
Picture scatter_picture(const Validation& validation, const PictureSpace& space = {730, 760});
/// One line each: name, measured, predicted, difference.
std::string run_tooltip(const RunComparison& run);
/// One bar per run with the error of tokens/s, and the predicted 5 to 95% band.
BarChart error_bars(const Validation& validation);

/// Kinds of operations by lane, then the single operations with the largest errors.
std::string operation_errors_text(const OperationErrors& errors);
nlohmann::ordered_json operation_errors_json(const OperationErrors& errors);

/// One row per published result, then explanations and the rows that are not compared.
std::string published_text(const PublishedTable& table);
std::string published_json(const PublishedTable& table);

std::string models_text();
std::string models_json();
/// The model's size and, by kind of layer, its tensors.
std::string model_text(const ModelSpec& model);
std::string model_json(const ModelSpec& model);

/// One row per machine of the library, with the confidence of predictions for it.
std::string machines_text();
std::string machines_json();
/// Every number with its method, date and source, and the assumptions that replace missing numbers.
std::string machine_text(const MachineProfile& profile);
std::string machine_json(const MachineProfile& profile);

std::string machine_diff_text(const MachineDiff& diff);
std::string machine_diff_json(const MachineDiff& diff);

}  // namespace sluice

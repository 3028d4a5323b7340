// How is each answer shown: as a table, text, JSON, CSV, or a page that needs no other file? Keys
// of JSON and CSV carry units; errors are shares.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

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
struct OperationErrors;
struct PublishedTable;
struct Sensitivity;
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

/// A row an upgrade: its gain, then what limits.
Table upgrades_table(const Sensitivity& sensitivity);
std::string sensitivity_text(const Sensitivity& sensitivity);
std::string sensitivity_json(const Sensitivity& sensitivity);

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

/// Kinds of operations by lane, then the single ones that are most wrong.
std::string operation_errors_text(const OperationErrors& errors);
nlohmann::ordered_json operation_errors_json(const OperationErrors& errors);

/// A row a published row, then explanations and what is not compared.
std::string published_text(const PublishedTable& table);
std::string published_json(const PublishedTable& table);

}  // namespace sluice

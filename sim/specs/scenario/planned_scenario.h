// What did somebody plan: which model on which machine with which settings, as typed? And what
// does it resolve to?
#pragma once

#include <map>
#include <string>
#include <utility>

#include "sim/answers/cost/cost_query.h"
#include "sim/base/input_error.h"
#include "sim/specs/scenario/scenario.h"

namespace sluice {

/// As typed: it may hold mistakes, which resolve() names.
struct PlannedScenario {
    std::string name, notes;
    ModelFlags model;
    MachineFlags machine;
    std::map<std::string, std::string> training;  ///< by field of training_options()
    std::map<std::string, std::string> money;     ///< by field of money_options()

    bool operator==(const PlannedScenario&) const = default;
};
/// Whether they are equal but for names and notes, which no prediction depends on.
bool ask_the_same(const PlannedScenario& a, const PlannedScenario& b);

/// A mistake in one field: `model`, `layers`, `machine`, `host_memory`, `settings`, or one of
/// training_options() or money_options(). The message is the sentence that the command line says.
class FieldError : public InputError {
  public:
    FieldError(std::string field, const std::string& sentence)
        : InputError(sentence), field_(std::move(field)) {}
    const std::string& field() const { return field_; }

  private:
    std::string field_;
};

struct Scenario {
    ModelSpec model;
    MachineProfile profile;
    MachineSpec machine;
    TrainingSpec training;
    CostQuery money;
};

/// Reads the model and the machine and checks all values. Throws FieldError.
Scenario resolve(const PlannedScenario& planned);

/// The field that a sentence is about, by the first flag in it; `otherwise` where it names none.
std::string field_of(const std::string& sentence, const std::string& otherwise);

/// What `read` returns; an InputError of it becomes a FieldError as field_of() says.
template <typename Read>
auto in_field(const char* otherwise, Read read) {
    try {
        return read();
    } catch (const FieldError&) {
        throw;
    } catch (const InputError& error) {
        throw FieldError(field_of(error.what(), otherwise), error.what());
    }
}

/// "./dev predict --model ... --batch 32", quoted for a shell. `command` may be another that takes
/// the flags of a scenario; money only where it takes money ("cost").
std::string command_line(const PlannedScenario& planned, const std::string& command = "predict");

}  // namespace sluice

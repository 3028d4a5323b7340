#include "planner-gui/session/example.h"

#include <QCoreApplication>
#include <algorithm>

#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

QString words(const char* text) { return QCoreApplication::translate("sluice::Example", text); }

}  // namespace

PlannedScenario example_scenario() {
    PlannedScenario out;
    out.name = words("120 B on one H200").toStdString();
    out.notes =
        words("Can one H200 train 120 B parameters? With how much host memory?").toStdString();
    out.model.model = "120b";
    out.machine.machine = "h200-sxm-pcie5-1.5tb";
    out.training = {{"batch", "64"}, {"micro_batch", "16"}, {"state_bytes", "8"}};
    return out;
}

std::vector<ExampleQuestion> example_questions() {
    return {{words("Is 1 TB of host memory enough?"), {{"host_memory", "1TB"}}},
            {words("And 1 TB with even smaller optimizer states?"),
             {{"host_memory", "1TB"}, {"state_bytes", "6"}}},
            {words("Which machine is the cheapest?"), {}}};
}

bool is_of_example(const PlannedScenario& planned) {
    const std::vector<ExampleQuestion> questions = example_questions();
    return ask_the_same(planned, example_scenario()) ||
           std::any_of(questions.begin(), questions.end(), [&](const ExampleQuestion& question) {
               return ask_the_same(planned, with_settings(example_scenario(), question.settings));
           });
}

}  // namespace sluice

#include "planner-gui/session/scenario_stack.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/scenario_dock.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

PlannedScenario named(const std::string& name) {
    PlannedScenario out;
    out.name = name;
    out.model.model = "120b";
    return out;
}

void set_batch(ScenarioStack& stack, const std::string& batch) {
    PlannedScenario edited = stack.current();
    edited.training["batch"] = batch;
    stack.edit(edited, QStringLiteral("batch"), QStringLiteral("batch"));
}

void open_one(ScenarioStack& stack) { stack.open({{named("a")}, 0}); }

}  // namespace

TEST_CASE("scenario stack: letters typed into one field are one edit", "[session]") {
    ScenarioStack stack;
    open_one(stack);
    for (const char* text : {"1", "12", "128"}) set_batch(stack, text);
    PlannedScenario edited = stack.current();
    edited.model.layers = "8";
    stack.edit(edited, QStringLiteral("layers"), QStringLiteral("layers"));
    CHECK(stack.undoStack().count() == 2);
    stack.undoStack().undo();
    CHECK(stack.current().training.at("batch") == "128");
    CHECK(!stack.current().model.layers);
    stack.undoStack().undo();
    CHECK(stack.current() == named("a"));
    stack.undoStack().redo();
    stack.undoStack().redo();
    CHECK(stack.current().model.layers == "8");
    // A saved edit stays one of its own.
    stack.setSaved();
    PlannedScenario again = stack.current();
    again.model.layers = "80";
    stack.edit(again, QStringLiteral("layers"), QStringLiteral("layers"));
    CHECK(stack.isDirty());
    stack.undoStack().undo();
    CHECK(!stack.isDirty());
}

TEST_CASE("scenario stack: an edit that is taken back by hand leaves nothing", "[session]") {
    ScenarioStack stack;
    open_one(stack);
    set_batch(stack, "1");
    stack.edit(named("a"), QStringLiteral("batch"), QStringLiteral("batch"));
    CHECK(stack.undoStack().count() == 0);
    CHECK(stack.current() == named("a"));
}

TEST_CASE("scenario stack: duplicate, rename, notes and delete can be undone", "[session]") {
    ScenarioStack stack;
    open_one(stack);
    stack.duplicate(0);
    CHECK(stack.count() == 2);
    CHECK(stack.currentIndex() == 1);
    CHECK(stack.current().name == "a 2");
    stack.rename(1, QStringLiteral(" a "));  // taken
    CHECK(stack.current().name == "a 3");
    stack.setNotes(1, QStringLiteral("why"));
    stack.remove(1);
    CHECK(stack.count() == 1);
    stack.remove(0);  // the last one stays
    CHECK(stack.count() == 1);
    stack.undoStack().undo();
    CHECK(stack.current().notes == "why");
    while (stack.undoStack().canUndo()) stack.undoStack().undo();
    CHECK(stack.project() == Project{{named("a")}, 0});
    while (stack.undoStack().canRedo()) stack.undoStack().redo();
    CHECK(stack.project() == Project{{named("a")}, 0});
}

TEST_CASE("scenario stack: a question that was answered is saved, and Undo leaves it",
          "[session]") {
    ScenarioStack stack;
    open_one(stack);
    QSignalSpy dirty(&stack, &ScenarioStack::dirtyChanged);
    const AskedRun run{{{"model", "7B"}}, {named("way")}};
    stack.setAskedRun(run);
    CHECK(stack.isDirty());
    CHECK(dirty.count() == 1);
    stack.setSaved();
    CHECK(!stack.isDirty());
    set_batch(stack, "3");
    stack.undoStack().undo();
    CHECK(stack.project().asked_run == run);
    CHECK(!stack.isDirty());
    open_one(stack);
    CHECK(!stack.project().asked_run);
    CHECK(!stack.isDirty());
}

TEST_CASE("scenario stack: undo shows the scenario that it changes", "[session]") {
    ScenarioStack stack;
    stack.open({{named("a"), named("b")}, 0});
    set_batch(stack, "3");
    stack.setCurrent(1);
    stack.undoStack().undo();
    CHECK(stack.currentIndex() == 0);
}

TEST_CASE("scenario list: follows 200 scenarios through every edit", "[session]") {
    ScenarioStack stack;
    open_one(stack);
    const ScenarioDock dock(stack);
    TableModel& model = *dock.findChild<TableModel*>();
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    for (int i = 1; i < 200; ++i) stack.duplicate(stack.currentIndex());
    CHECK(model.rowCount() == 200);
    CHECK(model.data(model.index(199, 0), Qt::DisplayRole).toString() == QStringLiteral("a 200"));
    CHECK(model.setData(model.index(5, 0), QStringLiteral("other"), Qt::EditRole));
    CHECK(stack.project().scenarios[5].name == "other");
    model.setData(model.index(5, 0), QStringLiteral("  "), Qt::EditRole);
    CHECK(stack.project().scenarios[5].name == "other");
    for (int i = 0; i < 300; ++i) stack.undoStack().undo();
    CHECK(model.rowCount() == 1);
}

TEST_CASE("scenario stack: names and notes are no other values", "[session]") {
    ScenarioStack stack;
    stack.open({{named("a"), named("b")}, 0});
    QSignalSpy current(&stack, &ScenarioStack::currentChanged);
    QSignalSpy list(&stack, &ScenarioStack::listChanged);
    stack.rename(0, QStringLiteral("first"));
    stack.setNotes(0, QStringLiteral("cheap"));
    CHECK(current.count() == 0);
    CHECK(list.count() == 2);
    stack.undoStack().undo();
    stack.undoStack().undo();
    CHECK(stack.current() == named("a"));
    CHECK(current.count() == 0);
    stack.setNotes(1, QStringLiteral("of the other one, which is shown then"));
    CHECK(current.count() == 1);
    set_batch(stack, "8");
    CHECK(current.count() == 2);
}

TEST_CASE("scenario stack: a name that nobody chose follows the model and the machine",
          "[session]") {
    ScenarioStack stack;
    Project project;
    project.scenarios = {example_scenario()};
    stack.open(std::move(project));
    const auto edit = [&](const char* field, const char* value) {
        stack.edit(with_value(stack.current(), field, value), QString::fromLatin1(field),
                   QString::fromLatin1(field));
    };
    edit("batch", "32");
    CHECK(stack.current().name == example_scenario().name);
    edit("model", "qwen2.5-7");
    edit("model", "qwen2.5-72b");
    CHECK(stack.current().name == "qwen2.5-72b on h200-sxm-pcie5-1.5tb");
    CHECK(stack.current().notes.empty());
    stack.duplicate(0);
    stack.setCurrent(1);
    edit("machine", "hwprofiles/mine.json");
    CHECK(stack.current().name == "qwen2.5-72b on mine.json");
    edit("machine", "h200-sxm-pcie5-1.5tb");
    CHECK(stack.current().name == "qwen2.5-72b on h200-sxm-pcie5-1.5tb 2");
    stack.rename(1, QStringLiteral("ours"));
    edit("model", "qwen2.5-7b");
    CHECK(stack.current().name == "ours");
    while (stack.undoStack().canUndo()) stack.undoStack().undo();
    CHECK(stack.current() == example_scenario());
}

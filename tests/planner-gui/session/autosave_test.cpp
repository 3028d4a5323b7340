#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "planner-gui/session/example.h"
#include "planner-gui/window/project_files.h"
#include "sim/base/write_file.h"
#include "tests/catch.h"
#include "tests/planner-gui/wait_until.h"

using namespace sluice;

namespace {

void edit(ScenarioStack& stack) {
    PlannedScenario edited = example_scenario();
    edited.training["batch"] = "7";
    stack.edit(edited, QStringLiteral("batch"), QStringLiteral("batch"));
}

/// Leaves what a crash would: the files of a session whose process is gone.
void crash(const QString& folder) {
    ScenarioStack stack;
    Autosave autosave(stack, folder);
    autosave.setFile(QStringLiteral("/projects/mine.json"));
    edit(stack);
    autosave.write();
    const QDir dir(folder);
    for (const QString& file : dir.entryList({QStringLiteral("recovery-*.json*")}, QDir::Files))
        if (!file.endsWith(QStringLiteral(".lock")))
            QFile::copy(dir.filePath(file),
                        dir.filePath(QString(file).replace(QStringLiteral("recovery-"),
                                                           QStringLiteral("recovery-gone"))));
}

}  // namespace

TEST_CASE("autosave: a session that ended well leaves nothing, one that runs is left alone",
          "[session]") {
    const QTemporaryDir folder;
    {
        ScenarioStack stack;
        Autosave autosave(stack, folder.path());
        edit(stack);
        autosave.write();
        CHECK(QDir(folder.path()).entryList({QStringLiteral("recovery-*.json")}).size() == 1);
        CHECK(Autosave::find(folder.path()).isEmpty());
    }
    CHECK(QDir(folder.path()).entryList({QStringLiteral("recovery-*.json")}).isEmpty());
    CHECK(Autosave::find(folder.path()).isEmpty());
}

TEST_CASE("autosave: written by itself soon after an edit, and gone once saved", "[session]") {
    const QTemporaryDir folder;
    ScenarioStack stack;
    Autosave autosave(stack, folder.path());
    const auto files = [&] {
        return QDir(folder.path()).entryList({QStringLiteral("recovery-*.json")}).size();
    };
    edit(stack);
    CHECK(test::wait_until([&] { return files() == 1; }));
    stack.setSaved();
    CHECK(test::wait_until([&] { return files() == 0; }));
}

TEST_CASE("autosave: what a crash left is found once, with its file", "[session]") {
    const QTemporaryDir folder;
    crash(folder.path());
    const QList<Recovered> found = Autosave::find(folder.path());
    REQUIRE(found.size() == 1);
    CHECK(found[0].file == QStringLiteral("/projects/mine.json"));
    CHECK(found[0].project.scenarios[0].training.at("batch") == "7");
    Autosave::forget(found[0]);
    CHECK(Autosave::find(folder.path()).isEmpty());
}

TEST_CASE("autosave: a damaged or newer recovery file keeps nobody from starting", "[session]") {
    Project newer;
    newer.scenarios = {example_scenario()};
    newer.asked_run = AskedRun{{{"task", "distillation"}}, {}};
    for (const std::string& text :
         {std::string("{\"format\": \"sluice pro"), project_json(newer)}) {
        const QTemporaryDir folder;
        const QString file = QDir(folder.path()).filePath(QStringLiteral("recovery-x.json"));
        write_file(file.toStdString(), text);
        CHECK(Autosave::find(folder.path()).isEmpty());
        CHECK(QFile::exists(file));  // for the version that wrote it
    }
}

TEST_CASE("autosave: a disk that takes nothing is stated once", "[session]") {
    const QTemporaryDir folder;
    ScenarioStack stack;
    Autosave autosave(stack, folder.path() + QStringLiteral("/gone"));
    QSignalSpy failed(&autosave, &Autosave::failed);
    QDir(folder.path() + QStringLiteral("/gone")).removeRecursively();
    edit(stack);
    CHECK(!autosave.write());
    CHECK(!autosave.write());
    CHECK(failed.count() == 1);
    CHECK(failed[0][0].toString().contains(QStringLiteral("cannot be written")));
}

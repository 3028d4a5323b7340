// To which scenario does a page's answer belong? A page says so if that is not the current one, or
// if files that it names have changed.
#pragma once

#include <optional>

#include "planner-gui/session/prediction.h"

namespace sluice {

class AnsweredScenario {
  public:
    void ask(const PlannedScenario& planned) { asked_ = {planned, read_named_files(planned)}; }
    /// The page shows the answer to the last request.
    void answer() { shown_ = asked_; }
    /// The page shows no answer; one may still arrive.
    void take_away() { shown_.reset(); }
    /// The scenario of the answer; null if there is none.
    const PlannedScenario* shown() const { return shown_ ? &shown_->planned : nullptr; }

    /// Whether the answer has another plan than `now`, or other file contents; false if there is no
    /// answer.
    bool is_outdated(const PlannedScenario& now, const NamedFiles& files) const {
        return has_other_files(files) || (shown_ && !ask_the_same(shown_->planned, now));
    }
    /// The same for answers that depend on the machine only.
    bool is_of_another_machine(const PlannedScenario& now, const NamedFiles& files) const {
        return shown_ &&
               (shown_->planned.machine != now.machine || shown_->files.machine != files.machine);
    }
    /// The same for file contents only.
    bool has_other_files(const NamedFiles& files) const { return shown_ && shown_->files != files; }

  private:
    struct Asked {
        PlannedScenario planned;
        NamedFiles files;
    };
    std::optional<Asked> asked_, shown_;
};

}  // namespace sluice

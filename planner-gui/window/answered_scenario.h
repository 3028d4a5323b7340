// Which scenario is what a page shows an answer to? Pages whose answer is of another one, or of
// other contents of the files that it names, say so.
#pragma once

#include <optional>

#include "planner-gui/session/prediction.h"

namespace sluice {

class AnsweredScenario {
  public:
    void ask(const PlannedScenario& planned) { asked_ = {planned, read_named_files(planned)}; }
    /// An answer to what was asked last is shown.
    void answer() { shown_ = asked_; }
    /// Nothing is shown any more; an answer may still come.
    void take_away() { shown_.reset(); }
    /// The scenario of what is shown; null while nothing is shown.
    const PlannedScenario* shown() const { return shown_ ? &shown_->planned : nullptr; }

    /// Whether what is shown is of another plan than `now`, or of other files; false while nothing
    /// is shown.
    bool is_outdated(const PlannedScenario& now, const NamedFiles& files) const {
        return has_other_files(files) || (shown_ && !ask_the_same(shown_->planned, now));
    }
    /// The same for what rests on the machine alone.
    bool is_of_another_machine(const PlannedScenario& now, const NamedFiles& files) const {
        return shown_ &&
               (shown_->planned.machine != now.machine || shown_->files.machine != files.machine);
    }
    /// The same for the files alone.
    bool has_other_files(const NamedFiles& files) const { return shown_ && shown_->files != files; }

  private:
    struct Asked {
        PlannedScenario planned;
        NamedFiles files;
    };
    std::optional<Asked> asked_, shown_;
};

}  // namespace sluice

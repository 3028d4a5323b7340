// Where can someone follow a run? --watch FOLDER: a page for a browser, an event file for
// TensorBoard, and offline runs of Weights & Biases and of MLflow.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "engine/watch/event_file.h"
#include "engine/watch/mlflow_run.h"
#include "engine/watch/run_page.h"
#include "engine/watch/wandb_file.h"

namespace sluice {

/// The folder, which exists from then on. Throws InputError if it cannot be written, or if its
/// index.html is anything but a page of a run, which would be lost.
std::string create_watch_folder(std::string folder);

class RunWatch {
  public:
    /// Creates `folder`. `done`: steps of earlier runs; `log`: the file that has their numbers.
    /// `warn` gets a sentence if a file cannot be written later, which does not end the run. Throws
    /// InputError if that is so now.
    RunWatch(std::string folder, RunFacts facts, std::int64_t done,
             const std::optional<std::string>& log, std::function<void(const std::string&)> warn);
    /// Waits for the page.
    ~RunWatch();
    RunWatch(const RunWatch&) = delete;
    RunWatch& operator=(const RunWatch&) = delete;

    void add(const StepRecord& record);
    /// A sentence about the step that was added last.
    void note(const std::string& sentence);

    /// Whether it is time for a new page, which takes a while to make ready.
    bool is_due() const;
    /// Writes the page on another thread.
    void write(std::string state, std::string checkpoint, std::optional<MeasuredParts> measured);
    /// The last page; returns when it is written. `well`: not by a fault.
    void end(std::string state, std::string checkpoint, std::optional<MeasuredParts> measured,
             bool well = true);

  private:
    void fail(const std::string& sentence);
    void fail_to_write(const std::string& path);
    void start_writing(bool ended, std::string state, std::string checkpoint,
                       std::optional<MeasuredParts> measured);

    std::string folder_;
    std::function<void(const std::string&)> warn_;
    bool failed_ = false;
    EventFile events_;
    WandbFile wandb_;
    MlflowRun mlflow_;
    RunPage page_;
    Seconds written_at_ = 0;           ///< by the host's clock
    std::future<std::string> writer_;  ///< gives why it failed, or ""
};

}  // namespace sluice

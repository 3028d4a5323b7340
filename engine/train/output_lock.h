// Which folder does a run write its checkpoints to, as the only one?
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// Creates `out` if it is missing and holds it until its end: two runs in one folder would mix
/// their checkpoints. The system lets go of it when the process ends, however it ends. Folders that
/// it created are removed at the end if nothing was saved there.
class OutputLock {
  public:
    /// Throws InputError if another run holds the folder, or it cannot be created.
    explicit OutputLock(const std::string& out);
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

  private:
    std::string path_;
    std::vector<std::string> made_;
    int descriptor_ = -1;
};

/// Creates `folder` and its missing parents, waits until each is on the disk, and returns them, the
/// deepest first. Throws InputError.
std::vector<std::string> create_folders(const std::string& folder);

}  // namespace sluice

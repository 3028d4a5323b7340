// Which folders does `out` hold, and how does a new one appear there whole or not at all?
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// "step-00000030".
std::string checkpoint_name(std::int64_t step);

/// Creates `out` where it is missing, removes what killed runs left unfinished in it, and gives a
/// checkpoint that they were replacing its name back. Throws InputError where it cannot be created
/// or renamed.
void prepare_output_folder(const std::string& out);

/// Throws InputError where the disk of `out` has less than `needed` bytes free; `what` begins its
/// sentence.
void refuse_full_disk(const std::string& out, const std::string& what, std::int64_t needed);

/// A folder under construction, out/<name>.partial, which is removed unless commit() renames it.
class PartialFolder {
  public:
    /// Throws InputError where it cannot be created or is there already.
    PartialFolder(const std::string& out, const std::string& name);
    ~PartialFolder();
    PartialFolder(const PartialFolder&) = delete;
    PartialFolder& operator=(const PartialFolder&) = delete;

    const std::string& path() const { return path_; }
    /// Gives it its name, on the disk too, in place of a folder of that name. Precondition: its
    /// files and itself are on the disk. Throws InputError.
    void commit();

  private:
    std::string out_, name_, path_;
};

/// Writes out/latest. Throws InputError.
void point_latest_at(const std::string& out, const std::string& name);

/// Removes the whole checkpoints below `step` but the newest `keep` of them. What cannot be removed
/// stays; it does no harm, and the next save tries again.
void remove_older_checkpoints(const std::string& out, std::int64_t step, int keep);

}  // namespace sluice

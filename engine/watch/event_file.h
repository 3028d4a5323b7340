// How are numbers written so that TensorBoard reads them? Its event file: TFRecords (length,
// CRC-32C of it, bytes, CRC-32C of them) of Event messages of protocol buffers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

class EventFile {
  public:
    /// A new file in the folder, for steps from `first_step` on: TensorBoard leaves out what older
    /// files of the folder have of these. `now`: seconds since 1970. Throws InputError if it cannot
    /// be written.
    EventFile(const std::string& folder, std::int64_t first_step, Seconds now);
    ~EventFile();
    EventFile(const EventFile&) = delete;
    EventFile& operator=(const EventFile&) = delete;

    /// Whether all bytes have reached the system.
    bool add(std::int64_t step, Seconds now,
             const std::vector<std::pair<std::string, double>>& scalars);
    const std::string& path() const { return path_; }

  private:
    bool write_record(const std::string& event);

    std::string path_;
    std::FILE* file_ = nullptr;
};

}  // namespace sluice

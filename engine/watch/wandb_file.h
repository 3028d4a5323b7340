// How are numbers written so that `wandb sync` uploads them to Weights & Biases? As an offline run
// of its own client: a log with the blocks of LevelDB's logs, of Record messages
// (wandb_internal.proto, read in wandb 0.31).
#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

struct WandbRun {
    std::string id;                 ///< letters and digits, which no other run has
    std::string name;               ///< for people
    nlohmann::ordered_json config;  ///< an object: hyperparameters
};
/// Eight letters and digits by chance, as wandb has them.
std::string new_wandb_id();

class WandbFile {
  public:
    /// A new file in folder/wandb/offline-run-TIME-ID. `now`: seconds since 1970. Throws InputError
    /// if it cannot be written.
    WandbFile(const std::string& folder, const WandbRun& run, Seconds now);
    ~WandbFile();
    WandbFile(const WandbFile&) = delete;
    WandbFile& operator=(const WandbFile&) = delete;

    /// Whether all bytes have reached the system.
    bool add(std::int64_t step, Seconds now,
             const std::vector<std::pair<std::string, double>>& scalars);
    /// The run has ended well. One without it counts as crashed.
    bool end(Seconds now);
    const std::string& path() const { return path_; }

  private:
    /// The number and the bytes of a field of Record.
    bool write_record(std::uint32_t field, const std::string& message);

    std::string path_;
    std::FILE* file_ = nullptr;
    Seconds start_;
    std::int64_t records_ = 0;
    std::size_t in_block_ = 0;  ///< bytes
};

}  // namespace sluice

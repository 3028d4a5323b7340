// How are numbers written so that MLflow shows them? As a run in its file store: a folder of an
// experiment, with a file a metric, which grows (read in mlflow 3.17).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

class MlflowRun {
  public:
    /// A new run in folder/mlruns, with the id, 32 hexadecimal digits that no other run has.
    /// `config`: hyperparameters, an object; `now`: seconds since 1970. Throws InputError if it
    /// cannot be written.
    MlflowRun(const std::string& folder, const std::string& id, std::string name,
              const nlohmann::ordered_json& config, Seconds now);

    /// Whether all numbers have reached the system.
    bool add(std::int64_t step, Seconds now,
             const std::vector<std::pair<std::string, double>>& scalars);
    /// The run has ended well. Without it, MLflow shows it as running.
    bool end(Seconds now);
    const std::string& path() const { return path_; }

  private:
    bool write_state(bool ended, Seconds now) const;

    std::string path_, id_, name_;
    Seconds start_;
};

/// Digits by chance.
std::string new_mlflow_id();

}  // namespace sluice

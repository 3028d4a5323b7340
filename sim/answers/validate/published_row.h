// What others have published: a step of some system on some machine, or why it is not compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// What a published speed is the speed of.
enum class PublishedSpeed : std::uint8_t {
    none,
    step,              ///< seconds of a step
    tokens,            ///< tokens/s of all GPUs
    tflops,            ///< 6PT: six FLOPs a token and active parameter, of one GPU
    forward_backward,  ///< seconds of MegaTrain's forward and backward, without what follows
};

struct PublishedRow {
    std::string id;
    std::string file;
    std::string system;        ///< as its publisher calls it
    std::string source;        ///< what was read
    std::string not_compared;  ///< a sentence; empty: the row is compared, and what follows is set
    std::string published;     ///< of a row that is not compared: what it says, in words

    std::string machine;  ///< a name of the library, with a host memory size if wanted
    std::vector<std::pair<std::string, double>> machine_numbers;  ///< what-if values
    std::string model_name;
    ModelSpec model;
    TrainingSpec training;
    PublishedSpeed speed_kind = PublishedSpeed::none;
    double speed = 0;          ///< in the unit of its kind
    Bytes device = 0;          ///< most allocated in a step; 0: not published
    Bytes host = 0;            ///< resident when a step has ended; 0: not published
    std::optional<bool> fits;  ///< whether it ran at all
    std::string assumed;       ///< what the source does not say; may be empty
    std::string explanation;   ///< of an error beyond kExplainedBeyond; may be empty
};

/// Whether the file is a table of published rows.
bool holds_published_rows(const std::string& path);

/// All rows of the files, and of the tables in folders, in order. Throws InputError.
std::vector<PublishedRow> read_published_rows(const std::vector<std::string>& paths);

}  // namespace sluice

// How much data is trained on, and what of it is left out?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/data/token_source.h"

namespace sluice {

struct DataFacts {
    std::int64_t sequence = 0;   ///< tokens of a sequence
    std::int64_t sequences = 0;  ///< of an epoch
    std::int64_t tokens = 0;     ///< of all files
    std::int64_t learned = 0;    ///< of these
    std::int64_t at_ends = 0;    ///< tokens at the ends of files, too few for a sequence
    /// As `./dev data` says: PreparedData.
    std::int64_t cut_documents = 0, left_out_documents = 0, lost_tokens = 0;

    double learned_share() const {
        return static_cast<double>(learned) / static_cast<double>(tokens);
    }
    double epochs(double drawn_sequences) const {
        return drawn_sequences / static_cast<double>(sequences);
    }
};

/// Cut into sequences as BatchSampler cuts them. May read masks. Throws InputError for a wrong one.
DataFacts data_facts(const TokenSource& tokens, std::int64_t sequence);

/// A refusal if a file's documents are packed into sequences of another length.
std::optional<std::string> other_sequence(const TokenSource& tokens, std::int64_t sequence);

/// The name, in `a`, of a file that both read; empty if there is none.
std::optional<std::string> file_in_both(const TokenSource& a, const TokenSource& b);

}  // namespace sluice

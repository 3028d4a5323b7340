#include "engine/data/data_facts.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace sluice {

DataFacts data_facts(const TokenSource& tokens, std::int64_t sequence) {
    DataFacts facts;
    facts.sequence = sequence;
    for (std::size_t i = 0; i < tokens.shard_count(); ++i) {
        const TokenShard& shard = tokens.shard(i);
        const std::int64_t sequences = (shard.tokens() - 1) / sequence;
        facts.sequences += sequences;
        facts.tokens += shard.tokens();
        facts.learned += shard.learned();
        facts.at_ends += shard.tokens() - 1 - sequences * sequence;
        facts.cut_documents += shard.prepared().cut_documents;
        facts.left_out_documents += shard.prepared().left_out_documents;
        facts.lost_tokens += shard.prepared().lost_tokens;
    }
    return facts;
}

std::optional<std::string> other_sequence(const TokenSource& tokens, std::int64_t sequence) {
    for (std::size_t i = 0; i < tokens.shard_count(); ++i) {
        const std::int64_t packed = tokens.shard(i).prepared().sequence;
        if (packed != 0 && packed != sequence)
            return fmt::format(
                "{}: its documents are packed into sequences of {} tokens, but --seq is {}, which "
                "would cut them; give --seq {}, or prepare the data again with --seq {}",
                tokens.shard(i).path(), packed, sequence, packed, sequence);
    }
    return std::nullopt;
}

std::optional<std::string> file_in_both(const TokenSource& a, const TokenSource& b) {
    for (std::size_t i = 0; i < a.shard_count(); ++i)
        for (std::size_t j = 0; j < b.shard_count(); ++j) {
            std::error_code error;
            if (std::filesystem::equivalent(a.shard(i).path(), b.shard(j).path(), error))
                return a.shard(i).path();
        }
    return std::nullopt;
}

}  // namespace sluice

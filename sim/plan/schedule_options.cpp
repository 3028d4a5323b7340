// Which training options does each schedule have?
#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

/// The fields of options that a schedule does not have.
const std::vector<std::string_view>& unused_fields(Schedule schedule) {
    using Fields = std::vector<std::string_view>;
    static const Fields kNotStreamed = {"checkpoint_interval", "flash_loss",     "gpus", "sharding",
                                        "sub_group_elements",  "offload_percent"};
    static const Fields kNotMegatrain = {"gpus",
                                         "sharding",
                                         "buffer_depth",
                                         "gradient_slabs",
                                         "recompute",
                                         "keep_last_layers",
                                         "checkpoints",
                                         "state_bytes",
                                         "optimizer_threads",
                                         "clipping",
                                         "loss_chunk_tokens",
                                         "feed_forward_chunk_tokens",
                                         "sub_group_elements",
                                         "offload_percent",
                                         "distinct_tokens"};
    static const Fields kNotPlainPyTorch = {"gpus",
                                            "sharding",
                                            "buffer_depth",
                                            "gradient_slabs",
                                            "host_gradient_slabs",
                                            "keep_last_layers",
                                            "checkpoints",
                                            "checkpoint_interval",
                                            "state_bytes",
                                            "optimizer_threads",
                                            "clipping",
                                            "loss_chunk_tokens",
                                            "feed_forward_chunk_tokens",
                                            "sub_group_elements",
                                            "offload_percent",
                                            "distinct_tokens",
                                            "flash_loss"};
    static const Fields kNotZero3 = [] {
        Fields fields = kNotPlainPyTorch;
        fields.emplace_back("recompute");
        std::erase(fields, "sub_group_elements");
        return fields;
    }();
    static const Fields kNotSuperoffload = [] {
        Fields fields = kNotZero3;
        for (const std::string_view own : {"offload_percent", "clipping"}) std::erase(fields, own);
        return fields;
    }();
    static const Fields kNotCluster = [] {
        Fields fields = kNotPlainPyTorch;
        for (const std::string_view own : {"gpus", "sharding"}) std::erase(fields, own);
        return fields;
    }();
    switch (schedule) {
        case Schedule::cluster:
            return kNotCluster;
        case Schedule::streamed:
            return kNotStreamed;
        case Schedule::megatrain:
            return kNotMegatrain;
        case Schedule::resident:
        case Schedule::fsdp_offload:
        case Schedule::accelerate_offload:
            return kNotPlainPyTorch;
        case Schedule::zero3_offload:
        case Schedule::zero_infinity:
            return kNotZero3;
        case Schedule::superoffload:
            return kNotSuperoffload;
    }
    throw InternalError("training options: unknown schedule");
}

}  // namespace

bool has_option(Schedule schedule, const Option& option) {
    const std::vector<std::string_view>& unused = unused_fields(schedule);
    return std::find(unused.begin(), unused.end(), option.field) == unused.end();
}

}  // namespace sluice

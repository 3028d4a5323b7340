#include "sim/search/advise.h"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

class Adviser {
  public:
    Adviser(const ScenarioGrid& grid, const AdviceRequest& request, WorkerPool& pool,
            const SearchEvents& events)
        : grid_(grid), request_(request), pool_(pool), events_(events) {}

    Advice run() {
        advice_.model_name = grid_.models.front().name;
        advice_.layers = grid_.models.front().layer_count();
        advice_.machine_id = grid_.machines.front().id;
        rows_ = search(grid_, pool_, {false, BandsOf::none, kIndifferent, request_.knee, 1}, {},
                       events_);
        count_rows();
        choose();
        if (advice_.best)
            look_around();
        else
            find_nearest();
        return std::move(advice_);
    }

  private:
    AdvisedSettings settings(std::size_t index) const {
        return {grid_.at(index).training, rows_[index]};
    }

    void count_rows() {
        advice_.combinations = rows_.size();
        std::map<std::string, LeftOut> reasons;
        for (const SearchRow& row : rows_) {
            if (row.state == RowState::excluded) {
                LeftOut& left_out = reasons[general(row.reason)];
                if (++left_out.count == 1) left_out.example = row.reason;
            }
            if (row.state == RowState::too_large) ++advice_.too_large;
            if (row.state == RowState::bounded) ++advice_.bounded;
            if (row.state == RowState::simulated) ++advice_.simulated;
        }
        for (auto& [reason, left_out] : reasons) {
            left_out.reason = reason;
            advice_.left_out.push_back(std::move(left_out));
        }
    }

    /// A reason without its numbers, so that alike ones count together.
    static std::string general(const std::string& reason) {
        std::string out;
        bool digits = false;
        for (const char c : reason) {
            const bool digit = c >= '0' && c <= '9';
            if (!digit) out += c;
            if (digit && !digits) out += 'N';
            digits = digit;
        }
        return out;
    }

    void choose() {
        for (std::size_t group = 0; group < grid_.groups(); ++group)
            if (const auto index = best_of_group(grid_, rows_, group))
                advice_.by_batch.push_back(settings(least_memory_near(*index)));
        const auto slower = [](const AdvisedSettings& a, const AdvisedSettings& b) {
            return a.tokens_per_s() < b.tokens_per_s();
        };
        std::vector<AdvisedSettings>& by_batch = advice_.by_batch;
        if (by_batch.empty()) return;
        advice_.best = *std::max_element(by_batch.begin(), by_batch.end(), slower);
        const double most = advice_.best->tokens_per_s();
        advice_.reaches_least = most >= request_.least_tokens_per_s;
        const double enough = std::max(most * (1 - request_.knee), request_.least_tokens_per_s);
        const auto knee =
            std::find_if(by_batch.begin(), by_batch.end(),
                         [&](const AdvisedSettings& one) { return one.tokens_per_s() >= enough; });
        if (knee != by_batch.end() && knee->training.batch < advice_.best->training.batch)
            advice_.knee = *knee;
        add_bands();
    }

    /// Of the simulated rows of its group that are as fast as `best`, but for kNoGain.
    std::size_t least_memory_near(std::size_t best) const {
        const std::size_t first = best - best % grid_.group_size();
        const double enough = settings(best).tokens_per_s() * (1 - kNoGain);
        std::size_t least = best;
        for (std::size_t i = first; i < first + grid_.group_size(); ++i) {
            if (rows_[i].state != RowState::simulated || settings(i).tokens_per_s() < enough)
                continue;
            if (memory(rows_[i]) < memory(rows_[least])) least = i;
        }
        return least;
    }
    static Bytes memory(const SearchRow& row) { return row.device_peak + row.host_peak; }

    void add_bands() {
        std::vector<SearchRow> rows = {advice_.best->row};
        if (advice_.knee) rows.push_back(advice_.knee->row);
        rows = simulate_rows(pool_, rows, true);
        advice_.best->row = rows[0];
        if (advice_.knee) advice_.knee->row = rows[1];
    }

    /// The next value on either side of each axis; of a choice that has no order all others.
    void look_around() {
        std::size_t stride = 1;
        for (const std::vector<OptionAxis>* axes : {&grid_.choices, &grid_.questions}) {
            for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis) {
                add_neighbours(*axis, stride);
                stride *= axis->values.size();
            }
        }
        std::reverse(advice_.neighbours.begin(), advice_.neighbours.end());
        simulate_neighbours();
        for (Neighbour& neighbour : advice_.neighbours) compare(neighbour);
    }

    void add_neighbours(const OptionAxis& axis, std::size_t stride) {
        const std::size_t index = advice_.best->row.index;
        const std::size_t at = index / stride % axis.values.size();
        for (std::size_t value = axis.values.size(); value-- > 0;) {
            const bool next_to = value + 1 == at || value == at + 1;
            if (value == at || (axis.option->choices.empty() && !next_to)) continue;
            const std::size_t other = index - at * stride + value * stride;
            if (rows_[other].state == RowState::excluded) continue;  // left_out says why
            Neighbour neighbour;
            neighbour.option = axis.option->field;
            neighbour.chosen = shown(axis, grid_.at(index).training);
            neighbour.instead = shown(axis, grid_.at(other).training);
            neighbour.row = rows_[other];
            advice_.neighbours.push_back(std::move(neighbour));
        }
    }

    static std::string shown(const OptionAxis& axis, const TrainingSpec& training) {
        const std::string field = axis.option->field;
        if (field == "micro_batch") return std::to_string(training.micro_batch_sequences());
        if (field == "optimizer_threads" && training.optimizer_threads == 0) return "fastest";
        return option_text(training, *axis.option);
    }

    void simulate_neighbours() {
        std::vector<SearchRow> rows;
        for (const Neighbour& neighbour : advice_.neighbours)
            if (neighbour.row.state == RowState::bounded) rows.push_back(neighbour.row);
        std::map<std::size_t, SearchRow> simulated;
        for (const SearchRow& row : simulate_rows(pool_, rows, false)) simulated[row.index] = row;
        for (Neighbour& neighbour : advice_.neighbours)
            if (neighbour.row.state == RowState::bounded)
                neighbour.row = simulated.at(neighbour.row.index);
    }

    void compare(Neighbour& neighbour) const {
        if (neighbour.row.state != RowState::simulated) return;
        const AdvisedSettings& best = *advice_.best;
        const double speed = neighbour.row.tokens_per_s(grid_.at(neighbour.row.index).training);
        neighbour.speed_change = speed / best.tokens_per_s() - 1;
        neighbour.device_change = neighbour.row.device_peak - best.row.device_peak;
        neighbour.host_change = neighbour.row.host_peak - best.row.host_peak;
        const double slower = best.row.step / best.row.step_high - 1;
        neighbour.within_band = neighbour.speed_change > slower;
    }

    void find_nearest() {
        const SearchRow* nearest = nullptr;
        const auto short_by = [](const SearchRow& row) {
            return row.device_short + row.host_short + row.storage_short;
        };
        for (const SearchRow& row : rows_) {
            if (row.state != RowState::too_large) continue;
            if (nearest == nullptr || short_by(row) < short_by(*nearest)) nearest = &row;
        }
        if (nearest != nullptr) advice_.nearest = settings(nearest->index);
    }

    const ScenarioGrid& grid_;
    const AdviceRequest& request_;
    WorkerPool& pool_;
    const SearchEvents& events_;
    std::vector<SearchRow> rows_;
    Advice advice_;
};

}  // namespace

Advice advise(const ScenarioGrid& grid, const AdviceRequest& request, WorkerPool& pool,
              const SearchEvents& events) {
    return Adviser(grid, request, pool, events).run();
}

}  // namespace sluice

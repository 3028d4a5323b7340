#include "sim/answers/search/search.h"

#include <algorithm>

#include "sim/answers/search/evaluate.h"

namespace sluice {
namespace {

enum class Task : std::uint64_t { bound, simulate, simulate_with_band };

/// Scenarios of one request: enough that sending it costs nothing beside them.
std::size_t in_a_request(Task task) { return task == Task::bound ? 32 : 1; }

std::string do_tasks(const ScenarioGrid& grid, std::string_view request) {
    const auto task = static_cast<Task>(take_number(request));
    std::string answer;
    while (!request.empty()) {
        SearchRow row = take_row(request);
        const GridPoint point = grid.at(row.index);
        const std::size_t index = row.index;
        row = task == Task::bound ? bound_scenario(point)
                                  : simulate_row(row, point, task == Task::simulate_with_band);
        row.index = index;
        put_row(answer, row);
    }
    return answer;
}

/// Gives the rows to the workers; take(row) gets each as they return it, in any order.
template <typename Take>
void run_tasks(WorkerPool& pool, Task task, const std::vector<SearchRow>& rows, Take take) {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % in_a_request(task) == 0) {
            requests.emplace_back();
            put_number(requests.back(), static_cast<std::uint64_t>(task));
        }
        put_row(requests.back(), rows[i]);
    }
    pool.run(requests, [&](std::size_t, const std::string& answer) {
        std::string_view in = answer;
        while (!in.empty()) take(take_row(in));
    });
}

class Search {
  public:
    Search(const ScenarioGrid& grid, WorkerPool& pool, const SearchOptions& options,
           const KnownRows& known, const SearchEvents& events)
        : grid_(grid),
          pool_(pool),
          options_(options),
          known_(known),
          events_(events),
          rows_(grid.size()),
          groups_(grid.groups()) {
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].index = i;
    }

    std::vector<SearchRow> run() {
        std::vector<std::size_t> all(rows_.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        do_all(Task::bound, all);
        for (std::size_t group = 0; group < groups_.size(); ++group) open(group);
        while (true) {
            const std::vector<std::size_t> next = next_round();
            if (next.empty()) break;
            simulate(next);
        }
        bands();
        return std::move(rows_);
    }

  private:
    struct Group {
        std::vector<std::size_t> candidates;  ///< that fit, the best bound first
        std::size_t next = 0;                 ///< of them
        double best = 0;                      ///< tokens/s simulated
    };

    TrainingSpec training(std::size_t index) const { return grid_.at(index).training; }

    void do_all(Task task, const std::vector<std::size_t>& indices) {
        std::vector<SearchRow> rows;
        for (const std::size_t index : indices) rows.push_back(rows_[index]);
        run_tasks(pool_, task, rows, [&](SearchRow row) {
            take(task, std::move(row));
            report();
        });
    }

    void take(Task task, SearchRow row) {
        SearchRow& place = rows_[row.index];
        const bool again = place.state == RowState::simulated;  // with its band
        place = std::move(row);
        if (task == Task::bound) {
            if (!place.fits()) ++progress_.settled;
            return;
        }
        if (!again) count_simulated();
        if (events_.simulated) events_.simulated(place);
    }

    void count_simulated() {
        ++progress_.settled;
        ++progress_.simulated;
    }

    void report() {
        progress_.all = rows_.size();
        if (events_.progress) events_.progress(progress_);
    }

    void open(std::size_t number) {
        Group& group = groups_[number];
        std::vector<std::pair<double, std::size_t>> order;
        const std::size_t first = number * grid_.group_size();
        for (std::size_t i = first; i < first + grid_.group_size(); ++i)
            if (rows_[i].fits()) order.emplace_back(-rows_[i].tokens_per_s_at_most(training(i)), i);
        std::sort(order.begin(), order.end());
        for (const auto& [speed, index] : order) group.candidates.push_back(index);
    }

    bool could_be_best(const Group& group, std::size_t index) const {
        if (options_.every_row) return true;
        const double most = rows_[index].tokens_per_s_at_most(training(index));
        const bool no_rival =
            options_.rival && group.best > 0 && most < best_of_all_ * (1 - *options_.rival);
        return !no_rival && most > group.best * (1 + options_.indifferent);
    }

    std::vector<std::size_t> next_round() {
        std::vector<std::size_t> next;
        for (Group& group : groups_) {
            const std::size_t most =
                options_.every_row ? group.candidates.size() : options_.in_a_round;
            for (std::size_t taken = 0; taken < most && group.next < group.candidates.size();
                 ++taken) {
                const std::size_t index = group.candidates[group.next];
                if (!could_be_best(group, index)) {
                    progress_.settled += group.candidates.size() - group.next;
                    group.next = group.candidates.size();
                    break;
                }
                ++group.next;
                next.push_back(index);
            }
        }
        report();
        return next;
    }

    void simulate(const std::vector<std::size_t>& indices) {
        const bool with_band = options_.bands == BandsOf::simulated;
        std::vector<std::size_t> unknown;
        for (const std::size_t index : indices) {
            const SearchRow* const known = known_row(index);
            const bool enough = known != nullptr && (known->has_band() || !with_band);
            if (!enough) {
                unknown.push_back(index);
                continue;
            }
            rows_[index] = *known;
            if (!with_band) rows_[index].step_low = rows_[index].step_high = 0;
            count_simulated();
        }
        do_all(with_band ? Task::simulate_with_band : Task::simulate, unknown);
        for (const std::size_t index : indices) {
            double& best = groups_[index / grid_.group_size()].best;
            best = std::max(best, rows_[index].tokens_per_s(training(index)));
            best_of_all_ = std::max(best_of_all_, best);
        }
        report();
    }

    /// Nothing where its plan is another one by now: another profile, or another program.
    const SearchRow* known_row(std::size_t index) const {
        const auto known = known_.find(index);
        if (known == known_.end()) return nullptr;
        const SearchRow &then = known->second, &now = rows_[index];
        const bool same = then.at_least == now.at_least && then.device_peak == now.device_peak &&
                          then.host_peak == now.host_peak;
        return same ? &then : nullptr;
    }

    void bands() {
        if (options_.bands != BandsOf::best) return;
        std::vector<std::size_t> without_band;
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            const auto best = best_of_group(grid_, rows_, group);
            if (!best) continue;
            const SearchRow* const known = known_row(*best);
            if (known != nullptr && known->has_band())
                rows_[*best] = *known;
            else
                without_band.push_back(*best);
        }
        do_all(Task::simulate_with_band, without_band);
    }

    const ScenarioGrid& grid_;
    WorkerPool& pool_;
    const SearchOptions& options_;
    const KnownRows& known_;
    const SearchEvents& events_;
    std::vector<SearchRow> rows_;
    std::vector<Group> groups_;
    double best_of_all_ = 0;  ///< tokens/s simulated
    SearchProgress progress_;
};

}  // namespace

std::optional<std::size_t> best_of_group(const ScenarioGrid& grid,
                                         const std::vector<SearchRow>& rows, std::size_t group) {
    std::optional<std::size_t> best;
    double most = 0;
    const std::size_t first = group * grid.group_size();
    for (std::size_t i = first; i < first + grid.group_size(); ++i) {
        if (rows[i].state != RowState::simulated) continue;
        const double speed = rows[i].tokens_per_s(grid.at(i).training);
        if (best && speed <= most) continue;
        best = i;
        most = speed;
    }
    return best;
}

std::vector<SearchRow> search(const ScenarioGrid& grid, WorkerPool& pool,
                              const SearchOptions& options, const KnownRows& known,
                              const SearchEvents& events) {
    return Search(grid, pool, options, known, events).run();
}

std::vector<SearchRow> simulate_rows(WorkerPool& pool, const std::vector<SearchRow>& rows,
                                     bool with_bands) {
    std::map<std::size_t, SearchRow> done;
    run_tasks(pool, with_bands ? Task::simulate_with_band : Task::simulate, rows,
              [&](SearchRow row) { done[row.index] = std::move(row); });
    std::vector<SearchRow> out;
    for (const SearchRow& row : rows) out.push_back(done.at(row.index));
    return out;
}

Work search_work(const ScenarioGrid& grid) {
    return [&grid](const std::string& request) { return do_tasks(grid, request); };
}

}  // namespace sluice

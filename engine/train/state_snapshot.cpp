#include "engine/train/state_snapshot.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "engine/layers/adapters.h"
#include "sim/base/input_error.h"

namespace sluice {

Bytes whole_snapshot_bytes(const ModelSpec& model, const TrainingSpec& training) {
    constexpr Bytes kMostPlanes = 5;  // of a section, beside its tensors' upper planes
    const AdapterShape adapters = training.adapters();
    Bytes bytes = 0, tensors = adapters.present() ? std::ssize(adapter_tensors(model, adapters))
                                                  : std::ssize(named_tensors(model));
    const std::vector<std::int64_t> trained =
        adapters.present() ? std::vector{adapter_begins(model, adapters).back()}
                           : section_sizes(model);
    for (const std::int64_t size : trained) {
        bytes += size * training.state_bytes + 2 * kFp32 * (size / kMomentBlock + 1);
        tensors += kMostPlanes;
    }
    return bytes + tensors * StateSnapshot::kPiece;
}

StateSnapshot::StateSnapshot(const ParameterStore& store, Bytes bytes, ThreadPool& pool,
                             Device& device, Bytes piece)
    : store_(store), pool_(pool), device_(device), piece_(static_cast<std::size_t>(piece)) {
    bool resident = false;
    for (int section = 0; section < store.sections(); ++section)
        resident = resident || store.on_device(section);
    const Bytes pieces = bytes / piece;
    if (pieces == 0) return;
    memory_ =
        HostRegion(pieces * piece, "copies of what is saved", pool, resident ? &device : nullptr);
    for (Bytes i = pieces; i-- > 0;) free_.push_back(memory_.at<std::byte>(i * piece));
}

std::size_t StateSnapshot::piece_bytes(const Tensor& tensor, std::size_t piece) const {
    return std::min(piece_, tensor.bytes - piece * piece_);
}

bool StateSnapshot::open(const std::vector<StoredTensor>& tensors) {
    const std::lock_guard lock(mutex_);
    if (open_) throw InternalError("a snapshot is opened twice");
    open_ = true;
    std::size_t pieces = 0;
    sections_.assign(static_cast<std::size_t>(store_.sections()), {});
    for (const StoredTensor& stored : tensors) {
        Tensor& tensor = at(stored.section).tensors.emplace_back();
        tensor.data = stored.data;
        tensor.bytes = static_cast<std::size_t>(tensor_bytes(stored.spec));
        tensor.pieces.resize((tensor.bytes + piece_ - 1) / piece_);
        pieces += tensor.pieces.size();
    }
    return pieces <= free_.size();
}

void StateSnapshot::close() {
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        for (Section& section : sections_)
            for (Tensor& tensor : section.tensors)
                for (Piece& piece : tensor.pieces)
                    if (piece.place == Place::copied)
                        free_.push_back(std::exchange(piece.copy, {}));
        wanted_.reset();
    }
    changed_.notify_all();
}

std::vector<StateSnapshot::Copy> StateSnapshot::claim(Section& section) {
    std::vector<Copy> claimed;
    for (; section.tensor < section.tensors.size(); ++section.tensor, section.piece = 0) {
        Tensor& tensor = section.tensors[section.tensor];
        for (; section.piece < tensor.pieces.size(); ++section.piece) {
            Piece& piece = tensor.pieces[section.piece];
            if (piece.place != Place::home) continue;
            if (free_.empty()) return claimed;
            piece = {Place::copying, free_.back()};
            free_.pop_back();
            claimed.push_back(
                {&piece, tensor.data + section.piece * piece_, piece_bytes(tensor, section.piece)});
        }
    }
    return claimed;
}

void StateSnapshot::copy(int section, const std::vector<Copy>& copies) {
    if (store_.on_device(section)) {
        for (const Copy& one : copies)
            device_.copy(Work::device_to_host, one.piece->copy, one.from,
                         static_cast<Bytes>(one.bytes));
        device_.finish_all();
        return;
    }
    pool_.parallel_for(std::ssize(copies), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Copy& one = copies[static_cast<std::size_t>(i)];
            std::memcpy(one.piece->copy, one.from, one.bytes);
        }
    });
}

/// The reader may not use the device: only this thread knows that no lane does.
void StateSnapshot::serve_reader(std::unique_lock<std::mutex>& lock) {
    if (!wanted_) return;
    const Wanted wanted = *std::exchange(wanted_, std::nullopt);
    if (wanted.piece->place != Place::home) return;
    wanted.piece->place = Place::being_read;
    lock.unlock();
    store_.read(wanted.section, wanted.from, wanted.to);
    lock.lock();
    wanted.piece->place = Place::done;
    changed_.notify_all();
}

void StateSnapshot::copy_section(int section) {
    std::unique_lock lock(mutex_);
    while (open_) {
        if (store_.on_device(section)) serve_reader(lock);
        const std::vector<Copy> copies = claim(at(section));
        if (!copies.empty()) {
            lock.unlock();
            copy(section, copies);
            lock.lock();
            for (const Copy& one : copies) {
                one.piece->place = Place::copied;
                if (!open_) free_.push_back(std::exchange(one.piece->copy, nullptr));
            }
            changed_.notify_all();
        } else if (at(section).tensor == at(section).tensors.size() &&
                   at(section).being_read == 0) {
            return;
        } else if (!wanted_ || !store_.on_device(section)) {
            changed_.wait(lock);
        }
    }
}

void StateSnapshot::copy_resident() {
    try {
        for (int section = 0; section < store_.sections(); ++section)
            if (store_.on_device(section)) copy_section(section);
    } catch (...) {
        close();
        throw;
    }
}

void StateSnapshot::keep(int section) {
    {
        const std::lock_guard lock(mutex_);
        if (!open_) return;
    }
    const Seconds start = host_seconds();
    copy_section(section);
    const std::lock_guard lock(mutex_);
    held_ += host_seconds() - start;
}

void StateSnapshot::read_piece(int section, Tensor& tensor, std::size_t index,
                               std::span<std::byte> to) {
    Piece& piece = tensor.pieces[index];
    const std::byte* const home = tensor.data + index * piece_;
    const bool resident = store_.on_device(section);
    std::unique_lock lock(mutex_);
    if (resident && piece.place == Place::home) {
        wanted_ = {section, &piece, home, to};
        changed_.notify_all();
    }
    changed_.wait(lock, [&] {
        const bool can_read = piece.place == Place::copied || piece.place == Place::done ||
                              (!resident && piece.place == Place::home);
        return !open_ || can_read;
    });
    if (!open_) throw std::runtime_error("training stopped while its state was saved");
    if (piece.place == Place::done) return;
    const bool at_home = piece.place == Place::home;
    if (at_home) {
        piece.place = Place::being_read;
        ++at(section).being_read;
    }
    lock.unlock();
    std::memcpy(to.data(), at_home ? home : piece.copy, to.size());
    lock.lock();
    piece.place = Place::done;
    if (at_home)
        --at(section).being_read;
    else
        free_.push_back(std::exchange(piece.copy, nullptr));
    lock.unlock();
    changed_.notify_all();
}

void StateSnapshot::read(int section, const std::byte* from, std::span<std::byte> to) {
    for (Tensor& tensor : at(section).tensors) {
        if (from < tensor.data || from >= tensor.data + tensor.bytes) continue;
        const std::size_t begin = static_cast<std::size_t>(from - tensor.data);
        if (begin % piece_ != 0)
            throw InternalError("a snapshot is read from the middle of a piece");
        for (std::size_t done = 0; done < to.size(); done += piece_)
            read_piece(section, tensor, (begin + done) / piece_,
                       to.subspan(done, std::min(piece_, to.size() - done)));
        return;
    }
    throw InternalError("a snapshot is asked for what it does not hold");
}

Seconds StateSnapshot::take_held() {
    const std::lock_guard lock(mutex_);
    return std::exchange(held_, 0);
}

}  // namespace sluice

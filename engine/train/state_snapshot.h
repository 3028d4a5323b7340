// Which state was there after a step, while the steps after it change it? A section is copied
// before its first change, unless it is written by then; copies have a bounded memory, and where it
// is used up the change waits until some of it is written.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/memory/host_region.h"
#include "engine/memory/parameter_store.h"
#include "engine/train/weights_file.h"

namespace sluice {

/// Three kinds of threads use it: the main thread opens it, the writer reads all tensors and closes
/// it, and a lane calls keep() before it changes a section.
class StateSnapshot {
  public:
    /// The unit in which state is copied and read.
    static constexpr Bytes kPiece = Bytes{512} << 10;

    /// `bytes` for copies; page-locked if a section is resident. `piece` divides kWriteBuffer.
    /// Throws InputError if memory is short. All arguments must outlive it.
    StateSnapshot(const ParameterStore& store, Bytes bytes, ThreadPool& pool, Device& device,
                  Bytes piece = kPiece);

    /// These tensors as they are now. Whether all of them have room, so that nobody will wait for
    /// the reader. Precondition: it is closed, and no lane is at work until copy_resident() has
    /// returned.
    bool open(const std::vector<StoredTensor>& tensors);
    /// Copies what is on the device, and gives the reader what finds no room. The reader must be at
    /// work, since this waits until each piece is copied or read.
    void copy_resident();
    /// To be called before a section on the host changes, by the thread that uses the pool. Waits
    /// until each of its pieces is copied or read.
    void keep(int section);
    /// The reader's: bytes of a tensor as they were at open(), whole pieces at a time, each once.
    /// Throws std::runtime_error if it is closed meanwhile.
    void read(int section, const std::byte* from, std::span<std::byte> to);
    /// Nothing more will be read: nobody waits any more.
    void close();

    /// For how long keep() has held its callers since the last call of this.
    Seconds take_held();

  private:
    enum class Place : std::uint8_t { home, copying, copied, being_read, done };
    struct Piece {
        Place place = Place::home;
        std::byte* copy = nullptr;
    };
    struct Tensor {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
        std::vector<Piece> pieces;
    };
    struct Section {
        std::vector<Tensor> tensors;
        std::size_t tensor = 0, piece = 0;  ///< all before are no longer at home
        int being_read = 0;                 ///< pieces at home
    };
    struct Copy {
        Piece* piece;
        const std::byte* from;
        std::size_t bytes;
    };
    /// A piece on the device that the reader waits for.
    struct Wanted {
        int section;
        Piece* piece;
        const std::byte* from;
        std::span<std::byte> to;
    };
    Section& at(int section) { return sections_[static_cast<std::size_t>(section)]; }
    std::size_t piece_bytes(const Tensor& tensor, std::size_t piece) const;
    /// Pieces at home for which there is room, which it marks; of one section.
    std::vector<Copy> claim(Section& section);
    void copy(int section, const std::vector<Copy>& copies);
    void copy_section(int section);
    void serve_reader(std::unique_lock<std::mutex>& lock);
    void read_piece(int section, Tensor& tensor, std::size_t piece, std::span<std::byte> to);

    const ParameterStore& store_;
    ThreadPool& pool_;
    Device& device_;
    std::size_t piece_;
    HostRegion memory_;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
    std::vector<Section> sections_;
    std::vector<std::byte*> free_;  ///< pieces of memory_
    std::optional<Wanted> wanted_;
    Seconds held_ = 0;
};

/// Memory in which all that is trained has room at once.
Bytes whole_snapshot_bytes(const ModelSpec& model, const TrainingSpec& training);

}  // namespace sluice

// How is a list kept that mostly has few elements? A plan has hundreds of operations with three
// lists each; as std::vector they took a quarter of the time of a choice of plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

/// Up to `kInPlace` elements need no memory of their own.
template <typename T, std::uint32_t kInPlace>
class ShortVector {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    ShortVector() = default;
    ShortVector(std::initializer_list<T> all) { append(all.begin(), all.size()); }
    ShortVector(const std::vector<T>& all) { append(all.data(), all.size()); }
    ShortVector(const ShortVector& other) { append(other.begin(), other.size()); }
    ShortVector(ShortVector&& other) noexcept { take(other); }
    ShortVector& operator=(const ShortVector& other) { return *this = ShortVector(other); }
    ShortVector& operator=(ShortVector&& other) noexcept {
        if (this != &other) take(other);
        return *this;
    }
    ~ShortVector() = default;

    T* begin() { return beyond_ ? beyond_.get() : reinterpret_cast<T*>(in_place_); }
    T* end() { return begin() + size_; }
    const T* begin() const {
        return beyond_ ? beyond_.get() : reinterpret_cast<const T*>(in_place_);
    }
    const T* end() const { return begin() + size_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return begin()[i]; }
    const T& operator[](std::size_t i) const { return begin()[i]; }
    const T& front() const { return *begin(); }
    const T& back() const { return end()[-1]; }

    void clear() { size_ = 0; }
    void push_back(T one) { append(&one, 1); }
    void push_front(T one) {
        append(&one, 1);
        std::rotate(begin(), end() - 1, end());
    }
    void append(const ShortVector& more) { append(more.begin(), more.size()); }
    template <typename Is>
    void erase_if(Is is) {
        size_ = static_cast<std::uint32_t>(std::remove_if(begin(), end(), is) - begin());
    }
    friend bool operator==(const ShortVector& a, const ShortVector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    /// Precondition: they are not its own.
    void append(const T* from, std::size_t count) {
        if (count == 0) return;
        if (size_ + count > capacity_) {
            const std::size_t more = std::max(size_ + count, std::size_t{2} * capacity_);
            std::unique_ptr<T[]> larger(new T[more]);
            std::copy(begin(), end(), larger.get());
            beyond_ = std::move(larger);
            capacity_ = static_cast<std::uint32_t>(more);
        }
        std::memcpy(static_cast<void*>(end()), from, count * sizeof(T));
        size_ += static_cast<std::uint32_t>(count);
    }
    /// The other is empty then.
    void take(ShortVector& other) {
        beyond_ = std::move(other.beyond_);
        capacity_ = std::exchange(other.capacity_, kInPlace);
        size_ = std::exchange(other.size_, 0);
        std::memcpy(in_place_, other.in_place_, sizeof in_place_);
    }

    std::uint32_t size_ = 0, capacity_ = kInPlace;
    std::unique_ptr<T[]> beyond_;
    alignas(T) std::byte in_place_[kInPlace * sizeof(T)];
};

}  // namespace sluice

#include "engine/data/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr const char* kGetAgain = "; the file is damaged, download it again";

/// Builds the list of tensors while the JSON is being parsed. It keeps no JSON tree, so that a
/// header made to need much memory is refused at its first odd value.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit HeaderReader(const std::string& path) : path_(path) {}
    std::vector<TensorEntry> take() { return std::move(tensors_); }

    bool null() override { unexpected("null"); }
    bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
    bool number_integer(std::int64_t value) override { unexpected(fmt::to_string(value)); }
    bool number_float(double, const std::string& text) override { unexpected(in_quotes(text)); }
    bool binary(nlohmann::json::binary_t&) override { unexpected("binary data"); }

    bool number_unsigned(std::uint64_t value) override {
        // More dimensions than any tensor has.
        constexpr std::size_t kMaxRank = 16;
        if (depth_ != 3 || value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
            unexpected(fmt::to_string(value));
        if (list().size() == (field_ == Field::shape ? kMaxRank : 2))
            refuse(fmt::format("{} has more than {} numbers", field_name(), list().size()));
        list().push_back(static_cast<std::int64_t>(value));
        return true;
    }

    bool string(std::string& value) override {
        if (depth_ == 2 && in_metadata_) return true;  // not used here
        if (depth_ != 2 || field_ != Field::dtype) unexpected(in_quotes(value));
        const auto dtype = parse_dtype(value);
        if (!dtype) {
            const std::string hint = did_you_mean(value, dtype_names());
            refuse(fmt::format("dtype is {}, expected one of {}", in_quotes(value),
                               fmt::join(dtype_names(), ", ")),
                   hint.empty() ? "; convert the file to one of these" : hint);
        }
        tensors_.back().dtype = *dtype;
        return true;
    }

    bool start_object(std::size_t) override {
        if (depth_ > 1) unexpected("an object");
        ++depth_;
        fields_seen_.clear();
        return true;
    }

    bool key(std::string& name) override {
        if (!(depth_ == 1 ? names_seen_ : fields_seen_).insert(name).second) {
            if (depth_ == 1) tensor_name_ = name;
            refuse(depth_ == 1 ? "occurs twice" : fmt::format("{} occurs twice", in_quotes(name)));
        }
        if (depth_ == 1) {
            start_tensor(name);
        } else if (in_metadata_) {
            field_key_ = name;
        } else {
            start_field(name);
        }
        return true;
    }

    bool end_object() override {
        --depth_;
        if (depth_ == 1 && !in_metadata_) {
            for (const char* field : {"dtype", "shape", "data_offsets"}) {
                if (!fields_seen_.contains(field)) refuse(fmt::format("{} is missing", field));
            }
        }
        return true;
    }

    bool start_array(std::size_t) override {
        if (depth_ != 2 || in_metadata_ || field_ == Field::dtype) unexpected("a list");
        ++depth_;
        return true;
    }

    bool end_array() override {
        --depth_;
        if (field_ == Field::data_offsets) {
            if (offsets_.size() != 2)
                refuse(fmt::format("data_offsets has {} numbers, expected 2", offsets_.size()));
            tensors_.back().begin = offsets_[0];
            tensors_.back().end = offsets_[1];
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
        throw InputError(fmt::format("{}: header is not valid JSON at its byte {}{}", path_,
                                     position, kGetAgain));
    }

  private:
    enum class Field : std::uint8_t { dtype, shape, data_offsets };

    const char* field_name() const {
        return field_ == Field::dtype ? "dtype" : field_ == Field::shape ? "shape" : "data_offsets";
    }

    std::vector<std::int64_t>& list() {
        return field_ == Field::shape ? tensors_.back().shape : offsets_;
    }

    void start_tensor(const std::string& name) {
        tensor_name_ = name;
        in_metadata_ = name == "__metadata__";
        if (in_metadata_) return;
        tensors_.emplace_back();
        tensors_.back().name = name;
        offsets_.clear();
    }

    void start_field(const std::string& name) {
        if (name == "dtype") {
            field_ = Field::dtype;
        } else if (name == "shape") {
            field_ = Field::shape;
        } else if (name == "data_offsets") {
            field_ = Field::data_offsets;
        } else {
            refuse(fmt::format("unknown field {}, expected dtype, shape and data_offsets",
                               in_quotes(name)));
        }
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& advice = kGetAgain) const {
        throw InputError(
            fmt::format("{}: tensor {}: {}{}", path_, in_quotes(tensor_name_), what, advice));
    }

    [[noreturn]] void unexpected(const std::string& value) const {
        if (depth_ == 1) refuse(fmt::format("is {}, expected an object", value));
        if (in_metadata_)
            refuse(fmt::format("{} is {}, expected a text", in_quotes(field_key_), value));
        refuse(fmt::format("{} is {}, expected {}", field_name(), value,
                           field_ == Field::dtype ? "a text" : "a list of whole numbers from 0"));
    }

    const std::string& path_;
    std::vector<TensorEntry> tensors_;
    int depth_ = 0;  ///< 1: in the header, 2: in a tensor or the metadata, 3: in a list
    bool in_metadata_ = false;
    Field field_ = Field::dtype;
    std::string tensor_name_, field_key_;
    std::vector<std::int64_t> offsets_;
    std::set<std::string> names_seen_, fields_seen_;
};

std::int64_t header_bytes(std::span<const std::byte> file, const std::string& path) {
    std::uint64_t length = 0;
    if (file.size() < sizeof(length))
        throw InputError(
            fmt::format("{}: has {} bytes, expected at least 8 of a safetensors file{}", path,
                        file.size(), kGetAgain));
    std::memcpy(&length, file.data(), sizeof(length));
    if (std::cmp_greater(length, kMaxSafetensorsHeader)) {
        throw InputError(
            fmt::format("{}: says that its header has {} bytes, expected at most {}; this is no "
                        "safetensors file, or it is damaged",
                        path, length, kMaxSafetensorsHeader));
    }
    if (length > file.size() - sizeof(length)) {
        throw InputError(
            fmt::format("{}: has {} bytes, but says that its header has {}; the file is truncated, "
                        "download it again",
                        path, file.size(), length));
    }
    return static_cast<std::int64_t>(length);
}

void check_size(const TensorEntry& tensor, const std::string& path) {
    const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
    if (bytes && tensor.end - tensor.begin == *bytes) return;
    throw InputError(fmt::format(
        "{}: tensor {}: data_offsets are [{}, {}], but {} {} is {}{}", path, in_quotes(tensor.name),
        tensor.begin, tensor.end, dtype_name(tensor.dtype), shown_shape(tensor.shape),
        bytes ? fmt::format("{} bytes", *bytes) : "more than any file holds", kGetAgain));
}

/// Tensors sorted by offset must follow each other, and end at the end of the data.
void check_layout(const std::vector<TensorEntry>& tensors, std::int64_t data_bytes,
                  const std::string& path) {
    std::int64_t previous_end = 0;
    for (const TensorEntry& tensor : tensors) {
        check_size(tensor, path);
        if (tensor.begin != previous_end)
            throw InputError(fmt::format(
                "{}: tensor {}: begins at byte {} of the data, but the one before ends at {}: they "
                "{}{}",
                path, in_quotes(tensor.name), tensor.begin, previous_end,
                tensor.begin < previous_end ? "overlap" : "leave a gap", kGetAgain));
        previous_end = tensor.end;
    }
    if (previous_end != data_bytes) {
        throw InputError(fmt::format(
            "{}: holds {} bytes of data, but its header says {}{}", path, data_bytes, previous_end,
            data_bytes < previous_end ? "; the file is truncated, download it again" : kGetAgain));
    }
}

}  // namespace

std::string in_quotes(std::string_view name) {
    constexpr std::size_t kLongestShown = 100;
    const bool cut = name.size() > kLongestShown;
    return nlohmann::json(name.substr(0, kLongestShown))
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
           (cut ? "..." : "");
}

std::vector<TensorEntry> read_safetensors_header(std::span<const std::byte> file,
                                                 const std::string& path) {
    const std::int64_t length = header_bytes(file, path);
    const auto* text = reinterpret_cast<const char*>(file.data()) + sizeof(std::uint64_t);
    if (length == 0 || text[0] != '{') {
        throw InputError(fmt::format(
            "{}: header does not begin with a brace {{; this is no safetensors file", path));
    }
    HeaderReader reader(path);
    nlohmann::json::sax_parse(text, text + length, &reader);
    std::vector<TensorEntry> tensors = reader.take();
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const TensorEntry& a, const TensorEntry& b) {
                         return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                     });
    const auto data_begin = static_cast<std::int64_t>(sizeof(std::uint64_t)) + length;
    check_layout(tensors, static_cast<std::int64_t>(file.size()) - data_begin, path);
    for (TensorEntry& tensor : tensors) {
        tensor.begin += data_begin;
        tensor.end += data_begin;
    }
    return tensors;
}

}  // namespace sluice

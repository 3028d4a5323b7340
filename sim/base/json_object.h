// How is a JSON file read so that every mistake names the file, the field and the value?
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Reads a whole text file; throws InputError if it is missing, unreadable, a folder or too large.
std::string read_text_file(const std::string& path);

/// One object of a JSON file, with the file's name and the path of keys to the object. All readers
/// throw InputError with one sentence.
class JsonObject {
  public:
    /// `file` is the name for messages.
    static JsonObject parse(std::string_view text, const std::string& file);
    /// With the values of another object, as JSON, for keys that are absent.
    JsonObject with_defaults(std::string_view json) const;

    bool holds(std::string_view key) const;  ///< present, even if null
    bool has(std::string_view key) const;    ///< present and not null
    bool is_object(std::string_view key) const;
    bool is_text(std::string_view key) const;
    bool is_list(std::string_view key) const;
    std::string shown_value(std::string_view key) const;  ///< short, for messages of callers
    std::vector<std::string> keys() const;

    std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const;
    std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                            std::int64_t high) const;
    double number(std::string_view key, double low, double high) const;
    std::optional<double> number_or_none(std::string_view key, double low, double high) const;
    bool boolean_or(std::string_view key, bool fallback) const;
    std::string text(std::string_view key) const;
    std::string text_or(std::string_view key, std::string_view fallback) const;
    /// A text, number or boolean as text, for readers that convert it themselves.
    std::string scalar_text(std::string_view key) const;
    std::vector<std::int64_t> integers(std::string_view key, std::int64_t low,
                                       std::int64_t high) const;
    std::vector<std::string> texts(std::string_view key) const;
    /// A list of rows, each of `columns` numbers: [[65536, 17.5], ...]. May be empty.
    std::vector<std::vector<double>> rows(std::string_view key, std::size_t columns) const;
    /// For lists whose entries are neither objects nor of one type.
    const nlohmann::json& list(std::string_view key) const;
    JsonObject object(std::string_view key) const;
    std::optional<JsonObject> object_or_none(std::string_view key) const;
    std::vector<JsonObject> objects(std::string_view key) const;

    /// Refuses keys that are not in `known` and suggests the nearest.
    void allow_only(const std::vector<std::string>& known) const;
    /// `file: path.key` for messages of callers.
    std::string where(std::string_view key) const;
    const std::string& file() const { return file_; }

  private:
    JsonObject(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* value,
               std::string file, std::string path);
    const nlohmann::json* find(std::string_view key) const;  ///< nullptr if it is missing
    const nlohmann::json& required(std::string_view key) const;
    [[noreturn]] void wrong(std::string_view key, const nlohmann::json& value,
                            std::string_view expected) const;

    std::shared_ptr<const nlohmann::json> root_;
    const nlohmann::json* value_;
    std::string file_;
    std::string path_;
};

}  // namespace sluice

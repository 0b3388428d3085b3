#ifndef ARMATURE_DAEMON_JSON_JSON_WRITER_H_
#define ARMATURE_DAEMON_JSON_JSON_WRITER_H_

// Writes one JSON document from its beginning to its end.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace armature::daemon {

// Appends to a string that it owns. Commas and colons come by themselves; whoever writes sees to it that members have
// keys and that what is opened is closed.
//
// Thread-safety: thread-compatible.
// Cost: amortised constant for each byte; text without characters to escape is copied in blocks.
class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open("{"); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open("["); }
  JsonWriter& EndArray() { return Close(']'); }

  // `name` is well-formed UTF-8; it is escaped.
  JsonWriter& Key(std::string_view name);

  // `text` is well-formed UTF-8.
  JsonWriter& String(std::string_view text);
  JsonWriter& Integer(int64_t value);
  JsonWriter& Boolean(bool value);
  // Plain decimals, with at least one behind the point: 0.5, 6.0. `value` is finite.
  JsonWriter& Double(double value);
  // Milliseconds since 1970 as seconds with a fraction: 1700000000.123.
  JsonWriter& Timestamp(int64_t milliseconds);
  // The bytes in base64, as a string.
  JsonWriter& Base64(std::string_view bytes);

  // A member of the object that is open: its key and its value. Without overloads for numbers and booleans, which C++
  // would convert into each other.
  JsonWriter& Member(std::string_view name, std::string_view text) { return Key(name).String(text); }

  // Opens a value with `text`, such as `{"S":`, behind which a value stands without a comma. For what is too frequent
  // to be put together from the calls above.
  JsonWriter& Open(std::string_view text) {
    BeforeValue();
    Append(text);
    after_value_ = false;
    return *this;
  }

  size_t size() const { return size_; }
  // Makes room for `bytes` more at once.
  void Reserve(size_t bytes) { Room(bytes); }
  // Forgets what was written, and keeps the room.
  void Clear() {
    size_ = 0;
    after_value_ = false;
  }
  // The document. The writer is empty afterwards.
  std::string Take();

 private:
  JsonWriter& Close(char bracket) {
    Put(bracket);
    after_value_ = true;
    return *this;
  }
  // Where at least `bytes` more may be written.
  char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) Grow(bytes);
    return buffer_.data() + size_;
  }
  void Put(char c) {
    *Room(1) = c;
    ++size_;
  }
  // The comma before a value or a key, if one is needed. Counts the value as written.
  void BeforeValue() {
    if (after_value_) Put(',');
    after_value_ = true;
  }
  void Append(std::string_view text) {
    std::memcpy(Room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void Grow(size_t bytes);
  void Quote(std::string_view text);

  // Larger than what is written, so that bytes are set and not appended.
  std::string buffer_;
  size_t size_ = 0;
  bool after_value_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_JSON_WRITER_H_

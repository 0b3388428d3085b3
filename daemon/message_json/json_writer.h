#ifndef ARMATURE_DAEMON_MESSAGE_JSON_JSON_WRITER_H_
#define ARMATURE_DAEMON_MESSAGE_JSON_JSON_WRITER_H_

// Writes one JSON document sequentially.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/held_memory.h"

namespace armature::daemon {

// Appends to its own string. Commas and colons are automatic. The caller writes keys for members and closes what it
// opens.
//
// The document takes its memory as it grows. If there is none, the document is dropped, and what is written after that
// is dropped, too.
//
// Thread-safety: thread-compatible.
// Cost: amortised constant for each byte; text without characters to escape is copied in blocks.
class JsonWriter {
 public:
  // A document without a bound on its memory.
  JsonWriter() = default;
  // `memory`: it may hold memory of what the document is made from, which it keeps until the document is taken;
  // `beside` is how much of that is still used. `may_refuse`: false if the document is needed in any case.
  explicit JsonWriter(HeldMemory memory, size_t beside = 0, bool may_refuse = true)
      : memory_(std::move(memory)), beside_(beside), may_refuse_(may_refuse) {}

  JsonWriter& BeginObject() { return Open("{"); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open("["); }
  JsonWriter& EndArray() { return Close(']'); }

  // `name` is well-formed UTF-8; it is escaped.
  JsonWriter& Key(std::string_view name);

  // `text` is well-formed UTF-8.
  JsonWriter& String(std::string_view text);
  JsonWriter& Integer(int64_t value);
  JsonWriter& Unsigned(uint64_t value);
  JsonWriter& Boolean(bool value);
  // Plain decimal with at least one digit after the point: 0.5, 6.0. `value` must be finite.
  JsonWriter& Double(double value);
  // Milliseconds since 1970 as seconds with a fraction: 1700000000.123.
  JsonWriter& Timestamp(int64_t milliseconds);
  // The bytes in base64, as a string.
  JsonWriter& Base64(std::string_view bytes);

  // Key and value of a member of the open object. There are no overloads for numbers and booleans, which C++ would
  // convert into each other.
  JsonWriter& Member(std::string_view name, std::string_view text) { return Key(name).String(text); }

  // Opens a value with `text`, such as `{"S":`, after which a value follows without a comma. For sequences that are too
  // frequent for the calls above.
  JsonWriter& Open(std::string_view text) {
    BeforeValue();
    Append(text);
    after_value_ = false;
    return *this;
  }

  size_t size() const { return size_; }
  // The document so far, until the next call.
  std::string_view text() const { return {buffer_.data(), size_}; }
  // Reserves room for `bytes` more.
  void Reserve(size_t bytes) { Room(bytes); }
  // Discards the written document and keeps the buffer.
  void Clear() {
    size_ = 0;
    after_value_ = false;
  }
  // True if there was no memory for the document.
  bool is_refused() const { return is_refused_; }
  // Returns the document. The writer is empty afterwards.
  std::string Take();
  // Returns the memory of the document, which was taken before.
  HeldMemory TakeMemory() { return std::move(memory_); }

 private:
  JsonWriter& Close(char bracket) {
    Put(bracket);
    after_value_ = true;
    return *this;
  }
  // Room for at least `bytes` more.
  char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) Grow(bytes);
    return buffer_.data() + size_;
  }
  void Put(char c) {
    *Room(1) = c;
    ++size_;
  }
  // Writes the comma before a value or a key, if needed. Counts the value as written.
  void BeforeValue() {
    if (after_value_) Put(',');
    after_value_ = true;
  }
  void Append(std::string_view text) {
    std::memcpy(Room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void Grow(size_t bytes);
  // True if the buffer may have `size` bytes.
  bool Covers(size_t size);
  void Quote(std::string_view text);
  template <class Number>
  JsonWriter& Digits(Number value);

  // Larger than the written document, so that bytes are set, not appended.
  std::string buffer_;
  size_t size_ = 0;
  bool after_value_ = false;
  HeldMemory memory_;
  size_t beside_ = 0;
  bool may_refuse_ = false;
  bool is_refused_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_MESSAGE_JSON_JSON_WRITER_H_

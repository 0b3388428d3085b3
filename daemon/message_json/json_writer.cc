#include "daemon/message_json/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "daemon/message_json/base64.h"

namespace armature::daemon {
namespace {

constexpr size_t kBufferMinBytes = 256;
// Part of a document by which its buffer grows if there is no memory to double it.
constexpr size_t kSpareParts = 8;

// The letter of each byte's escape, 'u' for bytes without one, 0 for bytes that need no escape.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

// The longest escape: \u001f.
constexpr size_t kEscapeMaxBytes = 6;

char* WriteEscape(char c, char letter, char* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  *out++ = '\\';
  *out++ = letter;
  if (letter == 'u') {
    const auto byte = static_cast<uint8_t>(c);
    *out++ = '0';
    *out++ = '0';
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
  return out;
}

constexpr uint64_t Repeat(uint8_t byte) { return byte * uint64_t{0x0101010101010101}; }

// True if any of eight bytes is a quote, a backslash or a control character: the subtraction then borrows and sets the
// byte's high bit. A borrow may reach the next byte, but only if there is a match.
bool NeedsEscape(uint64_t bytes) {
  const uint64_t quotes = bytes ^ Repeat('"');
  const uint64_t backslashes = bytes ^ Repeat('\\');
  return ((((bytes - Repeat(0x20)) & ~bytes) | ((quotes - Repeat(1)) & ~quotes) |
           ((backslashes - Repeat(1)) & ~backslashes)) &
          Repeat(0x80)) != 0;
}

constexpr size_t kBlock = sizeof(uint64_t);

// Copies blocks from `text` until one needs an escape or no whole block is left. Returns the number of bytes copied.
size_t CopyBlocks(std::string_view text, char* out) {
  size_t done = 0;
  while (text.size() - done >= kBlock) {
    uint64_t block = 0;
    std::memcpy(&block, text.data() + done, kBlock);
    if (NeedsEscape(block)) break;
    std::memcpy(out + done, &block, kBlock);
    done += kBlock;
  }
  return done;
}

// Long enough for any finite double without an exponent.
constexpr size_t kDoubleMaxBytes = 400;

}  // namespace

bool JsonWriter::Covers(size_t size) {
  if (memory_.Cover(beside_ + size)) return true;
  if (!may_refuse_) memory_.Set(beside_ + size);
  return !may_refuse_;
}

void JsonWriter::Grow(size_t bytes) {
  const size_t needed = size_ + bytes;
  size_t wanted = std::max({buffer_.size() * 2, needed, kBufferMinBytes});
  if (!is_refused_ && !Covers(wanted)) {
    wanted = needed + needed / kSpareParts;
    is_refused_ = !Covers(wanted);
  }
  if (is_refused_) {
    size_ = 0;
    // One scalar is longer than the buffer.
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    return;
  }
  if (wanted >= 2 * buffer_.size()) {
    buffer_.resize(wanted);
  } else {
    // The string itself would double.
    std::string larger;
    larger.reserve(wanted);
    larger.append(buffer_, 0, size_);
    buffer_ = std::move(larger);
  }
  // Uses the whole allocation.
  buffer_.resize(buffer_.capacity());
}

std::string JsonWriter::Take() {
  buffer_.resize(is_refused_ ? 0 : size_);
  Clear();
  // The string would keep what was reserved for more items until the document is sent.
  if (buffer_.capacity() > 2 * buffer_.size() + HeldMemory::kFreeBytes) buffer_.shrink_to_fit();
  memory_.Set(buffer_.capacity());
  return std::exchange(buffer_, std::string());
}

void JsonWriter::Quote(std::string_view text) {
  char* out = Room(text.size() + 2);
  *out++ = '"';
  while (true) {
    const size_t copied = CopyBlocks(text, out);
    text.remove_prefix(copied);
    out += copied;
    // The rest of the text, or the block that needs an escape.
    const size_t end = std::min(text.size(), kBlock);
    for (size_t i = 0; i < end; ++i) {
      const char letter = kEscapes[static_cast<uint8_t>(text[i])];
      if (letter == 0) {
        *out++ = text[i];
        continue;
      }
      size_ = static_cast<size_t>(out - buffer_.data());
      out = WriteEscape(text[i], letter, Room(kEscapeMaxBytes + text.size() - i));
    }
    text.remove_prefix(end);
    if (text.empty()) break;
  }
  *out++ = '"';
  size_ = static_cast<size_t>(out - buffer_.data());
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  BeforeValue();
  Quote(name);
  Put(':');
  after_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  BeforeValue();
  Quote(text);
  return *this;
}

template <class Number>
JsonWriter& JsonWriter::Digits(Number value) {
  constexpr size_t kMaxBytes = 20;
  BeforeValue();
  char* const out = Room(kMaxBytes);
  size_ += static_cast<size_t>(std::to_chars(out, out + kMaxBytes, value).ptr - out);
  return *this;
}

JsonWriter& JsonWriter::Integer(int64_t value) { return Digits(value); }
JsonWriter& JsonWriter::Unsigned(uint64_t value) { return Digits(value); }

JsonWriter& JsonWriter::Boolean(bool value) {
  BeforeValue();
  Append(value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  BeforeValue();
  char* const out = Room(kDoubleMaxBytes);
  const char* const end = std::to_chars(out, out + kDoubleMaxBytes, value, std::chars_format::fixed).ptr;
  const std::string_view digits(out, static_cast<size_t>(end - out));
  size_ += digits.size();
  if (digits.find('.') == std::string_view::npos) Append(".0");
  return *this;
}

JsonWriter& JsonWriter::Timestamp(int64_t milliseconds) {
  // Unsigned, because the smallest negative number has no positive counterpart.
  const uint64_t magnitude =
      milliseconds < 0 ? uint64_t{0} - static_cast<uint64_t>(milliseconds) : static_cast<uint64_t>(milliseconds);
  constexpr size_t kMaxBytes = 24;
  BeforeValue();
  if (milliseconds < 0) Put('-');
  char* const out = Room(kMaxBytes);
  char* end = std::to_chars(out, out + kMaxBytes, magnitude / 1000).ptr;
  const auto fraction = static_cast<int>(magnitude % 1000);
  *end++ = '.';
  *end++ = static_cast<char>('0' + fraction / 100);
  *end++ = static_cast<char>('0' + fraction / 10 % 10);
  *end++ = static_cast<char>('0' + fraction % 10);
  size_ += static_cast<size_t>(end - out);
  return *this;
}

JsonWriter& JsonWriter::Base64(std::string_view bytes) {
  BeforeValue();
  char* const out = Room(Base64Size(bytes.size()) + 2);
  *out = '"';
  char* const end = EncodeBase64(bytes, out + 1);
  *end = '"';
  size_ += static_cast<size_t>(end + 1 - out);
  return *this;
}

}  // namespace armature::daemon

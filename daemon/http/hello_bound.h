#ifndef ARMATURE_DAEMON_HTTP_HELLO_BOUND_H_
#define ARMATURE_DAEMON_HTTP_HELLO_BOUND_H_

// The size of the first message of a TLS handshake, before the TLS library takes memory for it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armature::daemon {

// Follows the records of a client (RFC 8446, section 5.1), as far as they are plain. OpenSSL takes memory for a whole
// ClientHello as soon as its size is there, up to 131 KB.
//
// Thread-safety: thread-compatible.
class HelloBound {
 public:
  // No client is known that needs a quarter of it.
  static constexpr size_t kBytesMax = 16 << 10;

  // False if `bytes`, which follow those before, announce a larger ClientHello, or if a record hides the size of one.
  bool Admits(std::string_view bytes) {
    while (!bytes.empty()) {
      if (head_size_ < kRecordHeadBytes) {
        Keep(&bytes);
        if (head_size_ == kRecordHeadBytes) left_ = RecordBytes();
      } else if (head_size_ < head_.size() && left_ > 0) {
        Keep(&bytes);
        --left_;
        if (head_size_ == head_.size() && !AdmitsMessage()) return false;
      } else {
        const size_t part = std::min(left_, bytes.size());
        bytes.remove_prefix(part);
        left_ -= part;
      }
      if (head_size_ >= kRecordHeadBytes && left_ == 0 && !EndRecord()) return false;
    }
    return true;
  }
  // True once a whole ClientHello has passed.
  bool has_passed() const { return has_passed_; }

 private:
  static constexpr uint8_t kHandshake = 22;
  static constexpr uint8_t kClientHello = 1;
  static constexpr size_t kRecordHeadBytes = 5;
  static constexpr size_t kMessageHeadBytes = 4;

  void Keep(std::string_view* bytes) {
    head_[head_size_++] = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
  }
  size_t RecordBytes() const { return size_t{head_[3]} << 8 | head_[4]; }

  bool AdmitsMessage() {
    if (head_[0] != kHandshake || hello_left_ > 0 || head_[kRecordHeadBytes] != kClientHello) return true;
    const size_t bytes = size_t{head_[6]} << 16 | size_t{head_[7]} << 8 | head_[8];
    hello_left_ = kMessageHeadBytes + bytes;
    return bytes <= kBytesMax;
  }
  bool EndRecord() {
    const bool is_handshake = head_[0] == kHandshake;
    const bool is_too_short = head_size_ < head_.size();
    head_size_ = 0;
    if (!is_handshake) return true;
    if (hello_left_ == 0) return !is_too_short;
    hello_left_ -= std::min(hello_left_, RecordBytes());
    has_passed_ = has_passed_ || hello_left_ == 0;
    return true;
  }

  // The head of the record, and of the message at its begin.
  std::array<uint8_t, kRecordHeadBytes + kMessageHeadBytes> head_{};
  size_t head_size_ = 0;
  size_t left_ = 0;        // of the record
  size_t hello_left_ = 0;  // of the ClientHello, from the begin of the record on
  bool has_passed_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HELLO_BOUND_H_

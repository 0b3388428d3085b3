#ifndef ARMATURE_DAEMON_HTTP_WINDOW_METER_H_
#define ARMATURE_DAEMON_HTTP_WINDOW_METER_H_

// Measures how many bytes a client may send ahead so that round trips do not hold it up.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace armature::daemon {

// A ping measures the round trip: as many bytes as arrive within one are on their way at once. One probe at a time.
//
// Thread-safety: thread-compatible. Times are nanoseconds of one clock.
class WindowMeter {
 public:
  WindowMeter(size_t window, size_t window_max) : window_(window), window_max_(window_max) {}

  // Bytes that a client with much to send may send ahead.
  size_t window() const { return window_; }

  // Bytes of `stream` have arrived.
  void Count(int32_t stream, size_t bytes) {
    if (is_probing_ && stream == stream_) bytes_ += bytes;
  }
  // True if a probe begins that counts the bytes of `stream`: the caller sends a ping, and calls End when the answer
  // has come. `now_ns`: called only if the time matters.
  template <class Clock>
  bool Begin(int32_t stream, Clock now_ns) {
    if (is_probing_ || window_ >= window_max_ || now_ns() < next_ns_) return false;
    is_probing_ = true;
    stream_ = stream;
    bytes_ = 0;
    return true;
  }
  void End(int64_t now_ns) {
    if (!is_probing_) return;
    is_probing_ = false;
    // The client learns of taken bytes when they are half a window: one that is held up sends between half and all of
    // it.
    if (bytes_ * 5 / 2 > window_) {
      window_ = std::min(2 * std::max(bytes_, window_), window_max_);
      pause_ns_ = 0;
      return;
    }
    pause_ns_ = std::clamp(2 * pause_ns_, kPauseMinNs, kPauseMaxNs);
    next_ns_ = now_ns + pause_ns_;
  }

 private:
  // A probe that shows no need of a wider window is repeated after a longer and longer time.
  static constexpr int64_t kPauseMinNs = 100'000'000;
  static constexpr int64_t kPauseMaxNs = 10'000'000'000;

  size_t window_;
  const size_t window_max_;
  bool is_probing_ = false;
  int32_t stream_ = 0;
  size_t bytes_ = 0;
  int64_t next_ns_ = 0;
  int64_t pause_ns_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_WINDOW_METER_H_

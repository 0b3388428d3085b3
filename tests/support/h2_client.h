#ifndef ARMATURE_TESTS_SUPPORT_H2_CLIENT_H_
#define ARMATURE_TESTS_SUPPORT_H2_CLIENT_H_

// A client of HTTP/2 without a socket, and frames that no proper client sends.

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace armature::daemon {

using H2Fields = std::vector<std::pair<std::string, std::string>>;

// ---- Raw frames

inline std::string BigEndian(uint32_t value, int bytes) {
  std::string made;
  for (int i = bytes - 1; i >= 0; --i) made.push_back(static_cast<char>(value >> (8 * i)));
  return made;
}

inline std::string RawFrame(int type, int flags, uint32_t stream, std::string_view payload) {
  return BigEndian(static_cast<uint32_t>(payload.size()), 3) + BigEndian(static_cast<uint32_t>(type), 1) +
         BigEndian(static_cast<uint32_t>(flags), 1) + BigEndian(stream, 4) + std::string(payload);
}

inline std::string RawPreface() { return NGHTTP2_CLIENT_MAGIC + RawFrame(NGHTTP2_SETTINGS, 0, 0, {}); }

// A length in HPACK's form, after `prefix` of the first byte's bits.
inline std::string RawLength(size_t value, int prefix_bits, int first = 0) {
  const size_t most = (size_t{1} << prefix_bits) - 1;
  if (value < most) return {static_cast<char>(first | static_cast<int>(value))};
  std::string made{static_cast<char>(first | static_cast<int>(most))};
  for (value -= most; value >= 128; value /= 128) made.push_back(static_cast<char>(value % 128 + 128));
  made.push_back(static_cast<char>(value));
  return made;
}

// Literals that are not indexed.
inline std::string RawHeaderBlock(const H2Fields& fields) {
  std::string made;
  for (const auto& [name, value] : fields) {
    made += '\0' + RawLength(name.size(), 7) + name + RawLength(value.size(), 7) + value;
  }
  return made;
}

inline const H2Fields& RawRequestFields() {
  static const H2Fields* const kFields =
      new H2Fields{{":method", "POST"}, {":scheme", "http"}, {":path", "/raw"}, {":authority", "host"}};
  return *kFields;
}

inline std::string RawRequest(uint32_t stream, bool is_whole = true) {
  const int flags = NGHTTP2_FLAG_END_HEADERS | (is_whole ? NGHTTP2_FLAG_END_STREAM : 0);
  return RawFrame(NGHTTP2_HEADERS, flags, stream, RawHeaderBlock(RawRequestFields()));
}

struct RawFrameView {
  int type;
  int flags;
  uint32_t stream;
  std::string_view payload;
};

// The whole frames at the begin of `bytes`.
inline std::vector<RawFrameView> SplitFrames(std::string_view bytes) {
  const auto number = [&](size_t at, int size) {
    uint32_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
    return value;
  };
  std::vector<RawFrameView> frames;
  while (bytes.size() >= 9 && bytes.size() - 9 >= number(0, 3)) {
    const uint32_t size = number(0, 3);
    frames.push_back(
        {static_cast<int>(number(3, 1)), static_cast<int>(number(4, 1)), number(5, 4), bytes.substr(9, size)});
    bytes.remove_prefix(9 + size);
  }
  return frames;
}

// ---- A proper client

class H2Client {
 public:
  struct Answer {
    H2Fields head;
    H2Fields trailers;
    std::string data;
    size_t data_frames = 0;
    bool has_ended = false;
    std::optional<uint32_t> closed_with;

    std::string_view Find(std::string_view name) const {
      for (const H2Fields* const fields : {&head, &trailers}) {
        for (const auto& [key, value] : *fields) {
          if (key == name) return value;
        }
      }
      return {};
    }
  };
  struct Options {
    std::vector<nghttp2_settings_entry> settings = {};
    // False: windows change only by GiveWindow.
    bool gives_windows = true;
    size_t padding = 0;
  };

  H2Client() : H2Client(Options()) {}
  explicit H2Client(const Options& options) : padding_(options.padding) {
    nghttp2_option* made = nullptr;
    nghttp2_option_new(&made);
    nghttp2_option_set_no_auto_window_update(made, options.gives_windows ? 0 : 1);
    nghttp2_session_client_new2(&session_, Callbacks(), this, made);
    nghttp2_option_del(made);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, options.settings.data(), options.settings.size());
  }
  ~H2Client() { nghttp2_session_del(session_); }
  H2Client(const H2Client&) = delete;
  H2Client& operator=(const H2Client&) = delete;

  // Begins a request, of which Send and End are parts unless it `is_whole`. Returns its stream.
  int32_t Begin(std::string_view path, bool is_whole = false, const H2Fields& more = {}) {
    return BeginAs("POST", path, is_whole, more);
  }
  int32_t BeginAs(std::string_view method, std::string_view path, bool is_whole = false, const H2Fields& more = {}) {
    H2Fields fields = {
        {":method", std::string(method)}, {":scheme", "http"}, {":path", std::string(path)}, {":authority", "host"}};
    fields.insert(fields.end(), more.begin(), more.end());
    const std::vector<nghttp2_nv> head = ToNvs(fields);
    const nghttp2_data_provider body = {.source = {.ptr = this}, .read_callback = ReadBody};
    return nghttp2_submit_request(session_, nullptr, head.data(), head.size(), is_whole ? nullptr : &body, nullptr);
  }
  void Send(int32_t stream, std::string_view bytes) {
    bodies_[stream].bytes.append(bytes);
    nghttp2_session_resume_data(session_, stream);
  }
  void End(int32_t stream, const H2Fields& trailers = {}) {
    bodies_[stream].has_end = true;
    bodies_[stream].trailers = trailers;
    nghttp2_session_resume_data(session_, stream);
  }
  int32_t Request(std::string_view path, std::string_view body) {
    const int32_t stream = Begin(path);
    Send(stream, body);
    End(stream);
    return stream;
  }
  void Reset(int32_t stream) { nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL); }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void GoAway() { nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0); }
  // `stream` 0: the connection's window.
  void GiveWindow(int32_t stream, int32_t bytes) {
    nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, stream, bytes);
  }

  // Bytes for the server.
  std::string Output() {
    std::string bytes;
    const uint8_t* part = nullptr;
    for (ssize_t size; (size = nghttp2_session_mem_send(session_, &part)) > 0;) {
      bytes.append(reinterpret_cast<const char*>(part), static_cast<size_t>(size));
    }
    return bytes;
  }
  // False if the server is in error.
  bool Input(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) >= 0;
  }

  const Answer& answer(int32_t stream) { return answers_[stream]; }
  // Bytes of a request that have not been sent, for want of a window.
  size_t unsent(int32_t stream) { return bodies_[stream].bytes.size() - bodies_[stream].offset; }
  void Forget(int32_t stream) {
    answers_.erase(stream);
    bodies_.erase(stream);
  }

  struct GoAwayFrame {
    int32_t last_stream;
    uint32_t error;
  };
  const std::vector<GoAwayFrame>& goaways() const { return goaways_; }
  size_t pings_answered() const { return pings_answered_; }

 private:
  struct Body {
    std::string bytes;
    size_t offset = 0;
    bool has_end = false;
    H2Fields trailers;
  };

  static H2Client* Self(void* self) { return static_cast<H2Client*>(self); }

  static std::vector<nghttp2_nv> ToNvs(const H2Fields& fields) {
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    std::vector<nghttp2_nv> made;
    for (const auto& [name, value] : fields) {
      made.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    return made;
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream, uint8_t* to, size_t most, uint32_t* flags,
                          nghttp2_data_source*, void* self) {
    Body& body = Self(self)->bodies_[stream];
    const size_t part = std::min(most, body.bytes.size() - body.offset);
    body.bytes.copy(reinterpret_cast<char*>(to), part, body.offset);
    body.offset += part;
    if (body.has_end && body.offset == body.bytes.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (!body.trailers.empty()) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const std::vector<nghttp2_nv> trailers = ToNvs(body.trailers);
        nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
      }
    } else if (part == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(part);
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self) {
    Answer& answer = Self(self)->answers_[frame->hd.stream_id];
    H2Fields& fields = frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? answer.head : answer.trailers;
    fields.emplace_back(std::string(reinterpret_cast<const char*>(name), name_size),
                        std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size, void* self) {
    Self(self)->answers_[stream].data.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Answer& answer = Self(self)->answers_[frame->hd.stream_id];
    switch (frame->hd.type) {
      case NGHTTP2_DATA:
        ++answer.data_frames;
        [[fallthrough]];
      case NGHTTP2_HEADERS:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) answer.has_ended = true;
        break;
      case NGHTTP2_GOAWAY:
        Self(self)->goaways_.push_back({frame->goaway.last_stream_id, frame->goaway.error_code});
        break;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) ++Self(self)->pings_answered_;
        break;
      default:
        break;
    }
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
    Self(self)->answers_[stream].closed_with = error;
    return 0;
  }

  static ssize_t Pad(nghttp2_session*, const nghttp2_frame* frame, size_t most, void* self) {
    if (frame->hd.type == NGHTTP2_SETTINGS) return static_cast<ssize_t>(frame->hd.length);
    return static_cast<ssize_t>(std::min(most, frame->hd.length + Self(self)->padding_));
  }

  static const nghttp2_session_callbacks* Callbacks() {
    static const nghttp2_session_callbacks* const kCallbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, OnClose);
      nghttp2_session_callbacks_set_select_padding_callback(made, Pad);
      return made;
    }();
    return kCallbacks;
  }

  const size_t padding_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::map<int32_t, Body> bodies_;
  std::vector<GoAwayFrame> goaways_;
  size_t pings_answered_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_SUPPORT_H2_CLIENT_H_

#include "daemon/http/h2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace armature::daemon {
namespace {

// Bytes of a frame's head.
constexpr size_t kFrameHeadBytes = 9;
// Data frames of fewer bytes count as frames without use. No message of gRPC with a key in it is shorter.
constexpr size_t kTinyDataBytes = 16;
// Frames that a request may bring with it: data, window updates, a reset.
constexpr double kTokensOfRequest = 8;
constexpr double kResetsOfRequest = 1;
// Window updates that a data frame of an answer, and its bytes, may bring with them. Some clients send two for each 4
// KB that they read, those with small windows more, and all of a large answer may be on its way before the first one
// comes.
constexpr double kUpdatesOfFrame = 4;
constexpr double kBytesPerUpdate = 512;
// Data for streams that have ended, beyond what their clients may have sent before they learnt of it.
constexpr int64_t kUnseenBytesMax = 1 << 20;
constexpr int64_t kUnseenCreditMax = 64 << 20;
// Types of frames that the library does not know.
constexpr int kFirstUnknownType = 10;
constexpr int kLastUnknownType = 255;
// Streams share the connection's window: what they hold is bounded by their own windows.
constexpr int32_t kConnectionWindow = 1 << 30;
constexpr size_t kContinuationsMax = 8;
constexpr size_t kSettingsMax = 32;
constexpr size_t kAnswersToPingsMax = 1000;
// Texts of our pings.
constexpr uint8_t kProbePing[8] = {'p', 'r', 'o', 'b', 'e', 0, 0, 0};
constexpr uint8_t kLifePing[8] = {'a', 'l', 'i', 'v', 'e', 0, 0, 0};
constexpr uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 0, 0, 0};

bool Says(const nghttp2_frame& frame, const uint8_t (&text)[8]) {
  return std::memcmp(frame.ping.opaque_data, text, sizeof(text)) == 0;
}

std::string_view ViewOf(const uint8_t* bytes, size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

uint8_t* Mutable(std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); }

nghttp2_nv ToNv(const HeaderField& field) {
  const uint8_t flags =
      field.is_fixed ? NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE : NGHTTP2_NV_FLAG_NONE;
  return {Mutable(field.name), Mutable(field.value), field.name.size(), field.value.size(), flags};
}

nghttp2_option* NewOptions() {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  // gRPC's metadata may have blanks around their values.
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
  nghttp2_option_set_max_settings(option, kSettingsMax);
  nghttp2_option_set_max_outbound_ack(option, kAnswersToPingsMax);
  nghttp2_option_set_max_continuations(option, kContinuationsMax);
  // The session counts resets itself: the library's limit knows only the clock of the system, and tells nobody.
  nghttp2_option_set_stream_reset_rate_limit(option, UINT64_MAX, UINT64_MAX);
  // Frames of unknown types are shown to OnBeginFrame only if they are asked for.
  for (int type = kFirstUnknownType; type <= kLastUnknownType; ++type) {
    nghttp2_option_set_user_recv_extension_type(option, static_cast<uint8_t>(type));
  }
  return option;
}

}  // namespace

// ---- What the library calls

struct H2Session::Callbacks {
  static H2Session* Self(void* self) { return static_cast<H2Session*>(self); }
  static H2Stream* Find(nghttp2_session* session, int32_t id) {
    return static_cast<H2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* frame, void* self) {
    H2Session* const session = Self(self);
    session->unseen_bytes_ -= static_cast<int64_t>(kFrameHeadBytes + frame->length);
    session->CheckFrame(frame->type, frame->stream_id);
    if (frame->type == NGHTTP2_WINDOW_UPDATE && session->updates_ >= 1) {
      session->updates_ -= 1;
    } else if (frame->type != NGHTTP2_DATA || frame->length < kTinyDataBytes) {
      session->Charge();
    }
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session* library, const nghttp2_frame* frame, void* self) {
    H2Session* const session = Self(self);
    session->heading_ = nullptr;
    session->trailer_bytes_ = 0;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    if (session->has_said_goodbye_ || session->streams_.size() >= session->limits_->streams_max) {
      // The client is told that this stream has not begun, and may repeat the request.
      nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
      return 0;
    }
    session->Earn(kTokensOfRequest);
    // Streams take turns. By default the library sends all of an answer before anything of the next.
    const nghttp2_extpri in_turn = {.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    nghttp2_session_change_extpri_stream_priority(library, frame->hd.stream_id, &in_turn, /*ignore_client_signal=*/1);
    auto stream = std::make_unique<H2Stream>(session, frame->hd.stream_id, session->limits_->window_bytes);
    stream->slot_ = session->streams_.size();
    nghttp2_session_set_stream_user_data(library, frame->hd.stream_id, stream.get());
    session->heading_ = stream.get();
    // The client owes the rest of the head.
    stream->is_owed_ = true;
    session->SetDeadline(stream.get(), 0);
    session->streams_.push_back(std::move(stream));
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf* name, nghttp2_rcbuf* value, uint8_t,
                      void* self) {
    H2Session* const session = Self(self);
    session->AddHeader(session->heading_, HeaderText(name), HeaderText(value));
    // The library decodes the rest of the frame otherwise.
    return session->is_broken_ ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
  }

  static int UnpackUnknown(nghttp2_session*, void**, const nghttp2_frame_hd*, void*) { return NGHTTP2_ERR_CANCEL; }

  static int OnFrame(nghttp2_session* library, const nghttp2_frame* frame, void* self) {
    H2Session* const session = Self(self);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA: {
        H2Stream* const stream = Find(library, frame->hd.stream_id);
        if (stream == nullptr) return 0;
        if (frame->hd.type == NGHTTP2_HEADERS && !stream->has_opened_) session->OpenStream(stream);
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 || std::exchange(stream->has_read_all_, true)) return 0;
        session->NoteEnded(stream->id_);
        session->SetDeadline(stream, 0);
        stream->handler_->OnEnd();
        return 0;
      }
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) return 0;
        session->awaits_ping_ = false;
        if (Says(*frame, kProbePing)) session->meter_.End(session->host_->NowNs());
        // An answer to an earlier ping does not say that the client knows of the drain.
        if (session->is_draining_ && Says(*frame, kDrainPing)) session->EndDrain();
        return 0;
      case NGHTTP2_RST_STREAM:
        session->NoteEnded(frame->hd.stream_id);
        // Some clients end streams so that have been answered before the request has ended.
        if (frame->rst_stream.error_code != NGHTTP2_NO_ERROR) session->CountReset();
        return 0;
      default:
        return 0;
    }
  }

  static int OnFrameSent(nghttp2_session* library, const nghttp2_frame* frame, void* self) {
    H2Session* const session = Self(self);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA: {
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
        const H2Stream* const stream = Find(library, frame->hd.stream_id);
        // Answered before the request has arrived: the client need not send the rest.
        if (stream == nullptr || stream->has_read_all_) return 0;
        nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
        session->host_->OnWork();
        return 0;
      }
      case NGHTTP2_RST_STREAM:
        session->OnResetSent(Find(library, frame->hd.stream_id), frame->rst_stream.error_code);
        return 0;
      case NGHTTP2_GOAWAY:
        // The library ends sessions, too.
        if (frame->goaway.error_code == NGHTTP2_NO_ERROR) return 0;
        session->Break(frame->goaway.error_code == NGHTTP2_ENHANCE_YOUR_CALM ? H2Break::kFrames : H2Break::kProtocol);
        return 0;
      default:
        return 0;
    }
  }

  // The library does not take heads and trailers of more than 64 KB.
  static int OnFrameNotSent(nghttp2_session* library, const nghttp2_frame* frame, int, void* self) {
    if (frame->hd.type != NGHTTP2_HEADERS || Find(library, frame->hd.stream_id) == nullptr) return 0;
    nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_INTERNAL_ERROR);
    Self(self)->host_->OnWork();
    return 0;
  }

  static int OnData(nghttp2_session* library, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* self) {
    nghttp2_session_consume_connection(library, size);
    H2Stream* const stream = Find(library, id);
    if (stream == nullptr) {
      nghttp2_session_consume_stream(library, id, size);
    } else {
      Self(self)->TakeData(stream, ViewOf(bytes, size));
    }
    return 0;
  }

  static int OnClose(nghttp2_session* library, int32_t id, uint32_t, void* self) {
    H2Stream* const stream = Find(library, id);
    if (stream == nullptr) return 0;
    nghttp2_session_set_stream_user_data(library, id, nullptr);
    Self(self)->CloseStream(stream);
    return 0;
  }

  static ssize_t ReadAnswer(nghttp2_session*, int32_t, uint8_t*, size_t most, uint32_t* flags,
                            nghttp2_data_source* source, void* self) {
    auto* const stream = static_cast<H2Stream*>(source->ptr);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->unsent_bytes_ > most) return static_cast<ssize_t>(most);
    if (!stream->has_end_) {
      if (stream->unsent_bytes_ > 0) return static_cast<ssize_t>(stream->unsent_bytes_);
      stream->is_deferred_ = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!stream->trailers_.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      Self(self)->SubmitTrailers(stream);
    }
    return static_cast<ssize_t>(stream->unsent_bytes_);
  }

  static int SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size, nghttp2_data_source* source,
                      void* self) {
    H2Session* const session = Self(self);
    if (session->output_->size() >= session->limits_->output_bytes_max) {
      session->is_blocked_ = true;
      return NGHTTP2_ERR_WOULDBLOCK;
    }
    session->updates_ += kUpdatesOfFrame + static_cast<double>(size) / kBytesPerUpdate;
    session->MoveData(static_cast<H2Stream*>(source->ptr), ViewOf(head, kFrameHeadBytes), size);
    return 0;
  }

  static const nghttp2_session_callbacks* Get() {
    static const nghttp2_session_callbacks* const kCallbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_begin_frame_callback(made, OnBeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback2(made, OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
      nghttp2_session_callbacks_set_unpack_extension_callback(made, UnpackUnknown);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, OnFrameSent);
      nghttp2_session_callbacks_set_on_frame_not_send_callback(made, OnFrameNotSent);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, OnClose);
      nghttp2_session_callbacks_set_send_data_callback(made, SendData);
      return made;
    }();
    return kCallbacks;
  }
};

H2Session::H2Session(Host* host, H2Output* output, const H2Limits* limits)
    : host_(host),
      output_(output),
      limits_(limits),
      frames_(limits->frames, host->NowNs()),
      resets_(limits->resets, host->NowNs()),
      meter_(limits->window_bytes, limits->window_bytes_max) {
  nghttp2_option* const options = NewOptions();
  nghttp2_session_server_new2(&session_, Callbacks::Get(), this, options);
  nghttp2_option_del(options);
  SendSettings();
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

// The library ends the connection of a client that exceeds the number of streams once it has acknowledged it, also if
// the streams were on their way before. So the library knows of a larger number than the client is told, and this
// session refuses the streams between the two.
void H2Session::SendSettings() {
  const uint32_t streams_max = limits_->streams_max;
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max * kStreamsPerBreak},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_->window_bytes},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits_->head_bytes_max},
                                             {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  const uint8_t* bytes = nullptr;
  const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
  std::string frame(ViewOf(bytes, static_cast<size_t>(std::max<ssize_t>(size, 0))));
  // The value of the first entry, behind its two bytes of name.
  constexpr size_t kValue = kFrameHeadBytes + 2;
  if (frame.size() < kValue + sizeof(streams_max)) return Break(H2Break::kProtocol);
  for (size_t i = 0; i < sizeof(streams_max); ++i) frame[kValue + i] = static_cast<char>(streams_max >> (24 - 8 * i));
  output_->Copy(frame);
}

H2Session::~H2Session() {
  CloseAll();
  nghttp2_session_del(session_);
}

// ---- Receiving

bool H2Session::Receive(std::string_view bytes) {
  if (is_broken_ || is_closed_) return false;
  unseen_bytes_ += static_cast<int64_t>(bytes.size());
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  host_->OnWork();
  if (used < 0) {
    Break(used == NGHTTP2_ERR_FLOODED                  ? H2Break::kFrames
          : used == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS ? H2Break::kHeads
                                                       : H2Break::kProtocol);
  } else if (unseen_bytes_ > kUnseenBytesMax) {
    Break(H2Break::kFrames);
  }
  return !is_broken_ && nghttp2_session_want_read(session_) != 0;
}

// Frames use up tokens, which come back with time, requests and answers. The clock is read only if there are none left.
void H2Session::Charge() {
  if (frames_.TakeFilled(1) || is_broken_ || frames_.Take(limits_->frames, host_->NowNs())) return;
  Break(H2Break::kFrames);
}

void H2Session::Earn(double tokens) { frames_.Return(limits_->frames, tokens); }

void H2Session::CountReset() {
  if (!resets_.Take(limits_->resets, host_->NowNs())) Break(H2Break::kFrames);
}

// `stream`: null if the library has refused it.
void H2Session::OnResetSent(const H2Stream* stream, uint32_t error) {
  // A client can make the library break streams off, by errors, as well as do so itself.
  if (error != NGHTTP2_NO_ERROR && (stream == nullptr || !stream->is_reset_)) CountReset();
  // The library shows the data of ended streams to nobody. A window may be on its way, and as much in frames' heads.
  if (stream == nullptr) {
    unseen_bytes_ -= 2 * int64_t{limits_->window_bytes};
  } else if (!stream->has_read_all_) {
    unseen_bytes_ -= 2 * static_cast<int64_t>(stream->window_);
  }
  unseen_bytes_ = std::max(unseen_bytes_, -kUnseenCreditMax);
}

// Frames that the library ignores, since it keeps neither ended streams nor the priorities of RFC 7540. The data of
// ended streams it shows to nobody.
void H2Session::CheckFrame(uint8_t type, int32_t id) {
  if (type == NGHTTP2_PRIORITY && id == 0) return Break(H2Break::kProtocol);
  if (type != NGHTTP2_HEADERS || id == 0 || id > ended_max_ ||
      std::find(ended_.begin(), ended_.end(), id) == ended_.end()) {
    return;
  }
  Break(H2Break::kProtocol, NGHTTP2_STREAM_CLOSED);
}

void H2Session::NoteEnded(int32_t id) {
  ended_[ended_next_++ % ended_.size()] = id;
  ended_max_ = std::max(ended_max_, id);
}

void H2Session::Break(H2Break why) {
  Break(why, why == H2Break::kProtocol ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_ENHANCE_YOUR_CALM);
}

void H2Session::Break(H2Break why, uint32_t error) {
  if (std::exchange(is_broken_, true)) return;
  host_->OnBroken(why);
  // Says nothing if the library has.
  nghttp2_session_terminate_session(session_, error);
}

void H2Session::AddHeader(H2Stream* stream, const HeaderText& name, const HeaderText& value) {
  constexpr size_t kOverhead = 32;
  size_t& bytes = stream == nullptr ? trailer_bytes_ : stream->request_.bytes;
  bytes += name.view().size() + value.view().size() + kOverhead;
  if (bytes > limits_->head_bytes_max * kHeadsPerBreak) return Break(H2Break::kHeads);
  if (stream == nullptr) return;
  H2Request& request = stream->request_;
  request.is_too_large = request.bytes > limits_->head_bytes_max;
  const std::string_view text = name.view();
  // The refusal must be in the client's language.
  if (request.is_too_large && text != "content-type") return;
  if (!text.starts_with(':')) {
    request.headers.push_back({name, value});
  } else if (text == ":path") {
    request.path = value;
  } else if (text == ":method") {
    request.method = value;
  } else if (text == ":authority") {
    request.authority = value;
  }
}

void H2Session::OpenStream(H2Stream* stream) {
  stream->has_opened_ = true;
  stream->is_owed_ = false;
  stream->deadline_ns_ = 0;
  heading_ = nullptr;
  stream->head_bytes_ = stream->request_.bytes;
  head_bytes_ += stream->head_bytes_;
  stream->handler_ = host_->OnRequest(stream, std::move(stream->request_));
}

void H2Session::TakeData(H2Stream* stream, std::string_view bytes) {
  stream->received_ += bytes.size();
  stream->unconsumed_ += bytes.size();
  unconsumed_bytes_ += bytes.size();
  if (stream->has_end_) return stream->Consume(stream->unconsumed_);  // nobody reads it
  SetDeadline(stream, bytes.size());
  Probe(stream, bytes.size());
  stream->handler_->OnData(bytes);
}

// ---- Windows

// A stream whose client sends more than a window is held up by the round trip, perhaps.
void H2Session::Probe(H2Stream* stream, size_t bytes) {
  meter_.Count(stream->id_, bytes);
  if (!stream->is_long_ || stream->received_ < limits_->window_bytes) return;
  const size_t window = meter_.window();
  if (window > stream->window_ && host_->MayWiden(window - stream->window_)) {
    widened_bytes_ += window - stream->window_;
    stream->widened_ += window - stream->window_;
    stream->SetWindow(window);
  }
  if (!meter_.Begin(stream->id_, [this] { return host_->NowNs(); })) return;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kProbePing);
}

// ---- Sending

bool H2Session::Pull() {
  is_blocked_ = false;
  if (is_closed_) return false;
  while (output_->size() < limits_->output_bytes_max) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) return false;
    if (size == 0) return true;
    output_->Copy(ViewOf(bytes, static_cast<size_t>(size)));
  }
  is_blocked_ = true;
  return true;
}

bool H2Session::is_over() const {
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) return true;
  return has_said_goodbye_ && streams_.empty() && nghttp2_session_want_write(session_) == 0;
}

void H2Session::MoveData(H2Stream* stream, std::string_view frame_head, size_t bytes) {
  output_->Copy(frame_head);
  stream->unsent_bytes_ -= bytes;
  SetDeadline(stream, bytes);
  while (bytes > 0) {
    const std::shared_ptr<OutMessage> message = stream->unsent_.front();
    const std::string_view head =
        std::string_view(message->head).substr(std::min(stream->offset_, message->head.size()));
    const std::string_view from_head = head.substr(0, bytes);
    if (!from_head.empty()) output_->Copy(from_head);
    bytes -= from_head.size();
    stream->offset_ += from_head.size();
    if (stream->offset_ >= message->head.size()) {
      const std::string_view rest = std::string_view(message->bytes).substr(stream->offset_ - message->head.size());
      const std::string_view part = rest.substr(0, bytes);
      if (!part.empty()) output_->Refer(message, part);
      bytes -= part.size();
      stream->offset_ += part.size();
    }
    if (stream->offset_ < message->size()) return;
    stream->offset_ = 0;
    uncounted_bytes_ -= message->uncounted_bytes();
    stream->unsent_.pop_front();
    stream->unsent_since_ns_ = stream->unsent_.empty() ? 0 : stream->unsent_.front()->since_ns;
    Earn(kTokensOfMessage);
    stream->handler_->OnSent(message->weight);
  }
}

void H2Session::SubmitHead(H2Stream* stream, std::span<const HeaderField> fields, bool is_last) {
  std::vector<nghttp2_nv> head;
  head.reserve(fields.size());
  for (const HeaderField& field : fields) head.push_back(ToNv(field));
  const nghttp2_data_provider body = {.source = {.ptr = stream}, .read_callback = Callbacks::ReadAnswer};
  nghttp2_submit_response(session_, stream->id_, head.data(), head.size(), is_last ? nullptr : &body);
}

void H2Session::SubmitContinue(H2Stream* stream) {
  const nghttp2_nv head[] = {ToNv({":status", "100", true})};
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream->id_, nullptr, head, std::size(head), nullptr);
}

void H2Session::SubmitTrailers(H2Stream* stream) {
  std::vector<nghttp2_nv> made;
  made.reserve(stream->trailers_.size());
  for (const auto& [name, value] : stream->trailers_) made.push_back(ToNv({name, value}));
  nghttp2_submit_trailer(session_, stream->id_, made.data(), made.size());
}

// ---- Ending

void H2Session::BeginDrain() {
  if (std::exchange(is_draining_, true)) return;
  // The client learns of it before the last stream is named: requests on their way are served.
  // The library sends the ping first. A request that a client begins between the two may be refused unprocessed.
  nghttp2_submit_shutdown_notice(session_);
  Ask(kDrainPing);
}

void H2Session::EndDrain() {
  if (std::exchange(has_said_goodbye_, true)) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
  host_->OnWork();
}

void H2Session::Ping() { Ask(kLifePing); }

void H2Session::Ask(const uint8_t (&text)[8]) {
  awaits_ping_ = true;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, text);
  host_->OnWork();
}

// `transferred`: bytes that have arrived or left.
void H2Session::SetDeadline(H2Stream* stream, size_t transferred) {
  const bool owes = stream->is_owed_ && !stream->has_read_all_;
  const bool lags = stream->unsent_bytes_ > 0;
  if (!lags) stream->unsent_since_ns_ = 0;
  const bool has_time = !owes && (!lags || stream->is_patient_);
  stream->deadline_ns_ = has_time ? 0 : limits_->pace.Deadline(stream->deadline_ns_, transferred, host_->NowNs());
}

int64_t H2Session::Sweep(int64_t now_ns) {
  int64_t oldest_ns = 0;
  for (const std::unique_ptr<H2Stream>& stream : streams_) {
    if (stream->unsent_since_ns_ > 0 && (oldest_ns == 0 || stream->unsent_since_ns_ < oldest_ns)) {
      oldest_ns = stream->unsent_since_ns_;
    }
    if (stream->deadline_ns_ == 0 || now_ns < stream->deadline_ns_) continue;
    stream->deadline_ns_ = 0;
    host_->OnBroken(H2Break::kStalled);
    // gRPC's protocol breaks off only what cannot be ended by an answer.
    const bool owes_request = stream->has_opened_ && stream->unsent_bytes_ == 0 && !stream->has_end_;
    if (owes_request) stream->handler_->OnStalled();
    if (!owes_request || !stream->has_end_) stream->Reset(NGHTTP2_CANCEL);
  }
  return oldest_ns;
}

void H2Session::Shed() {
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i]->unconsumed_ > 0 && !streams_[i]->has_end_) streams_[i]->handler_->OnShed();
  }
}

void H2Session::CloseStream(H2Stream* stream) {
  if (heading_ == stream) heading_ = nullptr;
  const size_t slot = stream->slot_;
  const std::unique_ptr<H2Stream> closed = std::move(streams_[slot]);
  if (slot + 1 < streams_.size()) {
    streams_[slot] = std::move(streams_.back());
    streams_[slot]->slot_ = slot;
  }
  streams_.pop_back();
  // A client with many requests may give up many.
  if (closed->has_end_ && closed->has_read_all_) {
    resets_.Return(limits_->resets, kResetsOfRequest);
  }
  unconsumed_bytes_ -= std::exchange(closed->unconsumed_, 0);
  head_bytes_ -= closed->head_bytes_;
  for (const std::shared_ptr<OutMessage>& message : closed->unsent_) {
    uncounted_bytes_ -= message->uncounted_bytes();
  }
  widened_bytes_ -= closed->widened_;
  if (closed->handler_ != nullptr) closed->handler_->OnClosed();
}

void H2Session::CloseAll() {
  is_closed_ = true;
  while (!streams_.empty()) {
    H2Stream* const stream = streams_.back().get();
    nghttp2_session_set_stream_user_data(session_, stream->id_, nullptr);
    CloseStream(stream);
  }
}

}  // namespace armature::daemon

#include "daemon/http/http_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "daemon/http/h2_connection.h"
#include "daemon/http/http_message.h"
#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"

namespace armature::daemon {
namespace {

// Limits of one connection's turn: bytes written, and reads.
constexpr size_t kOutputBytesPerWrite = 64 << 10;
constexpr int kReadsPerTurn = 4;
// Larger bodies are sent from where they are; smaller ones are copied behind their heads, so that many answers need one
// call.
constexpr size_t kCopiedBodyMax = 16 << 10;

// Memory that OpenSSL holds for a connection while its handshake lasts: buffers of records and of a message.
constexpr size_t kHandshakeBytes = 64 << 10;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Assigning an empty string would keep the capacity.
void Free(std::string* text) { std::string().swap(*text); }

// The connection whose handler runs on this thread, or null.
thread_local const HttpConnection* handled = nullptr;

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<IoLoop> loop, AcceptedSocket accepted,
                               std::unique_ptr<Transport> transport)
    : SocketConnection(std::move(loop), accepted, std::move(transport), End::kClientCloses),
      peer_(std::move(accepted.peer)),
      client_(ClientOf(network())),
      reader_(&loop_->state().options.limits),
      share_({loop_->state().budget, client_}) {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::Start() {
  if (!has_socket()) return Close();
  SetDeadline(Wait::kHead, loop_->state().options.head_timeout);
  Handshake();
}

void HttpConnection::Release() {
  reader_.Next();
  Free(&unread_);
  Free(&unsent_);
  Free(&unsent_body_);
  body_memory_ = {};
  early_answer_.reset();
  share_.Set(0);
}

// ---- Waiting

void HttpConnection::OnReady(bool /*is_writable*/) {
  if (is_handshaking_) return Handshake();
  if (has_unsent()) {
    if (Flush()) Resume();
  } else if (!handling_ && !is_paused_) {
    if (wait_ != Wait::kIdle || !loop_->MustWait(shared_from_this())) ReadSome();
  }
}

void HttpConnection::TakeTurn(bool is_late) {
  if (!is_reading()) return;
  is_late_ = is_late;
  ReadSome();
  // Nothing was there to read: the next request is a fresh one.
  if (is_reading() && wait_ == Wait::kIdle) is_late_ = false;
}

// Goes on with requests that have been read, after others.
void HttpConnection::OnFlush() {
  is_paused_ = false;
  if (is_reading()) Turn({});
}

void HttpConnection::SetDeadline(Wait wait, absl::Duration timeout) {
  wait_ = wait;
  deadline_ns_ = CoarseNowNs() + absl::ToInt64Nanoseconds(timeout);
}

// Extends the deadline by the time that `bytes` may take at the minimum rate.
void HttpConnection::Credit(size_t bytes) {
  deadline_ns_ = loop_->state().h2_limits.pace.Deadline(deadline_ns_, bytes, CoarseNowNs());
}

void HttpConnection::Sweep(int64_t now_ns) {
  if (is_lingering()) return SweepLinger(now_ns);
  if (wait_ == Wait::kWriting && (share_.is_counted() || body_memory_.is_counted()) &&
      now_ns - writing_since_ns_ >= absl::ToInt64Nanoseconds(options().unread_grace) &&
      loop_->state().budget->IsTight(client_)) {
    return Reset();
  }
  if (now_ns < deadline_ns_) return;
  switch (wait_) {
    case Wait::kHead:
    case Wait::kBody:
      if (is_handshaking_) return Close();
      return RefuseAndEnd(408);
    case Wait::kIdle:
      return Close();
    case Wait::kWriting:
      return Reset();
    case Wait::kHandler:
      return;
  }
}

// ---- Reading

bool HttpConnection::IsWrongDoor(std::string_view bytes) {
  if (knows_speech_ || bytes.empty()) return false;
  const std::optional<Speech> speech = SpeechOf(bytes);
  if (!speech.has_value()) {
    // The reader of requests would refuse the first line of HTTP/2.
    unread_ = std::string(bytes);
    if (wait_ != Wait::kHead) SetDeadline(Wait::kHead, options().head_timeout);
    WaitFor(Transport::Result::kWaitReadable);
    return true;
  }
  knows_speech_ = true;
  if (speech == Speech::kHttp2 && door_->closes_http2) {
    Close();
    return true;
  }
  if (speech == Speech::kHttp2) {
    BecomeH2(bytes, is_plain_at_tls_ ? door_->wrong_door(*speech) : "");
    return true;
  }
  // The reader of requests refuses what is no HTTP at all.
  if (speech != Speech::kTls && !is_plain_at_tls_) return false;
  RefuseSpeech(*speech, bytes);
  return true;
}

bool HttpConnection::MayBeginTls() {
  if (!door_->tls || is_tls_) return true;
  char first = 0;
  ssize_t peeked = 0;
  do {
    peeked = recv(socket(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  } while (peeked < 0 && errno == EINTR);
  if (peeked <= 0) {
    if (peeked < 0 && errno == EAGAIN) {
      WaitFor(Transport::Result::kWaitReadable);
    } else {
      Close();
    }
    return false;
  }
  // Methods of HTTP are in upper case, no record of TLS begins so. The handshake has an alert for all else.
  if (!absl::ascii_isupper(static_cast<uint8_t>(first))) {
    is_tls_ = true;
    return MayHandshake();
  }
  transport_ = MakePlainTransport(socket());
  is_plain_at_tls_ = true;
  is_handshaking_ = false;
  ReadSome();
  return false;
}

bool HttpConnection::MayHandshake() {
  if (share_.TrySet(kHandshakeBytes)) return true;
  // No alert: a client would take it for the lasting refusal of its certificate.
  Close();
  return false;
}

void HttpConnection::BecomeH2(std::string_view first, std::string refusal) {
  const std::shared_ptr<SocketConnection> self = shared_from_this();
  share_.Set(0);
  auto next = std::make_shared<H2Connection>(
      loop_, AcceptedSocket{.socket = HandOver(), .peer = peer_, .network = network(), .door = door_},
      std::move(transport_), std::move(refusal));
  loop_->Replace(this, next);
  next->Start(first);
}

void HttpConnection::RefuseSpeech(Speech speech, std::string_view bytes) {
  knows_speech_ = true;
  Free(&unread_);
  const std::string hint = door_->wrong_door(speech);
  LOG_IF_EVERY_N(WARNING, speech == Speech::kTls, kLogWrongDoorEvery)
      << "http: client with TLS at a port without it peer=" << peer_ << ": " << hint;
  loop_->output().append(RefusalOf(speech, bytes, hint));
  closing_ = true;
  if (Flush()) Linger();
}

void HttpConnection::Handshake() {
  if (!MayBeginTls()) return;
  const Transport::Result result = transport_->Handshake();
  switch (result) {
    case Transport::Result::kDone:
      is_handshaking_ = false;
      share_.Set(0);
      SetDeadline(Wait::kIdle, options().idle_timeout);
      return WaitFor(Transport::Result::kWaitReadable);
    case Transport::Result::kWaitReadable:
    case Transport::Result::kWaitWritable:
      return WaitFor(result);
    case Transport::Result::kEnded:
      return Close();
    case Transport::Result::kFailed:
      // The client must receive the alert that says why.
      return Linger();
  }
}

void HttpConnection::ReadSome() {
  auto& input = loop_->input();
  static_assert(sizeof(loop_->input()) >= Transport::kReadBytesMin);
  for (int i = 0; i < kReadsPerTurn; ++i) {
    size_t bytes = 0;
    const Transport::Result result = transport_->Read(input.data(), input.size(), &bytes);
    switch (result) {
      case Transport::Result::kDone:
        received_ = bytes;
        Turn({input.data(), bytes});
        if (!is_reading() || bytes < input.size()) return;
        break;
      case Transport::Result::kWaitReadable:
      case Transport::Result::kWaitWritable:
        if (loop_->draining() && wait_ == Wait::kIdle) return Linger();
        return WaitFor(result);
      case Transport::Result::kEnded:
        return wait_ == Wait::kIdle ? Close() : RefuseAndEnd(400);
      case Transport::Result::kFailed:
        return Close();
    }
  }
}

void HttpConnection::Turn(std::string_view bytes) {
  std::string held = std::exchange(unread_, {});
  if (!held.empty()) {
    held.append(bytes);
    bytes = held;
  }
  if (IsWrongDoor(bytes)) return;
  Stop stop = Stop::kOutputFull;
  bool flushed = true;
  while (stop == Stop::kOutputFull && flushed) {
    stop = TakeRequests(&bytes);
    flushed = Flush();
  }
  if (is_closed()) return;
  if (!bytes.empty() && bytes.size() > held.size() / 2 && !held.empty()) {
    held.erase(0, held.size() - bytes.size());
    unread_ = std::move(held);
  } else {
    unread_ = std::string(bytes);
  }
  if (flushed) AfterTurn(stop);
  CountHeld();
}

void HttpConnection::CountHeld() {
  share_.Set(reader_.held_bytes() + handled_bytes_ + unread_.capacity() + unsent_.capacity());
}

void HttpConnection::CountAnswer(HttpResponse* response) const {
  HeldMemory& memory = response->memory;
  if (memory.source().lender == nullptr) memory = HeldMemory({loop_->state().budget, client_});
  const size_t bytes = response->body.capacity();
  if (!response->may_refuse) {
    memory.Set(bytes);
  } else if (!memory.TrySet(bytes)) {
    *response = RefusalForMemory(&loop_->state());
  }
}

HttpConnection::Stop HttpConnection::TakeRequests(std::string_view* bytes) {
  while (!closing_) {
    if (!unsent_body_.empty() || loop_->output().size() >= kOutputBytesPerWrite) return Stop::kOutputFull;
    size_t consumed = 0;
    const RequestReader::State state = reader_.Read(*bytes, &consumed);
    bytes->remove_prefix(consumed);
    if (state == RequestReader::State::kNeedsMore) {
      OfferToContinue(*bytes);
      return Stop::kNeedsMore;
    }
    if (state == RequestReader::State::kRefused) {
      Refuse(reader_.refused_with());
      break;
    }
    more_was_read_ = !bytes->empty();
    HandleRequest();
    if (handling_) return Stop::kHandling;
    // Requests that were sent ahead: one read may bring thousands.
    if (!closing_ && !bytes->empty() && !loop_->MayHandleMore()) return Stop::kTurnIsOver;
  }
  *bytes = {};
  return Stop::kClosing;
}

void HttpConnection::OfferToContinue(std::string_view rest) {
  if (sent_continue_ || !rest.empty() || !reader_.wants_continue()) return;
  sent_continue_ = true;
  loop_->output().append(kContinue);
}

void HttpConnection::AfterTurn(Stop stop) {
  switch (stop) {
    case Stop::kClosing:
      return Linger();
    case Stop::kHandling:
      wait_ = Wait::kHandler;
      deadline_ns_ = kNever;
      return;
    case Stop::kTurnIsOver:
      is_paused_ = true;
      wait_ = Wait::kHandler;
      deadline_ns_ = kNever;
      return loop_->FlushLater(shared_from_this());
    case Stop::kNeedsMore:
    case Stop::kOutputFull:
      break;
  }
  // Empty lines before a request are no part of it.
  const bool idle = !reader_.started() && (unread_.empty() || unread_ == "\r");
  if (idle && loop_->draining()) return Linger();
  const Wait wait = idle ? Wait::kIdle : reader_.head_done() ? Wait::kBody : Wait::kHead;
  if (wait == Wait::kIdle) {
    // A client that sends empty lines stays idle.
    if (wait_ != Wait::kIdle || took_request_) SetDeadline(wait, options().idle_timeout);
  } else if (wait != wait_ || took_request_) {
    SetDeadline(wait, wait == Wait::kBody ? options().stall_timeout : options().head_timeout);
  } else if (wait == Wait::kBody) {
    Credit(received_);
  }
  took_request_ = false;
  received_ = 0;
  CountHeld();
  if (share_.is_counted() && !loop_->state().budget->HasRoomFor(client_, 0)) return RefuseAndEnd(503);
  WaitFor(Transport::Result::kWaitReadable);
}

// ---- Handling

void HttpConnection::HandleRequest() {
  took_request_ = true;
  sent_continue_ = false;
  keep_alive_ = reader_.keep_alive();
  is_http_1_0_ = reader_.is_http_1_0();
  HttpRequest request = std::move(reader_.request());
  reader_.Next();
  is_head_ = request.method == "HEAD";
  const MemoryBudget& budget = *loop_->state().budget;
  const size_t bytes = request.body.capacity();
  const size_t uncounted_bytes = bytes - std::min(bytes, share_.counted());
  const bool has_room = HeldMemory::Counts(bytes) ? budget.HasRoomFor(client_, uncounted_bytes) : !budget.IsFull();
  if (!has_room) return Write(RefusalForMemory(&loop_->state()));
  request.peer = peer_;
  request.client = client_;
  request.is_late = std::exchange(is_late_, false);
  if (request.is_late) loop_->state().late_requests.fetch_add(1, std::memory_order_relaxed);
  handled_bytes_ = request.body.capacity();
  CountHeld();
  handling_ = true;
  handled = this;
  auto self = std::static_pointer_cast<HttpConnection>(shared_from_this());
  loop_->state().handler->Handle(std::move(request), [self = std::move(self)](HttpResponse response) mutable {
    if (handled == self.get()) {
      self->inline_answer_ = std::move(response);
      return;
    }
    // Counted here, not later on the connection's thread: operations may be faster than it.
    self->CountAnswer(&response);
    self->posted_answer_ = std::move(response);
    const std::shared_ptr<IoLoop> loop = self->loop_;
    loop->Post(std::move(self));
  });
  handled = nullptr;
  if (!inline_answer_.has_value()) return;
  HttpResponse response = std::move(*inline_answer_);
  inline_answer_.reset();
  handling_ = false;
  handled_bytes_ = 0;
  Write(std::move(response));
}

void HttpConnection::OnPosted() { OnAnswer(std::move(posted_answer_)); }

void HttpConnection::OnAnswer(HttpResponse response) {
  if (is_closed()) return;
  handled_bytes_ = 0;
  if (has_unsent()) {
    early_answer_ = std::move(response);
    return CountHeld();
  }
  handling_ = false;
  Write(std::move(response));
  Turn({});
}

HttpResponse HttpConnection::RefusalForMemory(ServerState* state) {
  HttpResponse refusal = state->handler->Refuse(503);
  refusal.close = false;
  return refusal;
}

// Continues after the unsent output has been written.
void HttpConnection::Resume() {
  if (early_answer_.has_value()) {
    HttpResponse response = std::move(*early_answer_);
    early_answer_.reset();
    return OnAnswer(std::move(response));
  }
  if (handling_) return AfterTurn(Stop::kHandling);
  Turn({});
}

void HttpConnection::Refuse(unsigned status) {
  reader_.Next();
  keep_alive_ = false;
  is_head_ = false;
  Write(loop_->state().handler->Refuse(status));
}

void HttpConnection::RefuseAndEnd(unsigned status) {
  Free(&unread_);
  Refuse(status);
  // Counted before the client sees the answer: its next request may need the memory.
  CountHeld();
  if (Flush()) Linger();
  CountHeld();
}

// ---- Writing

void HttpConnection::Write(HttpResponse response) {
  CountAnswer(&response);
  closing_ = response.close || !keep_alive_ || (loop_->draining() && !more_was_read_);
  const ConnectionHeader header = closing_       ? ConnectionHeader::kClose
                                  : is_http_1_0_ ? ConnectionHeader::kKeepAlive
                                                 : ConnectionHeader::kNone;
  std::string& output = loop_->output();
  AppendHead(response, loop_->Date(), header, &output);
  if (is_head_) return;
  if (response.body.size() <= kCopiedBodyMax) {
    output.append(response.body);
  } else {
    unsent_body_ = std::move(response.body);
    unsent_body_begin_ = 0;
    body_memory_ = std::move(response.memory);
  }
}

// True if everything has been written. If not, writing continues later, or the connection is closed.
bool HttpConnection::Flush() {
  const bool anew = unsent_.empty();
  std::string_view head = anew ? loop_->output() : std::string_view(unsent_).substr(unsent_begin_);
  std::string_view body = std::string_view(unsent_body_).substr(unsent_body_begin_);
  Transport::Result result = Transport::Result::kDone;
  size_t sent = 0;
  while (result == Transport::Result::kDone && !(head.empty() && body.empty())) {
    size_t bytes = 0;
    const std::array<std::string_view, 2> pieces = {head.empty() ? body : head, body};
    result = transport_->Write({pieces.data(), head.empty() || body.empty() ? size_t{1} : size_t{2}}, &bytes);
    sent += bytes;
    const size_t of_head = std::min(bytes, head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(bytes - of_head);
  }
  if (result == Transport::Result::kFailed || result == Transport::Result::kEnded) {
    loop_->output().clear();
    Close();
    return false;
  }
  if (result == Transport::Result::kDone) {
    loop_->output().clear();
    Free(&unsent_);
    unsent_begin_ = 0;
    Free(&unsent_body_);
    unsent_body_begin_ = 0;
    body_memory_ = {};
    return true;
  }
  KeepUnsent(head, body, sent);
  WaitFor(result);
  return false;
}

void HttpConnection::KeepUnsent(std::string_view head, std::string_view body, size_t sent) {
  if (unsent_.empty()) {
    unsent_ = std::string(head);
    loop_->output().clear();
  }
  unsent_begin_ = unsent_.size() - head.size();
  unsent_body_begin_ = unsent_body_.size() - body.size();
  if (wait_ == Wait::kWriting) {
    Credit(sent);
  } else {
    SetDeadline(Wait::kWriting, options().stall_timeout);
    writing_since_ns_ = CoarseNowNs();
  }
  CountHeld();
}

// ---- Ending

void HttpConnection::Drain() {
  if (is_handshaking_) return Close();
  if (is_lingering()) return Discard();
  // A request may have arrived that has not been read yet.
  if (is_reading()) ReadSome();
}

}  // namespace armature::daemon

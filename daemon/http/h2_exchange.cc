#include "daemon/http/h2_exchange.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "daemon/http/server_state.h"
#include "daemon/net/percent_encoding.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kRpcType = "application/grpc";

// Takes no part in the request: it was answered at once.
class Answered final : public StreamHandler {
 public:
  explicit Answered(H2Stream* stream) : stream_(stream) {}
  void OnData(std::string_view bytes) override { stream_->Consume(bytes.size()); }
  void OnEnd() override {}
  void OnShed() override {}
  void OnClosed() override {}

 private:
  H2Stream* const stream_;
};

// Headers that say something about a connection of HTTP/1.1 only.
bool IsOfConnection(std::string_view lower_name) {
  return lower_name == "connection" || lower_name == "keep-alive" || lower_name == "transfer-encoding";
}

}  // namespace

bool H2Exchange::IsGrpc(const H2Request& request) { return request.Find("content-type").starts_with(kRpcType); }

std::shared_ptr<StreamHandler> H2Exchange::Refuse(H2Stream* stream, const H2Request& request, std::string_view hint) {
  if (IsGrpc(request)) {
    const std::string text = PercentEncoded(hint);
    const HeaderField head[] = {{":status", "200", true},
                                {"content-type", kRpcType, true},
                                {"grpc-status", "12", true},
                                {"grpc-message", text}};
    stream->SendHead(head, /*is_last=*/true);
    return std::make_shared<Answered>(stream);
  }
  const std::string size = Cat(hint.size() + 1);
  const HeaderField head[] = {{":status", "400", true}, {"content-type", "text/plain", true}, {"content-length", size}};
  stream->SendHead(head, /*is_last=*/false);
  stream->Send({.head = {}, .bytes = Cat(hint, "\n")});
  stream->SendEnd({});
  return std::make_shared<Answered>(stream);
}

std::shared_ptr<StreamHandler> H2Exchange::Open(H2Stream* stream, const H2Request& request,
                                                const std::shared_ptr<const H2Peer>& peer,
                                                const std::shared_ptr<IoLoop>& loop) {
  auto made = std::make_shared<H2Exchange>(stream, peer, loop);
  HttpRequest& own = made->request_;
  own.method = request.method.view();
  made->is_head_ = own.method == "HEAD";
  own.target = request.path.view();
  own.peer = peer->text;
  own.client = peer->memory.client;
  if (!request.authority.view().empty()) own.headers.push_back({"host", std::string(request.authority.view())});
  for (const H2Request::Header& header : request.headers) {
    const absl::string_view value = absl::StripAsciiWhitespace(Av(header.value.view()));
    own.headers.push_back({std::string(header.name.view()), std::string(value)});
  }
  stream->SetOwed(true);
  if (const std::string* const expected = own.Find("expect"); expected != nullptr) {
    if (!absl::EqualsIgnoreCase(*expected, "100-continue")) return made->RefuseWith(417), made;
    stream->SendContinue();
  }
  made->ExpectBody(own.Find("content-length"));
  if (request.is_too_large) {
    made->RefuseWith(400);
  } else if (peer->is_full || peer->running.load(std::memory_order_relaxed) > H2Peer::kRunningMax) {
    made->RefuseWith(503);
  }
  return made;
}

H2Exchange::H2Exchange(H2Stream* stream, const std::shared_ptr<const H2Peer>& peer, std::shared_ptr<IoLoop> loop)
    : stream_(stream), peer_(peer), loop_(std::move(loop)), body_memory_(peer->memory) {
  peer_->running.fetch_add(1, std::memory_order_relaxed);
}

H2Exchange::~H2Exchange() { peer_->running.fetch_sub(1, std::memory_order_relaxed); }

// A body whose size is known comes without waiting for round trips, if there is memory for it.
void H2Exchange::ExpectBody(const std::string* length) {
  size_t bytes = 0;
  if (length == nullptr || !absl::SimpleAtoi(*length, &bytes)) return;
  if (bytes > loop_->state().options.limits.body_bytes_max) return RefuseWith(413);
  if (!body_memory_.TrySet(bytes)) return;
  request_.body.reserve(bytes);
  stream_->SetWindow(bytes);
}

void H2Exchange::OnData(std::string_view bytes) {
  const RequestLimits& limits = loop_->state().options.limits;
  if (is_answered_) return stream_->Consume(bytes.size());
  std::string& body = request_.body;
  if (body.size() + bytes.size() > limits.body_bytes_max) return RefuseWith(413);
  if (body.size() + bytes.size() > body.capacity()) {
    const size_t wanted = std::min(limits.body_bytes_max, std::max(2 * body.capacity(), body.size() + bytes.size()));
    if (!body_memory_.TrySet(wanted)) return RefuseWith(503);
    body.reserve(wanted);
  }
  body.append(bytes);
  stream_->Consume(bytes.size());
}

void H2Exchange::OnEnd() {
  if (is_answered_) return;
  Handle(peer_->is_late);
}

void H2Exchange::OnShed() { RefuseWith(503); }

void H2Exchange::OnStalled() { RefuseWith(408); }

void H2Exchange::Handle(bool is_late) {
  if (stream_ == nullptr || is_answered_) return;
  request_.is_late = is_late;
  if (is_late) loop_->state().late_requests.fetch_add(1, std::memory_order_relaxed);
  loop_->state().handler->Handle(std::move(request_), [self = shared_from_this()](HttpResponse response) mutable {
    if (self->loop_->IsOwnThread()) return self->Answer(std::move(response));
    self->answer_ = std::move(response);
    const std::shared_ptr<IoLoop> loop = self->loop_;
    loop->Post(std::move(self));
  });
}

void H2Exchange::OnPosted() { Answer(std::move(answer_)); }

void H2Exchange::RefuseWith(unsigned status) { Answer(loop_->state().handler->Refuse(status)); }

void H2Exchange::Answer(HttpResponse response) {
  if (stream_ == nullptr || std::exchange(is_answered_, true)) return;
  HeldMemory& memory = response.memory;
  if (memory.source().lender == nullptr) memory = HeldMemory(body_memory_.source());
  if (!response.may_refuse) {
    memory.Set(response.body.capacity());
  } else if (!memory.TrySet(response.body.capacity())) {
    response = loop_->state().handler->Refuse(503);
  }
  const std::string status = Cat(response.status);
  const std::string size = Cat(response.body.size());
  std::vector<std::string> names;
  names.reserve(response.headers.size());
  std::vector<HeaderField> head = {{":status", status}, {"date", loop_->Date()}};
  if (response.status != 304) head.push_back({"content-length", size});
  for (const auto& [name, value] : response.headers) {
    names.push_back(absl::AsciiStrToLower(Av(name)));
    if (!IsOfConnection(names.back())) head.push_back({names.back(), value});
  }
  const bool has_body = !response.body.empty() && !is_head_;
  stream_->SendHead(head, !has_body);
  if (!has_body) return;
  stream_->Send({.head = {}, .bytes = std::move(response.body), .memory = std::move(memory)});
  stream_->SendEnd({});
}

}  // namespace armature::daemon

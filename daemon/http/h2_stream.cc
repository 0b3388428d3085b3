#include "daemon/http/h2_stream.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "daemon/http/h2_session.h"

namespace armature::daemon {
namespace {

// No window is wider.
constexpr size_t kStreamWindowMax = 1 << 30;

}  // namespace

void H2Stream::SendHead(std::span<const HeaderField> fields, bool is_last) {
  has_head_ = true;
  has_end_ = is_last;
  if (is_last) Consume(unconsumed_);
  session_->SubmitHead(this, fields, is_last);
  session_->host_->OnWork();
}

void H2Stream::Send(OutMessage message) {
  message.since_ns = session_->host_->NowNs();
  if (unsent_since_ns_ == 0) unsent_since_ns_ = message.since_ns;
  unsent_bytes_ += message.size();
  session_->uncounted_bytes_ += message.uncounted_bytes();
  unsent_.push_back(std::make_shared<OutMessage>(std::move(message)));
  session_->SetDeadline(this, 0);
  if (std::exchange(is_deferred_, false)) nghttp2_session_resume_data(session_->session_, id_);
  session_->host_->OnWork();
}

void H2Stream::SendEnd(std::span<const HeaderField> trailers) {
  has_end_ = true;
  for (const HeaderField& field : trailers) trailers_.emplace_back(field.name, field.value);
  Consume(unconsumed_);
  // Trailers need no window. The library would let them wait for one, as the end of the data.
  if (unsent_bytes_ == 0 && unsent_.empty() && !trailers_.empty()) {
    session_->SubmitTrailers(this);
  } else if (std::exchange(is_deferred_, false)) {
    nghttp2_session_resume_data(session_->session_, id_);
  }
  session_->host_->OnWork();
}

void H2Stream::SendContinue() {
  session_->SubmitContinue(this);
  session_->host_->OnWork();
}

void H2Stream::CountMessage() { session_->Earn(H2Session::kTokensOfMessage); }

void H2Stream::Reset(uint32_t error) {
  is_reset_ = true;
  nghttp2_submit_rst_stream(session_->session_, NGHTTP2_FLAG_NONE, id_, error);
  session_->host_->OnWork();
}

void H2Stream::Consume(size_t bytes) {
  bytes = std::min(bytes, unconsumed_);  // SendEnd has given back the rest
  if (bytes == 0) return;
  unconsumed_ -= bytes;
  session_->unconsumed_bytes_ -= bytes;
  nghttp2_session_consume_stream(session_->session_, id_, bytes);
  session_->host_->OnWork();
}

void H2Stream::SetWindow(size_t bytes) {
  bytes = std::min(bytes, kStreamWindowMax);
  if (bytes <= window_) return;
  window_ = bytes;
  nghttp2_session_set_local_window_size(session_->session_, NGHTTP2_FLAG_NONE, id_, static_cast<int32_t>(bytes));
  session_->host_->OnWork();
}

void H2Stream::SetOwed(bool is_owed) {
  if (std::exchange(is_owed_, is_owed) != is_owed) session_->SetDeadline(this, 0);
}

}  // namespace armature::daemon

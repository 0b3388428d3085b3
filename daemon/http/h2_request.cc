#include <nghttp2/nghttp2.h>

#include "daemon/http/h2_stream.h"

namespace armature::daemon {

HeaderText::HeaderText(nghttp2_rcbuf* buffer) : buffer_(buffer) {
  if (buffer_ != nullptr) nghttp2_rcbuf_incref(buffer_);
}

HeaderText::~HeaderText() {
  if (buffer_ != nullptr) nghttp2_rcbuf_decref(buffer_);
}

std::string_view HeaderText::view() const {
  if (buffer_ == nullptr) return {};
  const nghttp2_vec bytes = nghttp2_rcbuf_get_buf(buffer_);
  return {reinterpret_cast<const char*>(bytes.base), bytes.len};
}

std::string_view H2Request::Find(std::string_view name) const {
  for (const Header& header : headers) {
    if (header.name.view() == name) return header.value.view();
  }
  return {};
}

}  // namespace armature::daemon

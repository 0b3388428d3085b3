#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "daemon/http/transport.h"

namespace armature::daemon {
namespace {

iovec Piece(std::string_view bytes) { return {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()}; }

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  Result Handshake() override { return Result::kDone; }

  Result Read(char* buffer, size_t size, size_t* bytes) override {
    ssize_t got = 0;
    do {
      got = recv(socket_, buffer, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got == 0) return Result::kEnded;
    if (got < 0) return errno == EAGAIN ? Result::kWaitReadable : Result::kFailed;
    *bytes = static_cast<size_t>(got);
    return Result::kDone;
  }

  Result Write(std::string_view first, std::string_view second, size_t* bytes) override {
    std::array<iovec, 2> pieces = {Piece(first), Piece(second)};
    msghdr message = {};
    message.msg_iov = pieces.data();
    message.msg_iovlen = second.empty() ? 1 : 2;
    ssize_t sent = 0;
    do {
      sent = sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno == EAGAIN ? Result::kWaitWritable : Result::kFailed;
    *bytes = static_cast<size_t>(sent);
    return Result::kDone;
  }

  void EndWriting() override { shutdown(socket_, SHUT_WR); }

 private:
  const int socket_;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(int socket) { return std::make_unique<PlainTransport>(socket); }

}  // namespace armature::daemon

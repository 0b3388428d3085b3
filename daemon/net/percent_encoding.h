#ifndef ARMATURE_DAEMON_NET_PERCENT_ENCODING_H_
#define ARMATURE_DAEMON_NET_PERCENT_ENCODING_H_

#include <string>
#include <string_view>

namespace armature::daemon {

// The form of grpc-message: other characters than printable ASCII, and '%', by their numbers.
inline std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      out.push_back(c);
    } else {
      out.append({'%', kDigits[byte / 16], kDigits[byte % 16]});
    }
  }
  return out;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_PERCENT_ENCODING_H_

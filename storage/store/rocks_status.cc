#include "storage/store/rocks_status.h"

#include <cctype>
#include <string>

#include "storage/base/strings.h"

namespace armature::store {

std::string TextOf(const rocksdb::Status& status) {
  constexpr std::string_view kOldSuffix = ".ldb";
  std::string text = status.ToString();
  for (size_t at = text.find(kOldSuffix); at != std::string::npos; at = text.find(kOldSuffix, at + 1)) {
    const bool is_file = at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
    if (is_file) text.replace(at, kOldSuffix.size(), ".sst");
  }
  return text;
}

absl::Status FromRocks(const rocksdb::Status& status, std::string_view context) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = Cat(context, ": ", TextOf(status));
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(message);
  if (status.IsNotFound()) return absl::NotFoundError(message);
  if (status.IsInvalidArgument()) return absl::InvalidArgumentError(message);
  if (status.IsIOError() || status.IsBusy() || status.IsTimedOut() || status.IsShutdownInProgress()) {
    return absl::UnavailableError(message);
  }
  return absl::InternalError(message);
}

}  // namespace armature::store

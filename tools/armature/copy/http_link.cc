#include "tools/armature/copy/http_link.h"

#include <curl/curl.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/decoder.h"

namespace armature::cli::copy {
namespace {

constexpr long kConnectMsMax = 10'000;

// Once in the process, before the first thread that uses the library.
void InitializeCurl() {
  static const CURLcode kInitialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(kInitialized);
}

absl::StatusOr<std::string> Inflated(std::string_view packed) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<files::Decoder> decoder, files::MakeDecoder(files::Compression::kGzip));
  std::string text;
  std::string part(256 << 10, '\0');
  while (true) {
    ARM_ASSIGN_OR_RETURN(const size_t count, decoder->Decode(&packed, part.data(), part.size()));
    text.append(part, 0, count);
    if (text.size() > kAnswerBytesMax) return DataLossError(Cat("an answer of more than ", kAnswerBytesMax, " bytes"));
    if (count < part.size()) break;
  }
  ARM_RETURN_IF_ERROR(decoder->CheckEnd());
  return text;
}

}  // namespace

struct HttpLink::Transfer {
  CURL* curl = nullptr;
  std::string received;
  bool is_too_long = false;
  bool is_packed = false;
  std::optional<uint32_t> checksum;

  static size_t Take(char* bytes, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.is_too_long = size * count > kAnswerBytesMax - transfer.received.size();
    if (transfer.is_too_long) return 0;
    transfer.received.append(bytes, size * count);
    return size * count;
  }

  static size_t TakeHeader(char* bytes, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const absl::string_view line(bytes, size * count);
    const size_t colon = line.find(':');
    if (colon == line.npos) return size * count;
    const auto name = line.substr(0, colon);
    const auto value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (absl::EqualsIgnoreCase(name, "content-encoding")) transfer.is_packed = absl::EqualsIgnoreCase(value, "gzip");
    uint32_t number = 0;
    if (absl::EqualsIgnoreCase(name, "x-amz-crc32") && absl::SimpleAtoi(value, &number)) transfer.checksum = number;
    return size * count;
  }

  void Reset() {
    received.clear();
    is_too_long = is_packed = false;
    checksum.reset();
  }
};

HttpLink::HttpLink(LinkOptions options) : options_(std::move(options)), transfer_(std::make_unique<Transfer>()) {
  InitializeCurl();
  CURL* const curl = transfer_->curl = curl_easy_init();
  if (curl == nullptr) return;
  const auto set_text = [curl](CURLoption option, const std::string& text) {
    if (!text.empty()) curl_easy_setopt(curl, option, text.c_str());
  };
  set_text(CURLOPT_URL, options_.url);
  set_text(CURLOPT_UNIX_SOCKET_PATH, options_.unix_socket);
  set_text(CURLOPT_CAINFO, options_.ca_file);
  set_text(CURLOPT_SSLCERT, options_.certificate_file);
  set_text(CURLOPT_SSLKEY, options_.key_file);
  // "unix:" of a daemon is not a host: no proxy reaches it.
  if (!options_.unix_socket.empty()) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(absl::ToInt64Milliseconds(options_.timeout)));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMsMax);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::Take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer_.get());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::TakeHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer_.get());
}

HttpLink::~HttpLink() {
  if (transfer_->curl != nullptr) curl_easy_cleanup(transfer_->curl);
}

absl::StatusOr<HttpAnswer> HttpLink::Post(const HttpHeaders& headers, std::string_view body) {
  CURL* const curl = transfer_->curl;
  if (curl == nullptr) return UnavailableError("libcurl has no memory");
  transfer_->Reset();
  curl_slist* list = nullptr;
  for (const auto& [name, value] : headers) list = curl_slist_append(list, Cat(name, ": ", value).c_str());
  // Bodies of more than a megabyte would wait a second for "100 Continue".
  list = curl_slist_append(list, "expect:");
  // The checksum is that of the bytes as sent, so this program unpacks them itself.
  if (options_.compresses) list = curl_slist_append(list, "accept-encoding: gzip");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  const CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(list);
  if (transfer_->is_too_long) return DataLossError(Cat("an answer of more than ", kAnswerBytesMax, " bytes"));
  switch (code) {
    case CURLE_OK:
      break;
    case CURLE_OPERATION_TIMEDOUT:
      return absl::DeadlineExceededError(curl_easy_strerror(code));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return FailedPreconditionError(curl_easy_strerror(code));
    default:
      return UnavailableError(curl_easy_strerror(code));
  }
  const std::string& received = transfer_->received;
  if (transfer_->checksum.has_value()) {
    const uLong computed = crc32_z(0, reinterpret_cast<const Bytef*>(received.data()), received.size());
    if (computed != *transfer_->checksum) return UnavailableError("an answer whose checksum (x-amz-crc32) is wrong");
  }
  HttpAnswer answer;
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (!transfer_->is_packed) {
    answer.body = std::move(transfer_->received);
  } else {
    ARM_ASSIGN_OR_RETURN(answer.body, Inflated(received));
  }
  return answer;
}

}  // namespace armature::cli::copy

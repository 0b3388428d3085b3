#include "daemon/json_front/json_front.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "daemon/json/error_json.h"
#include "daemon/json_front/content_coding.h"
#include "daemon/message_json/json_reader.h"
#include "engine/request_queue.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kAmazonJson = "application/x-amz-json-1.0";
constexpr std::string_view kPlainJson = "application/json";

// Bodies of errors before an operation starts, byte by byte as documented.
constexpr std::string_view kNotFound = "<UnknownOperationException/>\n";
constexpr std::string_view kNotJson = R"({"__type":"com.amazon.coral.service#SerializationException"})";
// The service answers so to a body that it cannot inflate (captured in August 2026).
constexpr std::string_view kNotInflated = R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",)"
                                          R"("message":"Internal server error"})";
constexpr std::string_view kUnavailable = R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
                                          R"("message":"The server cannot take the request now; try again later."})";

constexpr std::string_view kHowToCall =
    "This is the HTTP API of Armature: POST requests with the headers X-Amz-Target and Content-Type: "
    "application/x-amz-json-1.0.";

constexpr char kPreflightSeconds[] = "172800";
// Headers of answers that browsers hide from pages by default.
constexpr char kExposedHeaders[] = "x-amzn-RequestId, x-amz-crc32, x-amz-retry-after, x-armature-change-sequence";

// "text/html; charset=utf-8" without the part after the semicolon.
std::string_view MediaType(const HttpRequest& request) {
  const std::string* const header = request.Find("content-type");
  if (header == nullptr) return {};
  const std::string_view whole = *header;
  return Sv(absl::StripAsciiWhitespace(Av(whole.substr(0, whole.find(';')))));
}

// A request id: 52 upper-case letters and digits, like the API's. Unique for all practical purposes, not a secret.
std::string NewRequestId() {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";
  constexpr size_t kLettersPerNumber = 12;  // of five bits each
  thread_local absl::InsecureBitGen generator;
  std::string id(52, '\0');
  uint64_t bits = 0;
  for (size_t i = 0; i < id.size(); ++i) {
    if (i % kLettersPerNumber == 0) bits = generator();
    id[i] = kLetters[bits % kLetters.size()];
    bits /= kLetters.size();
  }
  return id;
}

// A new answer with the headers of every answer.
HttpResponse MakeResponse(unsigned status, std::string body, std::string request_id = NewRequestId()) {
  HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.reserve(8);
  response.headers.emplace_back("x-amzn-RequestId", std::move(request_id));
  return response;
}

// Call it when the body is final: clients check the sum before they inflate.
void AddChecksum(HttpResponse* response) {
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(response->body.data()), response->body.size());
  response->headers.emplace_back("x-amz-crc32", std::to_string(crc));
}

// `origin`: permitted site that sent the request, or null.
void AllowOrigin(const std::string* origin, HttpResponse* response) {
  if (origin == nullptr) return;
  response->headers.emplace_back("Access-Control-Allow-Origin", *origin);
  response->headers.emplace_back("Access-Control-Expose-Headers", kExposedHeaders);
  response->headers.emplace_back("Vary", "Origin");
}

// For clients that wait as long as a throttled answer says: milliseconds, as retry_after_ms over gRPC.
void AddRetryAfter(const absl::Status& error, HttpResponse* response) {
  if (error.ok()) return;
  const std::optional<ApiError> api_error = GetApiError(error);
  if (!api_error.has_value() || api_error->retry_after_ms <= 0) return;
  response->headers.emplace_back("x-amz-retry-after", std::to_string(api_error->retry_after_ms));
}

void Echo(const HttpRequest& request, std::string_view from, std::string_view to, HttpResponse* response) {
  if (const std::string* const value = request.Find(from)) response->headers.emplace_back(to, *value);
}

HttpResponse Preflight(const HttpRequest& request, const std::string* origin) {
  HttpResponse response = MakeResponse(200, {});
  AllowOrigin(origin, &response);
  Echo(request, "access-control-request-headers", "Access-Control-Allow-Headers", &response);
  Echo(request, "access-control-request-method", "Access-Control-Allow-Methods", &response);
  // Chrome asks before a page of a public address reaches a private one.
  Echo(request, "access-control-request-private-network", "Access-Control-Allow-Private-Network", &response);
  response.headers.emplace_back("Access-Control-Max-Age", kPreflightSeconds);
  return response;
}

// `reason` has no characters that JSON escapes.
HttpResponse Forbidden(std::string_view reason) {
  HttpResponse response = MakeResponse(
      403, Cat(R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":")", reason, "\"}"));
  response.headers.emplace_back("Content-Type", kPlainJson);  // browsers show it
  AddChecksum(&response);
  return response;
}

HttpResponse Health(const HttpRequest& request) {
  const std::string* const host = request.Find("host");
  HttpResponse response = MakeResponse(200, Cat("healthy: ", host == nullptr ? std::string() : *host, " "));
  response.headers.emplace_back("Content-Type", "text/plain");
  AddChecksum(&response);
  return response;
}

HttpResponse Ready(const ReadinessSource& readiness) {
  HttpResponse response = ReadinessPage(readiness == nullptr ? Readiness() : readiness());
  response.headers.emplace_back("x-amzn-RequestId", NewRequestId());
  AddChecksum(&response);
  return response;
}

bool IsBrowser(const HttpRequest& request) {
  const std::string* const accepted = request.Find("accept");
  return request.method == "GET" && accepted != nullptr && absl::StrContains(*accepted, "text/html");
}

// For a person who opens the address in a browser. `way` has no characters of markup.
HttpResponse Page(unsigned status, std::string_view way) {
  HttpResponse response = MakeResponse(
      status, Cat("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Armature</title>\n<p>", kHowToCall,
                  " ", way, "</p></html>\n"));
  response.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
  AddChecksum(&response);
  return response;
}

// The documented answer to what is no call of an operation. Programs that cannot know better, such as curl with its own
// content type, get a sentence behind it.
HttpResponse NotFound(const HttpRequest& request, std::string_view media_type, std::string_view way) {
  constexpr std::string_view kOfForms[] = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"};
  const bool is_grpc = media_type.starts_with("application/grpc");
  const bool is_form = std::find(std::begin(kOfForms), std::end(kOfForms), media_type) != std::end(kOfForms);
  const std::string hint = is_grpc ? Cat("This port speaks HTTP/1.1. ", way) : std::string(kHowToCall);
  std::string body(kNotFound);
  if (request.method == "POST" && (is_form || is_grpc)) body += Cat("<!-- ", hint, " -->\n");
  HttpResponse response = MakeResponse(404, std::move(body));
  response.headers.emplace_back("x-armature-hint", hint);
  AddChecksum(&response);
  return response;
}

// The answer to a request that calls no operation. `way`: to gRPC.
HttpResponse AnswerOther(const HttpRequest& request, bool is_health, std::string_view media_type,
                         std::string_view way) {
  if (IsBrowser(request) && request.target != "/healthz") return Page(is_health ? 200 : 404, way);
  return is_health ? Health(request) : NotFound(request, media_type, way);
}

absl::Status ReadSequence(const HttpRequest& request, uint64_t* sequence) {
  const std::string* const header = request.Find("x-armature-at-least-sequence");
  if (header == nullptr) return absl::OkStatus();
  const char* const end = header->data() + header->size();
  const auto [stop, error] = std::from_chars(header->data(), end, *sequence);
  if (error == std::errc() && stop == end) return absl::OkStatus();
  return ValidationError("The header x-armature-at-least-sequence must be a decimal number of at most 64 bits");
}

// The coding of the body; nullopt if it is not served.
std::optional<ContentCoding> BodyCoding(const HttpRequest& request) {
  const std::string* const header = request.Find("content-encoding");
  return header == nullptr ? ContentCoding::kIdentity : CodingNamed(*header);
}

// `error`: the error of the answer, for counters.
JsonAnswer Plain(unsigned status, std::string_view body, absl::Status error) {
  return {.status = status, .body = std::string(body), .error = std::move(error)};
}

// `target`: the header that names the operation, or null.
JsonAnswer UnknownOperation(const std::string* target, std::string_view request_id) {
  return ErrorAnswer(NoSuchOperationError(target == nullptr ? std::string_view() : *target), request_id);
}

// Counted as the client's fault, whatever the status says.
JsonAnswer NotInflated() { return Plain(500, kNotInflated, SerializationError("The body could not be inflated")); }
JsonAnswer NotJson() { return Plain(400, kNotJson, SerializationError(kNoDocumentText)); }
JsonAnswer Unavailable() {
  return Plain(503, kUnavailable, ServiceUnavailableError("The server is overloaded or stopping"));
}

}  // namespace

// Parts of a request that determine its answer.
struct JsonFront::Exchange {
  Done done;
  std::string request_id = NewRequestId();
  std::string_view content_type;  // static
  ContentCoding coding = ContentCoding::kIdentity;
  const std::string* origin = nullptr;  // permitted site that sent the request; lives as long as the front
  MemorySource memory = {};             // of the answer
  HeldMemory inflated = {};             // of an inflated body, until the answer
  RequestStats::Request counted = {};
};

JsonFront::JsonFront(JsonOperations* operations, const JsonFrontOptions& options)
    : operations_(operations),
      options_(options),
      coders_("armature-coding", options.coding_threads, options.coding_queue_max) {}

JsonFront::~JsonFront() = default;

HttpResponse JsonFront::Refuse(unsigned status) {
  // The API's answer to a too large body is empty and has no request id.
  if (status == 413) return HttpHandler::Refuse(status);
  HttpResponse response = MakeResponse(status, status == 503 ? std::string(kUnavailable) : std::string());
  if (status == 503) response.headers.emplace_back("Content-Type", kPlainJson);
  AddChecksum(&response);
  response.close = true;
  return response;
}

void JsonFront::Handle(HttpRequest request, Done done) {
  const auto [refusal, origin] = options_.sites.Check(request);
  if (!refusal.empty()) return std::move(done)(Forbidden(refusal));
  if (origin != nullptr && request.method == "OPTIONS") return std::move(done)(Preflight(request, origin));
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const std::string_view media_type = MediaType(request);
  const bool is_health = (request.method == "GET" && path == "/") || (IsReadMethod(request) && path == "/healthz");
  const bool is_ready = IsReadMethod(request) && path == "/readyz";
  if (is_health || is_ready || request.method != "POST" ||
      (!request.body.empty() && media_type != kAmazonJson && media_type != kPlainJson)) {
    HttpResponse response =
        is_ready ? Ready(options_.readiness) : AnswerOther(request, is_health, media_type, options_.way_to_grpc());
    AllowOrigin(origin, &response);
    return std::move(done)(std::move(response));
  }

  Exchange exchange{
      .done = std::move(done), .content_type = media_type == kAmazonJson ? kAmazonJson : kPlainJson, .origin = origin};
  if (const std::string* const accepted = request.Find("accept-encoding")) exchange.coding = ChooseCoding(*accepted);

  const std::string* const target = request.Find("x-amz-target");
  std::string_view operation;
  const bool is_known = target != nullptr && operations_->Knows(*target, &operation);
  exchange.counted = RequestStats::Begin(options_.stats, Front::kHttp, operation, request.peer);
  if (!is_known) {
    JsonAnswer answer = UnknownOperation(target, exchange.request_id);
    return Finish(std::move(exchange), std::move(answer));
  }
  exchange.memory = {options_.budget, request.client};
  Admitted admitted{.request = std::move(request), .access = nullptr};
  absl::Duration hold;
  if (admitted.request.is_late) return Refuse(admitted, engine::TooManyWaitError(), hold, std::move(exchange));
  if (const absl::Status status = Admit(&admitted, &hold); !status.ok()) {
    return Refuse(admitted, status, hold, std::move(exchange));
  }
  const std::optional<ContentCoding> coding = BodyCoding(admitted.request);
  const bool is_plain = coding == ContentCoding::kIdentity;
  if (!coding.has_value() || admitted.request.body.empty()) {
    return Finish(std::move(exchange), is_plain ? NotJson() : NotInflated());
  }
  const engine::Operation* const facts = engine::FindOperation(operation);
  if (facts != nullptr && engine::HasLargeAnswer(*facts) && !HasRoom(admitted.request.client, kLargeAnswerBytes)) {
    return Finish(std::move(exchange), Unavailable());
  }
  if (!is_plain) return InflateBody(std::move(admitted), std::move(exchange), *coding);
  Start(std::move(admitted), std::move(exchange));
}

bool JsonFront::HasRoom(const BudgetClient& client, size_t bytes) const {
  return options_.budget == nullptr || options_.budget->HasRoomFor(client, bytes);
}

absl::Status JsonFront::Admit(Admitted* admitted, absl::Duration* hold) const {
  if (options_.authenticate != nullptr) {
    ARM_ASSIGN_OR_RETURN(admitted->access, options_.authenticate(admitted->request, hold));
  }
  return ReadSequence(admitted->request, &admitted->at_least_sequence);
}

void JsonFront::Refuse(const Admitted& admitted, const absl::Status& status, absl::Duration hold, Exchange exchange) {
  JsonCall call;
  operations_->Knows(*admitted.request.Find("x-amz-target"), &call.operation);
  call.peer = admitted.request.peer;
  call.request_id = exchange.request_id;
  JsonAnswer answer = operations_->Refuse(call, status);
  if (hold <= absl::ZeroDuration() || held_back_.load() >= options_.held_back_max) {
    return Finish(std::move(exchange), std::move(answer));
  }
  ++held_back_;
  timers_.At(Deadline::After(hold), [this, exchange = std::move(exchange), answer = std::move(answer)]() mutable {
    --held_back_;
    Finish(std::move(exchange), std::move(answer));
  });
}

void JsonFront::InflateBody(Admitted admitted, Exchange exchange, ContentCoding coding) {
  // Shared with the task: a refused task is left untouched, but its captures cannot be accessed.
  struct Work {
    Admitted admitted;
    Exchange exchange;
  };
  exchange.inflated = HeldMemory({options_.budget, admitted.request.client});
  auto work = std::make_shared<Work>(Work{std::move(admitted), std::move(exchange)});
  Task task = [this, work, coding] {
    std::string body;
    if (stopping_) return Finish(std::move(work->exchange), Unavailable());
    const auto has_room = [&](size_t bytes) { return work->exchange.inflated.TrySet(bytes); };
    switch (Inflate(work->admitted.request.body, coding, options_.body_bytes_max, has_room, &body)) {
      case InflateResult::kOk:
        break;
      case InflateResult::kMalformed:
        return Finish(std::move(work->exchange), NotInflated());
      case InflateResult::kNoRoom:
        return Finish(std::move(work->exchange), Unavailable());
      case InflateResult::kTooLarge:
        work->exchange.counted.Finish(SerializationError("The inflated body is too large"), work->exchange.request_id);
        return std::move(work->exchange.done)(Refuse(413));
    }
    if (body.empty()) return Finish(std::move(work->exchange), NotInflated());
    work->admitted.request.body = std::move(body);
    Start(std::move(work->admitted), std::move(work->exchange));
  };
  if (!coders_.TryRun(task)) Finish(std::move(work->exchange), Unavailable());
}

void JsonFront::Stop() {
  stopping_ = true;
  coders_.Stop();
}

void JsonFront::Start(Admitted admitted, Exchange exchange) {
  const access::MatchWeight of_resources =
      options_.resource_weight == nullptr ? access::MatchWeight() : options_.resource_weight();
  std::string_view operation;
  operations_->Knows(*admitted.request.Find("x-amz-target"), &operation);
  if (options_.long_requests == nullptr ||
      !LongRequests::IsLong(admitted.request.body.size(), LongRequests::ProjectionOf(operation), admitted.access.get(),
                            of_resources)) {
    return Call(std::move(admitted), std::move(exchange));
  }
  auto work = std::make_shared<std::pair<Admitted, Exchange>>(std::move(admitted), std::move(exchange));
  Task task = [this, work] {
    if (stopping_) return Finish(std::move(work->second), Unavailable());
    Call(std::move(work->first), std::move(work->second));
  };
  if (options_.long_requests->TryRun(task)) return;
  Refuse(work->first, engine::TooManyWaitError(), absl::ZeroDuration(), std::move(work->second));
}

void JsonFront::Call(Admitted admitted, Exchange exchange) {
  JsonCall call;
  operations_->Knows(*admitted.request.Find("x-amz-target"), &call.operation);
  call.body = std::move(admitted.request.body);
  call.peer = std::move(admitted.request.peer);
  if (const std::string* const host = admitted.request.Find("host")) call.host = *host;
  call.request_id = exchange.request_id;
  call.context.deadline = Deadline::After(options_.request_timeout);
  call.context.trace = exchange.counted.trace();
  call.context.memory = {options_.budget, admitted.request.client};
  call.access = std::move(admitted.access);
  call.at_least_sequence = admitted.at_least_sequence;
  operations_->Call(std::move(call), [this, exchange = std::move(exchange)](JsonAnswer answer) mutable {
    Finish(std::move(exchange), std::move(answer));
  });
}

void JsonFront::Finish(Exchange exchange, JsonAnswer answer) {
  exchange.counted.Finish(answer.error, exchange.request_id);
  HttpResponse response = MakeResponse(answer.status, std::move(answer.body), std::move(exchange.request_id));
  response.memory = std::move(answer.memory);
  if (response.memory.source().lender == nullptr) {
    response.memory = HeldMemory(exchange.memory);
    response.memory.Set(response.body.capacity());
  }
  response.may_refuse = answer.may_refuse;
  response.headers.emplace_back("Content-Type", exchange.content_type);
  AllowOrigin(exchange.origin, &response);
  AddRetryAfter(answer.error, &response);
  if (answer.change_sequence != 0) {
    response.headers.emplace_back("x-armature-change-sequence", std::to_string(answer.change_sequence));
  }
  if (exchange.coding == ContentCoding::kIdentity || response.body.size() <= options_.compressed_answer_bytes_min) {
    AddChecksum(&response);
    return std::move(exchange.done)(std::move(response));
  }
  auto work = std::make_shared<std::pair<HttpResponse, Exchange>>(std::move(response), std::move(exchange));
  Task task = [work] {
    auto& [to_send, its_exchange] = *work;
    CompressBody(its_exchange.coding, &to_send);
    AddChecksum(&to_send);
    std::move(its_exchange.done)(std::move(to_send));
  };
  if (coders_.TryRun(task)) return;
  AddChecksum(&work->first);
  std::move(work->second.done)(std::move(work->first));
}

void JsonFront::CompressBody(ContentCoding coding, HttpResponse* response) {
  HeldMemory memory(response->memory.source());
  std::string compressed;
  const auto has_room = [&memory](size_t bytes) { return memory.TrySet(bytes); };
  if (!Compress(response->body, coding, has_room, &compressed)) return;
  response->body = std::move(compressed);
  response->memory = std::move(memory);
  response->headers.emplace_back("Content-Encoding", CodingName(coding));
}

}  // namespace armature::daemon

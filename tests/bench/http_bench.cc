// Server CPU of an HTTP request: a plain Beast echo of the same bytes, our HTTP server, and our JSON front end,
// measured in turns, so that other load affects all of them.
//
//   http_bench                                     servers started by the benchmark, with an operation without effect
//   http_bench --address=HOST:PORT --pid=PID --request=FILE
//                                                  a running server against an echo of its answer; FILE holds the bytes
//                                                  of one request, head and body; ################ in it is replaced by
//                                                  a different number in each request

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "daemon/http/http_server.h"
#include "daemon/json_front/json_front.h"
#include "storage/base/strings.h"
#include "tests/bench/http_echo.h"
#include "tests/bench/open_load.h"

ABSL_FLAG(std::string, address, "", "Server to measure; empty: ours, in processes of their own.");
ABSL_FLAG(int, pid, 0, "Process of that server.");
ABSL_FLAG(std::string, request, "", "File with the bytes of the request to send; empty: a GetItem.");
ABSL_FLAG(int, status, 200, "What the server answers to it.");
ABSL_FLAG(int, answer_bytes, 500, "Length of the answer's body, of our own servers.");
ABSL_FLAG(int, connections, 16, "Connections, each with one request under way.");
ABSL_FLAG(int, threads, 2, "Threads that do input and output, of echo and our own servers.");
ABSL_FLAG(int, rounds, 7, "Rounds; the median counts.");
ABSL_FLAG(double, seconds, 2, "Length of a round, of each server.");

namespace armature::bench {
namespace {

using daemon::HttpServer;
using daemon::HttpServerOptions;

// Answers each request at once with the same body.
class FixedHandler final : public daemon::HttpHandler {
 public:
  explicit FixedHandler(std::string body) : body_(std::move(body)) {}
  void Handle(daemon::HttpRequest, Done done) override {
    std::move(done)({.status = 200,
                     .headers = {{"x-amzn-RequestId", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEF"},
                                 {"Content-Type", "application/x-amz-json-1.0"},
                                 {"x-amz-crc32", "1234567890"}},
                     .body = body_});
  }

 private:
  const std::string body_;
};

class FixedOperation final : public daemon::JsonOperations {
 public:
  explicit FixedOperation(std::string body) : body_(std::move(body)) {}
  bool Knows(std::string_view target, std::string_view* operation) const override {
    *operation = target;
    return true;
  }
  void Call(daemon::JsonCall, daemon::JsonApi::Done done) override { std::move(done)({.status = 200, .body = body_}); }
  daemon::JsonAnswer Refuse(const daemon::JsonCall&, const absl::Status&) const override {
    return {.status = 500, .body = {}};
  }

 private:
  const std::string body_;
};

struct Subject {
  std::string name;
  std::string address;
  pid_t pid = 0;
  std::vector<double> microseconds = {};  // CPU per request, by round
};

// Runs `serve` in a child process, which ends with this one. The child reports its port.
Subject Spawn(const std::string& name, const std::function<void(const std::function<void(uint16_t)>&)>& serve) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve([&ends](uint16_t port) {
      if (write(ends[1], &port, sizeof(port)) != sizeof(port)) std::_Exit(1);
    });
    std::_Exit(0);
  }
  uint16_t port = 0;
  if (read(ends[0], &port, sizeof(port)) != sizeof(port)) std::abort();
  return {.name = name, .address = Cat("127.0.0.1:", port), .pid = pid};
}

void ServeForEver(daemon::HttpHandler* handler, const std::function<void(uint16_t)>& ready) {
  HttpServerOptions options;
  options.io_threads = static_cast<size_t>(absl::GetFlag(FLAGS_threads));
  const std::unique_ptr<HttpServer> server = HttpServer::Start(options, handler).value();
  ready(static_cast<uint16_t>(std::stoi(server->address().substr(server->address().rfind(':') + 1))));
  for (;;) pause();
}

std::string RequestToSend() {
  const std::string file = absl::GetFlag(FLAGS_request);
  if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  const std::string body = R"({"TableName":"orders-table","Key":{"order_id":{"S":"order-0000000001"}}})";
  return Cat(
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept-Encoding: identity\r\n",
      "X-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Type: application/x-amz-json-1.0\r\n",
      "User-Agent: Boto3/1.26 md/Botocore#1.29 ua/2.0 os/linux lang/python#3.11\r\nX-Amz-Date: 20240101T000000Z\r\n",
      "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20240101/us-east-1/dynamodb/aws4_request, ",
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=", std::string(64, 'a'), "\r\n",
      "Content-Length: ", body.size(), "\r\n\r\n", body);
}

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "http_bench: %s\n", what);
  std::exit(1);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<Subject> Subjects(const std::string& request) {
  std::vector<Subject> subjects;
  if (const std::string address = absl::GetFlag(FLAGS_address); !address.empty()) {
    subjects.push_back({.name = "server", .address = address, .pid = absl::GetFlag(FLAGS_pid)});
  } else {
    const std::string body(static_cast<size_t>(absl::GetFlag(FLAGS_answer_bytes)), 'x');
    subjects.push_back(Spawn("http", [&body](const auto& ready) {
      FixedHandler handler(body);
      ServeForEver(&handler, ready);
    }));
    subjects.push_back(Spawn("front", [&body](const auto& ready) {
      FixedOperation operation(body);
      daemon::JsonFront front(&operation, {});
      ServeForEver(&front, ready);
    }));
  }
  const std::string answer = AnswerOf(subjects.back().address, request);
  subjects.insert(subjects.begin(), Spawn("echo", [&answer](const auto& ready) {
                    ServeWithBeast(answer, static_cast<size_t>(absl::GetFlag(FLAGS_threads)), ready);
                  }));
  std::printf("request %zu bytes, answer %zu bytes\n", request.size(), answer.size());
  return subjects;
}

// CPU time of all threads of process `pid`, in nanoseconds.
int64_t CpuNanoseconds(pid_t pid) {
  clockid_t clock = 0;
  timespec used = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) Die("cannot see that process");
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Server CPU of a request, in microseconds.
double Measure(OpenLoad* load, pid_t pid, double seconds) {
  const int64_t before_ns = CpuNanoseconds(pid);
  const LoadPhase phase = load->Closed(static_cast<size_t>(absl::GetFlag(FLAGS_connections)), seconds, /*sleeps=*/true);
  const int64_t used_ns = CpuNanoseconds(pid) - before_ns;
  if (phase.refused + phase.broken > 0) Die("not the answer that was expected");
  return static_cast<double>(used_ns) / 1000 / static_cast<double>(phase.arrivals);
}

void Run() {
  const std::string request = RequestToSend();
  std::vector<Subject> subjects = Subjects(request);
  const double seconds = absl::GetFlag(FLAGS_seconds);
  std::vector<std::unique_ptr<OpenLoad>> loads;
  for (const Subject& subject : subjects) {
    OpenLoadOptions options;
    options.address = subject.address;
    options.request = request;
    options.status = absl::GetFlag(FLAGS_status);
    options.connections = static_cast<size_t>(absl::GetFlag(FLAGS_connections));
    loads.push_back(std::make_unique<OpenLoad>(options));
    Measure(loads.back().get(), subject.pid, seconds / 10);
  }
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (size_t i = 0; i < subjects.size(); ++i) {
      subjects[i].microseconds.push_back(Measure(loads[i].get(), subjects[i].pid, seconds));
      std::printf("%s %.2f us%s", subjects[i].name.c_str(), subjects[i].microseconds.back(),
                  i + 1 < subjects.size() ? ", " : "\n");
    }
  }
  const double floor = Median(subjects[0].microseconds);
  for (const Subject& subject : subjects) {
    const double median = Median(subject.microseconds);
    std::printf("%s: %.2f us of server CPU a request, %.2f times the echo\n", subject.name.c_str(), median,
                median / floor);
  }
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Server CPU of HTTP requests, compared with a plain Beast echo of the same bytes.");
  absl::ParseCommandLine(argc, argv);
  armature::bench::Run();
  return 0;
}

// Cost of authenticating a request.

#include <benchmark/benchmark.h>

#include "absl/time/clock.h"
#include "daemon/auth/policy.h"
#include "daemon/auth/sigv4.h"
#include "tests/support/request_signer.h"

namespace armature::daemon {
namespace {

const test::Signer kSigner{.key_id = "AKIDEXAMPLE", .secret = "0123456789abcdef0123456789abcdef01234567"};

HttpRequest GetItem(absl::Time now) {
  HttpRequest request = test::JsonRequest(
      "GetItem", R"({"TableName":"orders","Key":{"customer_id":{"S":"1A2B3C"},"order_id":{"S":"order-9001"}}})");
  // Further headers that SDKs send.
  request.headers.push_back({"amz-sdk-invocation-id", "3f3e0f5e-7a1d-4e61-9c1c-6f7e9a1f2b3c"});
  request.headers.push_back({"amz-sdk-request", "attempt=1; max=3"});
  request.headers.push_back({"content-length", "86"});
  kSigner.Sign(now, &request);
  request.headers.push_back({"user-agent", "aws-sdk-something/1.2.3"});
  return request;
}

// Every client has signed before, so the signing key is cached.
void VerifyGetItem(benchmark::State& state) {
  const absl::Time now = absl::Now();
  const HttpRequest request = GetItem(now);
  const SigV4Verifier verifier({});
  const auto secret_of = [](std::string_view) { return &kSigner.secret; };
  for (auto _ : state) {
    const SigV4Outcome outcome = verifier.Verify(request, now, secret_of);
    if (!outcome.status.ok()) state.SkipWithError("the signature is wrong");
  }
}
BENCHMARK(VerifyGetItem);

void VerifyTheFirstGetItem(benchmark::State& state) {
  const absl::Time now = absl::Now();
  const HttpRequest request = GetItem(now);
  const auto secret_of = [](std::string_view) { return &kSigner.secret; };
  for (auto _ : state) benchmark::DoNotOptimize(SigV4Verifier({}).Verify(request, now, secret_of));
}
BENCHMARK(VerifyTheFirstGetItem);

void VerifyABodyOfBytes(benchmark::State& state) {
  const absl::Time now = absl::Now();
  HttpRequest request = test::JsonRequest("BatchWriteItem", std::string(static_cast<size_t>(state.range(0)), 'x'));
  kSigner.Sign(now, &request);
  const SigV4Verifier verifier({});
  const auto secret_of = [](std::string_view) { return &kSigner.secret; };
  for (auto _ : state) benchmark::DoNotOptimize(verifier.Verify(request, now, secret_of));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(VerifyABodyOfBytes)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);

void CheckAPolicyOfTenEntries(benchmark::State& state) {
  auto policy = std::make_shared<Policy>();
  for (int i = 0; i < 9; ++i) policy->allow.push_back({{"PutItem", "Batch*"}, {Cat("logs-", i, "-*")}});
  policy->allow.push_back({{"GetItem", "Query*"}, {"orders", "customers-*"}});
  const PolicyAccess access("AKIDEXAMPLE", policy, std::make_shared<FailureLog>());
  for (auto _ : state) benchmark::DoNotOptimize(access.Check({"GetItem", "orders"}));
}
BENCHMARK(CheckAPolicyOfTenEntries);

}  // namespace
}  // namespace armature::daemon

#include "daemon/auth/authenticator.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "storage/base/api_error.h"
#include "tests/support/request_signer.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::authenticator_test {

constexpr char kPlainSecret[] = "plain-secret-0123";
constexpr char kHashedSecret[] = "hashed-secret-012";
constexpr char kPeer[] = "192.0.2.1:999";

// A cheap hash of "hashed-secret-012", so that tests are fast.
std::string CheapHash();

std::string File(std::string_view keys, std::string_view certificates = "") {
  return Cat(R"({"access_keys": [)", keys, R"(], "certificates": [)", certificates,
             R"(], "policies": {"all": {"allow": [{"operations": ["*"], "tables": ["*"]}]}}})");
}
std::string Plain(std::string_view id = "AKPLAIN", std::string_view secret = kPlainSecret) {
  return Cat(R"({"policy": "all", "id": ")", id, R"(", "secret": ")", secret, R"("})");
}
std::string Hashed() { return Cat(R"({"policy": "all", "id": "AKHASHED", "secret_hash": ")", CheapHash(), R"("})"); }
std::string Certificate(std::string_view name) { return Cat(R"({"policy": "all", "name": ")", name, R"("})"); }

std::string CheapHash() {
  // scrypt(kHashedSecret, "saltsalt", n=1024, r=1, p=1), from Python's hashlib.
  return "$scrypt$ln=10,r=1,p=1$c2FsdHNhbHQ=$VBuBAdb8rbOqUNDOLskJIvjFiji5Uz/Ar6KDwPl5hEE=";
}

std::string Basic(std::string_view id, std::string_view secret) {
  return Cat("Basic ", absl::Base64Escape(Cat(id, ":", secret)));
}

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest() {
    options_.credentials_file = directory_.path("credentials.json");
    options_.limiter.failures.burst = 1000;
  }

  void Write(const std::string& text) {
    std::ofstream(options_.credentials_file) << text;
    chmod(options_.credentials_file.c_str(), 0600);
  }
  void Start(const std::string& text) {
    Write(text);
    auto started = Authenticator::Start(options_);
    ASSERT_TRUE(started.ok()) << started.status();
    authenticator_ = *std::move(started);
  }

  static std::string NameOf(const Authenticator::Result& result) {
    if (result.ok()) return (*result)->principal();
    const auto error = GetApiError(result.status());
    return error.has_value() ? std::string(ApiErrorName(error->type)) : result.status().ToString();
  }

  // Authenticates a call. Returns the principal or the name of the exception.
  std::string Call(const CallerIdentity& caller) {
    std::string name;
    absl::Notification done;
    authenticator_->AuthenticateCall(caller, [&](const Authenticator::Result& result) {
      name = NameOf(result);
      done.Notify();
    });
    done.WaitForNotification();
    return name;
  }
  std::string CallWith(const std::string& authorization) {
    return Call({.authorization = authorization, .certificate_names = {}, .peer = kPeer});
  }
  std::string CallAs(std::vector<std::string_view> names) {
    return Call({.authorization = std::nullopt, .certificate_names = std::move(names), .peer = kPeer});
  }

  const test::TempDir directory_;
  AuthenticatorOptions options_;
  std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(AuthenticatorTest, CallsBringAKeyAndItsSecret) {
  Start(File(Plain()));
  EXPECT_EQ(CallWith(Basic("AKPLAIN", kPlainSecret)), "AKPLAIN");
  EXPECT_EQ(CallWith("basic " + Basic("AKPLAIN", kPlainSecret).substr(6)), "AKPLAIN");
  EXPECT_EQ(CallWith(Basic("AKPLAIN", "plain-secret-0124")), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("AKPLAIN", "plain-secret-01234")), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("AKPLAIN", "")), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("AKOTHER", kPlainSecret)), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("", "")), "UnrecognizedClientException");
  for (const std::string_view text : {"", "Basic", "Basic ", "Basic QUtQTEFJTg==", "Basic !!!!", "Bearer abc",
                                      "AWS4-HMAC-SHA256 Credential=AKPLAIN/20251104/x/dynamodb/aws4_request"}) {
    EXPECT_EQ(CallWith(std::string(text)), "IncompleteSignatureException") << text;
  }
  EXPECT_EQ(CallWith(Basic("AKPLAIN", std::string(5000, 'x'))), "IncompleteSignatureException");
  EXPECT_EQ(CallAs({}), "MissingAuthenticationTokenException");
  EXPECT_EQ(authenticator_->count(AuthFailure::kWrongSecret), 3u);
  EXPECT_EQ(authenticator_->count(AuthFailure::kUnknownKey), 2u);
  EXPECT_EQ(authenticator_->count(AuthFailure::kMalformed), 8u);
  EXPECT_EQ(authenticator_->count(AuthFailure::kMissing), 1u);
}

TEST_F(AuthenticatorTest, AHashedSecretIsComputedOnceAndThenRemembered) {
  Start(File(Hashed()));
  EXPECT_EQ(CallWith(Basic("AKHASHED", "hashed-secret-013")), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("AKHASHED", kHashedSecret)), "AKHASHED");
  bool at_once = false;
  const std::string authorization = Basic("AKHASHED", kHashedSecret);
  authenticator_->AuthenticateCall({.authorization = authorization, .certificate_names = {}, .peer = kPeer},
                                   [&](const Authenticator::Result& result) { at_once = result.ok(); });
  EXPECT_TRUE(at_once);
  EXPECT_EQ(CallWith(Basic("AKHASHED", "hashed-secret-013")), "UnrecognizedClientException");
}

TEST_F(AuthenticatorTest, ManyWhoAskAtOnceAreAllAnswered) {
  Start(File(Hashed()));
  constexpr int kCalls = 500;
  absl::BlockingCounter done(kCalls);
  std::atomic<int> right = 0;
  const std::string authorization = Basic("AKHASHED", kHashedSecret);
  for (int i = 0; i < kCalls; ++i) {
    authenticator_->AuthenticateCall({.authorization = authorization, .certificate_names = {}, .peer = kPeer},
                                     [&](const Authenticator::Result& result) {
                                       right += result.ok() ? 1 : 0;
                                       done.DecrementCount();
                                     });
  }
  done.Wait();
  EXPECT_EQ(right, kCalls);
}

TEST_F(AuthenticatorTest, CertificatesCountByTheFirstNameThatIsKnown) {
  Start(File("", Certificate("app.example.org") + "," + Certificate("spiffe://example.org/app")));
  EXPECT_EQ(CallAs({"app.example.org"}), "app.example.org");
  EXPECT_EQ(CallAs({"other", "spiffe://example.org/app", "app.example.org"}), "spiffe://example.org/app");
  EXPECT_EQ(CallAs({"APP.example.org", "*"}), "UnrecognizedClientException");
  EXPECT_EQ(authenticator_->count(AuthFailure::kUnknownCertificate), 1u);
}

TEST_F(AuthenticatorTest, AKeyThatIsSentCountsBeforeTheCertificate) {
  Start(File(Plain(), Certificate("app")));
  const std::string right = Basic("AKPLAIN", kPlainSecret);
  const std::string wrong = Basic("AKPLAIN", "x");
  EXPECT_EQ(Call({.authorization = right, .certificate_names = {"app"}, .peer = kPeer}), "AKPLAIN");
  EXPECT_EQ(Call({.authorization = wrong, .certificate_names = {"app"}, .peer = kPeer}), "UnrecognizedClientException");
}

TEST_F(AuthenticatorTest, RequestsAreKnownByTheirSignature) {
  Start(File(Plain() + "," + Hashed()));
  const absl::Time now = absl::Now();
  const auto name = [&](const test::Signer& signer, bool tamper = false) {
    HttpRequest request = test::JsonRequest("GetItem", "{}");
    signer.Sign(now, &request);
    if (tamper) request.body += " ";
    absl::Duration hold;
    return NameOf(authenticator_->AuthenticateRequest(request, now, &hold));
  };
  EXPECT_EQ(name({.key_id = "AKPLAIN", .secret = kPlainSecret}), "AKPLAIN");
  EXPECT_EQ(name({.key_id = "AKPLAIN", .secret = kPlainSecret}, true), "InvalidSignatureException");
  EXPECT_EQ(name({.key_id = "AKPLAIN", .secret = "plain-secret-0124"}), "InvalidSignatureException");
  EXPECT_EQ(name({.key_id = "AKOTHER", .secret = kPlainSecret}), "UnrecognizedClientException");
  // For signatures, a key without a plain secret is unknown, also with an empty secret.
  EXPECT_EQ(name({.key_id = "AKHASHED", .secret = kHashedSecret}), "UnrecognizedClientException");
  EXPECT_EQ(name({.key_id = "AKHASHED", .secret = ""}), "UnrecognizedClientException");
}

TEST_F(AuthenticatorTest, KeysOfTheFileHaveNoSessionTokens) {
  Start(File(Plain()));
  const absl::Time now = absl::Now();
  HttpRequest request = test::JsonRequest("GetItem", "{}");
  request.headers.push_back({"x-amz-security-token", "token"});
  test::Signer{.key_id = "AKPLAIN", .secret = kPlainSecret}.Sign(now, &request);
  absl::Duration hold;
  const Authenticator::Result result = authenticator_->AuthenticateRequest(request, now, &hold);
  EXPECT_EQ(NameOf(result), "UnrecognizedClientException");
  EXPECT_EQ(GetApiError(result.status())->message, "The security token included in the request is invalid");
  EXPECT_EQ(hold, absl::ZeroDuration());
  request.body += " ";
  EXPECT_EQ(NameOf(authenticator_->AuthenticateRequest(request, now, &hold)), "InvalidSignatureException");
}

TEST_F(AuthenticatorTest, ThoseWhoFailTooOftenWaitForTheirRefusal) {
  options_.limiter.failures = {.burst = 3, .per_second = 1e-9};
  options_.delay = absl::InfiniteDuration();
  options_.delayed_max = 2;
  Start(File(Plain() + "," + Hashed()));
  int answered = 0;
  const auto count = [&](const Authenticator::Result&) { ++answered; };
  const std::string wrong = Basic("AKPLAIN", "wrong");
  const CallerIdentity guesser{.authorization = wrong, .certificate_names = {}, .peer = kPeer};
  for (int i = 0; i < 3; ++i) authenticator_->AuthenticateCall(guesser, count);
  EXPECT_EQ(answered, 3);
  authenticator_->AuthenticateCall(guesser, count);
  HttpRequest unsigned_request = test::JsonRequest("GetItem", "{}");
  unsigned_request.peer = "192.0.2.1:1000";
  absl::Duration hold;
  EXPECT_FALSE(authenticator_->AuthenticateRequest(unsigned_request, absl::Now(), &hold).ok());
  EXPECT_EQ(hold, absl::InfiniteDuration()) << "both front ends share one account";
  authenticator_->AuthenticateCall(guesser, count);
  EXPECT_EQ(answered, 3);
  authenticator_->AuthenticateCall(guesser, count);
  EXPECT_EQ(answered, 4) << "no more than two are held back";

  EXPECT_EQ(CallWith(Basic("AKPLAIN", kPlainSecret)), "AKPLAIN") << "the right secret is not slowed";
  EXPECT_EQ(CallWith(Basic("AKHASHED", kHashedSecret)), "ThrottlingException") << "but it is not computed";
  const std::string hashed = Basic("AKHASHED", kHashedSecret);
  EXPECT_EQ(Call({.authorization = hashed, .certificate_names = {}, .peer = "192.0.2.2:1"}), "AKHASHED");
  EXPECT_EQ(CallWith(hashed), "AKHASHED") << "once it is known, nothing is computed";
  EXPECT_EQ(authenticator_->count(AuthFailure::kOverloaded), 1u);
}

TEST_F(AuthenticatorTest, NoMoreGuessesOfAnAddressAreComputedThanItMayFail) {
  options_.limiter.failures = {.burst = 3, .per_second = 1e-9};
  options_.delay = absl::ZeroDuration();
  Start(File(Hashed()));
  constexpr int kGuesses = 30;
  absl::BlockingCounter answered(kGuesses);
  std::atomic<int> computed = 0;
  for (int i = 0; i < kGuesses; ++i) {
    const std::string guess = Basic("AKHASHED", Cat("guess-", i));
    authenticator_->AuthenticateCall({.authorization = guess, .certificate_names = {}, .peer = kPeer},
                                     [&](const Authenticator::Result& result) {
                                       if (NameOf(result) == "UnrecognizedClientException") ++computed;
                                       answered.DecrementCount();
                                     });
  }
  answered.Wait();
  EXPECT_EQ(computed, 3);
}

TEST_F(AuthenticatorTest, RightSecretsDoNotUseUpWhatAnAddressMayFail) {
  options_.limiter.failures = {.burst = 1, .per_second = 1e-9};
  options_.delay = absl::ZeroDuration();
  Start(File(Hashed()));
  EXPECT_EQ(CallWith(Basic("AKHASHED", kHashedSecret)), "AKHASHED");
  EXPECT_EQ(CallWith(Basic("AKHASHED", "wrong")), "UnrecognizedClientException");
  EXPECT_EQ(CallWith(Basic("AKHASHED", "wronger")), "ThrottlingException");
}

TEST_F(AuthenticatorTest, WhatIsHeldBackComesLater) {
  options_.limiter.failures = {.burst = 0, .per_second = 0};
  options_.delay = absl::Milliseconds(20);
  Start(File(Plain()));
  const absl::Time start = absl::Now();
  EXPECT_EQ(CallWith("x"), "IncompleteSignatureException");
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(20));
}

TEST_F(AuthenticatorTest, AReloadCountsFromThenOn) {
  Start(File(Plain("AKOLD") + "," + Plain("AKKEPT")));
  const auto access = [&](const std::string& id) {
    const std::string authorization = Basic(id, kPlainSecret);
    Authenticator::Result found = absl::UnknownError("");
    authenticator_->AuthenticateCall({.authorization = authorization, .certificate_names = {}, .peer = kPeer},
                                     [&](Authenticator::Result result) { found = std::move(result); });
    return found;
  };
  const Authenticator::Result old = access("AKOLD");
  ASSERT_TRUE(old.ok());
  Write(File(Plain("AKNEW") + "," + Plain("AKKEPT")));
  EXPECT_FALSE(access("AKNEW").ok());
  ASSERT_TRUE(authenticator_->Reload().ok());
  EXPECT_TRUE(access("AKNEW").ok());
  EXPECT_TRUE(access("AKKEPT").ok());
  EXPECT_FALSE(access("AKOLD").ok());
  EXPECT_TRUE((*old)->Check({"GetItem", "orders"}).ok()) << "what was admitted keeps what it had";

  Write("{");
  EXPECT_FALSE(authenticator_->Reload().ok());
  EXPECT_TRUE(access("AKNEW").ok());
  std::filesystem::remove(options_.credentials_file);
  EXPECT_FALSE(authenticator_->Reload().ok());
  EXPECT_TRUE(access("AKNEW").ok());
}

TEST_F(AuthenticatorTest, ANewSecretOfAKeyMakesOldSignaturesWrong) {
  Start(File(Plain()));
  const absl::Time now = absl::Now();
  HttpRequest request = test::JsonRequest("GetItem", "{}");
  test::Signer{.key_id = "AKPLAIN", .secret = kPlainSecret}.Sign(now, &request);
  absl::Duration hold;
  EXPECT_EQ(NameOf(authenticator_->AuthenticateRequest(request, now, &hold)), "AKPLAIN");
  Write(File(Plain("AKPLAIN", "another-secret-01")));
  ASSERT_TRUE(authenticator_->Reload().ok());
  EXPECT_EQ(NameOf(authenticator_->AuthenticateRequest(request, now, &hold)), "InvalidSignatureException");
}

TEST_F(AuthenticatorTest, ABadFileStopsTheStart) {
  Write("{");
  EXPECT_FALSE(Authenticator::Start(options_).ok());
}

TEST(SecretChecker, TooManyComputationsAreRefused) {
  const SecretHash hash = *SecretHash::Parse(CheapHash());
  absl::Notification hold;
  std::atomic<int> wrong = 0;
  int busy = 0;
  {
    SecretChecker checker;
    constexpr auto kAlways = [] { return true; };
    checker.Check(hash, "first", kAlways, [&](SecretChecker::Answer) { hold.WaitForNotification(); });
    // Fills the queue. Depending on timing, the first check waits or runs.
    for (size_t i = 0; i < SecretChecker::kComputationsMax + 10; ++i) {
      checker.Check(hash, Cat("guess", i), kAlways, [&](SecretChecker::Answer answer) {
        if (answer == SecretChecker::Answer::kBusy) ++busy;
        if (answer == SecretChecker::Answer::kWrong) ++wrong;
      });
    }
    EXPECT_GE(busy, 10);
    EXPECT_LE(busy, 11);
    checker.Check(hash, "guess0", kAlways, [&](SecretChecker::Answer answer) {
      EXPECT_EQ(answer, SecretChecker::Answer::kWrong) << "what is computed already takes no place";
    });
    hold.Notify();
  }
  EXPECT_EQ(wrong + busy, static_cast<int>(SecretChecker::kComputationsMax) + 10);
}

}  // namespace armature::daemon::authenticator_test

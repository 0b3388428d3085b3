#include "daemon/auth/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/auth/crypto.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::credentials_test {

constexpr char kSecret[] = "0123456789abcdef";
constexpr char kPolicies[] = R"("policies": {"reader": {"allow": [{"operations": ["GetItem", "Query*"],
    "tables": ["orders", "logs-*"]}]}, "root": {"allow": [{"operations": ["*"], "tables": ["*"]}], "admin": true}})";

absl::StatusOr<std::shared_ptr<const Credentials>> Parse(const std::string& json) {
  return Credentials::Parse(json, std::make_shared<FailureLog>());
}

std::string With(std::string_view members) { return Cat("{", members, ", ", kPolicies, "}"); }

// The text of the error.
std::string Fault(const std::string& json) {
  const auto parsed = Parse(json);
  return parsed.ok() ? "OK" : std::string(parsed.status().message());
}

TEST(Credentials, KeysAndCertificatesGetTheirPolicies) {
  const auto parsed = Parse(With(R"json("access_keys": [
      {"id": "AK-reader", "secret": "0123456789abcdef", "policy": "reader"},
      {"policy": "root", "secret_hash": "$scrypt$ln=10,r=1,p=1$c2FsdHNhbHQ=$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
       "id": "AK_ROOT"}],
      "certificates": [{"name": "app.example.org", "policy": "reader"}, {"name": "O=x, CN=y z", "policy": "root"}])json"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Credentials& credentials = **parsed;
  EXPECT_EQ(credentials.key_count(), 2u);
  EXPECT_EQ(credentials.certificate_count(), 2u);

  const AccessKey* const reader = credentials.FindKey("AK-reader");
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->secret, kSecret);
  EXPECT_FALSE(reader->secret_hash.has_value());
  EXPECT_EQ(reader->access->principal(), "AK-reader");
  EXPECT_TRUE(reader->access->Check({"GetItem", "orders"}).ok());
  EXPECT_FALSE(reader->access->Check({"PutItem", "orders"}).ok());

  const AccessKey* const root = credentials.FindKey("AK_ROOT");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->secret, "");
  EXPECT_TRUE(root->secret_hash.has_value());
  EXPECT_TRUE(root->access->Check({"admin:GetServerInfo", ""}).ok());

  EXPECT_EQ(credentials.FindKey("ak-reader"), nullptr);
  EXPECT_EQ(credentials.FindKey(""), nullptr);
  EXPECT_EQ(credentials.FindCertificate("app.example.org")->principal(), "app.example.org");
  EXPECT_TRUE(credentials.FindCertificate("O=x, CN=y z")->Check({"DeleteTable", "orders"}).ok());
  EXPECT_EQ(credentials.FindCertificate("example.org"), nullptr);
}

std::string Key(std::string_view members) { return With(Cat(R"("access_keys": [{)", members, "}]")); }
std::string PolicyOf(std::string_view members) { return Cat(R"({"policies": {"p": {)", members, "}}}"); }
std::string EntryOf(std::string_view members) { return PolicyOf(Cat(R"("allow": [{)", members, "}]")); }

TEST(Credentials, ErrorsNameThePlace) {
  const std::string hash_form =
      "must be $scrypt$ln=10..20,r=1..16,p=1..4$SALT$HASH with salt and hash in base64, and need at most 64 MiB";
  const struct {
    std::string json;
    std::string fault;
  } kCases[] = {
      {"", "is not JSON: Empty: no JSON found"},
      {"[]", "must be an object"},
      {"{}", "there is neither an access key nor a certificate, so nobody could do anything"},
      {With(R"("access_keys": [])"), "there is neither an access key nor a certificate, so nobody could do anything"},
      {R"({"acces_keys": []})", "acces_keys: is unknown; the file has access_keys, certificates and policies"},
      {R"({"policies": {}, "policies": {}})", "policies: is there twice"},
      {With(R"("access_keys": {})"), "access_keys: must be a list"},
      {With(R"("access_keys": [1])"), "access_keys[0]: must be an object"},
      {Key(R"("id": "AKA", "policy": "reader")"), "access_keys[0]: must have one of secret, secret_hash"},
      {Key(R"("secret": "0123456789abcdef", "policy": "reader")"), "access_keys[0]: lacks id"},
      {Key(R"("secret": "0123456789abcdef", "id": "AKA")"), "access_keys[0]: lacks policy"},
      {Key(R"("id": "AK")"), "access_keys[0].id: must have 3 to 128 characters"},
      {Key(R"("id": "AK/A")"), "access_keys[0].id: may hold letters, digits, - and _ only"},
      {Key(R"("id": "AK:A")"), "access_keys[0].id: may hold letters, digits, - and _ only"},
      {Key(R"("id": 7)"), "access_keys[0].id: must be a string"},
      {Key(R"("id": "AKA", "id": "AKB")"), "access_keys[0].id: is there twice"},
      {Key(R"("secret": "short")"), "access_keys[0].secret: must have 16 to 256 characters"},
      {Key(R"("secret": "0123456789 abcdef")"), "access_keys[0].secret: may hold printable ASCII without blanks only"},
      {Key(R"("secret_hash": "$scrypt$")"), "access_keys[0].secret_hash: " + hash_form},
      {Key(R"("policy": "writer")"), "access_keys[0].policy: there is no policy \"writer\""},
      {Key(R"("Secret": "0123456789abcdef")"),
       "access_keys[0].Secret: is unknown; an access key has id, secret or secret_hash, and policy"},
      {With(R"("access_keys": [{"id": "AKA", "secret": "0123456789abcdef", "policy": "reader"},
                               {"id": "AKA", "secret": "0123456789abcdef", "policy": "root"}])"),
       "access_keys[1]: the id \"AKA\" is there twice"},
      {With(R"("certificates": [{"policy": "reader"}])"), "certificates[0]: lacks name"},
      {With(R"("certificates": [{"name": "a"}])"), "certificates[0]: lacks policy"},
      {With(R"("certificates": [{"name": "a", "cn": "b"}])"),
       "certificates[0].cn: is unknown; a certificate has name and policy"},
      {With(R"("certificates": [{"name": "a", "policy": "reader"}, {"name": "a", "policy": "root"}])"),
       "certificates[1]: the name \"a\" is there twice"},
      {With(R"("certificates": [{"name": "AKA", "policy": "root"}],
              "access_keys": [{"id": "AKA", "secret": "0123456789abcdef", "policy": "reader"}])"),
       "certificates[0]: the name \"AKA\" is the id of an access key, too"},
      {R"({"policies": {"a b": {}}})", "policies.a b: the name must have 1 to 128 letters, digits, - or _"},
      {PolicyOf(R"("denies": [])"), "policies.p.denies: is unknown; a policy has allow, deny and admin"},
      {PolicyOf(R"("deny": {})"), "policies.p.deny: must be a list"},
      {PolicyOf(R"("deny": [{"operations": ["*"]}])"), "policies.p.deny[0]: lacks tables"},
      {EntryOf(R"("condition": [])"), "policies.p.allow[0].condition: must be an object"},
      {EntryOf(R"("condition": {"StringEquals": {"aws:SourceIp": "::1"}})"),
       "policies.p.allow[0].condition.StringEquals.aws:SourceIp: is not a supported condition key; supported are "
       "dynamodb:LeadingKeys, dynamodb:Attributes, dynamodb:Select, dynamodb:ReturnValues, dynamodb:EnclosingOperation "
       "and dynamodb:FullTableScan"},
      {PolicyOf(R"("admin": "true")"), "policies.p.admin: must be true or false"},
      {PolicyOf(R"("allow": {})"), "policies.p.allow: must be a list"},
      {EntryOf(R"("operations": ["GetItem"])"), "policies.p.allow[0]: lacks tables"},
      {EntryOf(R"("tables": ["t"])"), "policies.p.allow[0]: lacks operations"},
      {EntryOf(R"("operations": [])"), "policies.p.allow[0].operations: must not be empty"},
      {EntryOf(R"("operations": "GetItem")"), "policies.p.allow[0].operations: must be a list"},
      {EntryOf(R"("operations": ["admin:*"])"),
       "policies.p.allow[0].operations[0]: may hold letters and the wildcards * and ? (operations of the admin service "
       "are allowed by the policy's admin, not by patterns) only"},
      {EntryOf(R"("tables": ["ok", ""])"), "policies.p.allow[0].tables[1]: must have 1 to 255 characters"},
      {EntryOf(R"("tables": ["a b"])"),
       "policies.p.allow[0].tables[0]: may hold letters, digits, - _ . / and the wildcards * and ? only"},
      {EntryOf(R"("table": ["t"])"),
       "policies.p.allow[0].table: is unknown; an entry has operations, tables and condition"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Fault(c.json), c.fault) << c.json;
}

TEST(Credentials, ErrorsTellNoSecret) {
  EXPECT_EQ(Fault(Key(R"("secret": "0123456789abcdef", "secret": "x")")).find("0123"), std::string::npos);
  EXPECT_EQ(Fault(R"({"access_keys": [{"secret": "0123456789abcdef)").find("0123"), std::string::npos);
}

TEST(Credentials, SizesAreBounded) {
  std::string entries;
  for (size_t i = 0; i <= Credentials::kEntriesMax; ++i) {
    entries += R"({"operations": ["*"], "tables": ["*"]},)";
  }
  entries.pop_back();
  EXPECT_EQ(Fault(PolicyOf(Cat(R"("allow": [)", entries, "]"))), "policies.p.allow: has more than 100 elements");
  EXPECT_EQ(Fault(std::string(Credentials::kFileBytesMax + 1, ' ')), "is larger than 1048576 bytes");
  std::string deep = R"({"policies": )";
  for (int i = 0; i < 1000; ++i) deep += R"({"a":)";
  EXPECT_EQ(Fault(deep).substr(0, 12), "is not JSON:");
}

TEST(Credentials, AnyPrefixIsRefused) {
  const std::string whole = Key(R"("id": "AKA", "secret": "0123456789abcdef", "policy": "reader")");
  ASSERT_EQ(Fault(whole), "OK");
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NE(Fault(whole.substr(0, i)), "OK");
}

class CredentialsFile : public testing::Test {
 protected:
  void Write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  std::string Load() {
    const auto loaded = Credentials::Load(path_, std::make_shared<FailureLog>());
    return loaded.ok() ? "OK" : std::string(loaded.status().message());
  }

  const test::TempDir directory_;
  const std::string path_ = directory_.path("credentials.json");
};

TEST_F(CredentialsFile, IsReadIfNobodyElseMayUseIt) {
  const std::string valid = Key(R"("id": "AKA", "secret": "0123456789abcdef", "policy": "reader")");
  for (const mode_t mode : {0600, 0400, 0700}) {
    Write(valid, mode);
    EXPECT_EQ(Load(), "OK") << mode;
  }
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610, 0601}) {
    Write(valid, mode);
    const std::string text = Load();
    EXPECT_EQ(text.substr(0, path_.size()), path_);
    EXPECT_NE(text.find("run: chmod 600 " + path_), std::string::npos) << text;
  }
}

TEST_F(CredentialsFile, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  Write("{}", 0600);
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(Load(), Cat(path_, ": belongs to user 65534, who could change it; run: chown 0 ", path_));
}

TEST_F(CredentialsFile, OfRootMayBeReadByTheGroupOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string valid = Key(R"("id": "AKA", "secret": "0123456789abcdef", "policy": "reader")");
  chmod(directory_.path("").c_str(), 0755);
  const auto load_as_other = [this] {
    if (chown(path_.c_str(), 0, 65534) != 0 || setegid(65534) != 0 || seteuid(65534) != 0)
      return std::string("no change");
    const std::string text = Load();
    const bool is_back = seteuid(0) == 0 && setegid(0) == 0;
    return is_back ? text : "no way back";
  };
  for (const mode_t mode : {0640, 0440}) {
    Write(valid, mode);
    EXPECT_EQ(load_as_other(), "OK") << mode;
  }
  for (const mode_t mode : {0660, 0650, 0644, 0642, 0641}) {
    Write(valid, mode);
    EXPECT_NE(load_as_other().find("run: chmod 640 " + path_), std::string::npos) << mode;
  }
}

TEST_F(CredentialsFile, ErrorsNameTheFile) {
  EXPECT_EQ(Load(), Cat("cannot read ", path_, ": No such file or directory"));
  Write("{}", 0600);
  EXPECT_EQ(Load(), Cat(path_,
                        ": there is neither an access key nor a certificate, so nobody could do "
                        "anything"));
  Write(std::string(Credentials::kFileBytesMax + 1, ' '), 0600);
  EXPECT_EQ(Load(), Cat(path_, ": is larger than 1048576 bytes"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(Load(), Cat(path_, ": is not a file"));
}

TEST(SecretHash, KnowsItsSecretOnly) {
  const SecretHash hash = SecretHash::Of("correct horse");
  EXPECT_TRUE(hash.Matches("correct horse"));
  EXPECT_FALSE(hash.Matches("correct horsf"));
  EXPECT_FALSE(hash.Matches(""));
  EXPECT_NE(SecretHash::Of("correct horse").ToString(), hash.ToString()) << "each has its own salt";
  const auto parsed = SecretHash::Parse(hash.ToString());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->ToString(), hash.ToString());
  EXPECT_TRUE(parsed->Matches("correct horse"));
}

// RFC 7914, section 12, third vector. Only the first 32 bytes, which do not depend on the output length.
TEST(SecretHash, IsThePublishedAlgorithm) {
  const auto hash =
      SecretHash::Parse("$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU=$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI=");
  ASSERT_TRUE(hash.ok());
  EXPECT_TRUE(hash->Matches("pleaseletmein"));
}

TEST(SecretHash, OtherFormsAreRefused) {
  for (const std::string_view text : {"",
                                      "$",
                                      "$scrypt$",
                                      "plain",
                                      "$scrypt$ln=15,r=8,p=1$c2FsdHNhbHQ=$",
                                      "$scrypt$ln=9,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=21,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=20,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15,r=0,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15,r=17,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15,r=8,p=5$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15,r=8$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$r=8,ln=15,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15x,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=-15,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "$scrypt$ln=15,r=8,p=1$c2FsdA==$HASH",
                                      "$scrypt$ln=15,r=8,p=1$not base64!$HASH",
                                      "$scrypt$ln=15,r=8,p=1$c2FsdHNhbHQ=$HASH$",
                                      "$argon2$ln=15,r=8,p=1$c2FsdHNhbHQ=$HASH",
                                      "x$scrypt$ln=15,r=8,p=1$c2FsdHNhbHQ=$HASH"}) {
    std::string with_hash(text);
    const size_t at = with_hash.find("HASH");
    if (at != std::string::npos) with_hash.replace(at, 4, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    EXPECT_FALSE(SecretHash::Parse(with_hash).ok()) << with_hash;
  }
}

}  // namespace armature::daemon::credentials_test

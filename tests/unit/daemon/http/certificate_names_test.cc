#include "daemon/http/certificate_names.h"

#include <openssl/x509v3.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::certificate_names_test {

using testing::ElementsAre;
using testing::IsEmpty;

struct FreeOpenSsl {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

struct Name {
  int type;
  std::string bytes;
};

// Certificates with names that no tool would write.
class CertificateNamesTest : public testing::Test {
 protected:
  void AddCommonName(std::string_view name) {
    X509_NAME* const subject = X509_get_subject_name(certificate_.get());
    ASSERT_EQ(X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                         reinterpret_cast<const unsigned char*>(name.data()),
                                         static_cast<int>(name.size()), -1, 0),
              1);
  }

  void AddAlternatives(std::initializer_list<Name> names) {
    const std::unique_ptr<GENERAL_NAMES, FreeOpenSsl> list(GENERAL_NAMES_new());
    for (const Name& each : names) {
      GENERAL_NAME* const name = GENERAL_NAME_new();
      ASN1_STRING* const text = ASN1_STRING_type_new(each.type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
      ASN1_STRING_set(text, each.bytes.data(), static_cast<int>(each.bytes.size()));
      GENERAL_NAME_set0_value(name, each.type, text);
      sk_GENERAL_NAME_push(list.get(), name);
    }
    ASSERT_EQ(X509_add1_ext_i2d(certificate_.get(), NID_subject_alt_name, list.get(), 0, X509V3_ADD_APPEND), 1);
  }

  void AddDamagedAlternatives() {
    const std::string bytes = "\x30\x7f";
    ASN1_OCTET_STRING* const text = ASN1_OCTET_STRING_new();
    ASN1_OCTET_STRING_set(text, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    X509_EXTENSION* const extension = X509_EXTENSION_create_by_NID(nullptr, NID_subject_alt_name, 0, text);
    ASSERT_EQ(X509_add_ext(certificate_.get(), extension, -1), 1);
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(text);
  }

  std::vector<std::string> names() const { return CertificateNames(certificate_.get()); }

  const std::unique_ptr<X509, FreeOpenSsl> certificate_{X509_new()};
};

TEST_F(CertificateNamesTest, AlternativeNamesAreTextsInTheirOrder) {
  AddCommonName("common");
  AddAlternatives({{GEN_URI, "spiffe://example.org/app"},
                   {GEN_DNS, "app.example.org"},
                   {GEN_EMAIL, "app@example.org"},
                   {GEN_IPADD, std::string("\x7f\0\0\1", 4)},
                   {GEN_IPADD, std::string("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16)},
                   {GEN_DNS, "b.example.org"}});
  EXPECT_THAT(names(), ElementsAre("spiffe://example.org/app", "app.example.org", "app@example.org", "127.0.0.1",
                                   "2001:db8::1", "b.example.org"));
}

TEST_F(CertificateNamesTest, WithoutAlternativeNamesThereAreCommonNames) {
  EXPECT_THAT(names(), IsEmpty());
  AddCommonName("one");
  EXPECT_THAT(names(), ElementsAre("one"));
  AddCommonName("zw\xc3\xb6lf");
  AddCommonName(std::string_view("root\0.example.org", 17));
  EXPECT_THAT(names(), ElementsAre("one", "zw\xc3\xb6lf"));
}

TEST_F(CertificateNamesTest, NamesThatAreNoTextsAreLeftOut) {
  AddCommonName("common");
  AddAlternatives({{GEN_DNS, std::string("root\0.example.org", 17)},
                   {GEN_URI, std::string("\0", 1)},
                   {GEN_EMAIL, std::string("a@b\0", 4)},
                   {GEN_DNS, ""},
                   {GEN_IPADD, "12345"},
                   {GEN_IPADD, ""},
                   {GEN_DNS, "app.example.org"}});
  EXPECT_THAT(names(), ElementsAre("app.example.org"));
}

TEST_F(CertificateNamesTest, CommonNamesDoNotReplaceAlternativeOnesThatAreLeftOut) {
  AddCommonName("common");
  AddAlternatives({{GEN_DNS, std::string("root\0.example.org", 17)}});
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(CertificateNamesTest, DamagedOrSeveralListsNameNobody) {
  AddCommonName("common");
  AddDamagedAlternatives();
  EXPECT_THAT(names(), IsEmpty());
  AddAlternatives({{GEN_DNS, "app.example.org"}});
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace armature::daemon::certificate_names_test

#include "daemon/auth/crypto.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace armature::daemon::crypto_test {

TEST(Crypto, Sha256IsThePublishedOne) {
  EXPECT_EQ(Hex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// RFC 4231, cases 1, 2 and 6.
TEST(Crypto, HmacIsThePublishedOne) {
  EXPECT_EQ(Hex(HmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hex(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(HmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Crypto, HmacIsThatOfOpenSslForKeysOfAnyLength) {
  for (size_t size = 0; size <= 130; ++size) {
    const std::string key(size, static_cast<char>(size));
    Sha256Digest expected;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>("message"), 7,
         expected.data(), nullptr);
    EXPECT_EQ(HmacSha256(key, "message"), expected) << size;
  }
}

TEST(Crypto, ComparesWholeTexts) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abc", "abd"));
  EXPECT_FALSE(EqualInConstantTime("abc", "ab"));
  EXPECT_FALSE(EqualInConstantTime("", "a"));
}

TEST(Crypto, RandomBytesDiffer) {
  EXPECT_EQ(RandomBytes(40).size(), 40u);
  EXPECT_NE(RandomBytes(40), RandomBytes(40));
}

}  // namespace armature::daemon::crypto_test

#include <string>
#include <string_view>

#include "daemon/auth/crypto.h"
#include "daemon/auth/secret_hash.h"
#include "tools/armature/command.h"

namespace armature::cli {
namespace {

constexpr size_t kIdLength = 20;
constexpr size_t kSecretLength = 40;
constexpr std::string_view kIdAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
// No character has a meaning for a shell, in a URL or in a file of variables.
constexpr std::string_view kSecretAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// All characters of the alphabet are equally likely.
std::string RandomText(std::string_view alphabet, size_t length) {
  // Bytes at or above the largest multiple of the alphabet's size are dropped: they would favour its first characters.
  const size_t bound = 256 - 256 % alphabet.size();
  std::string text;
  while (text.size() < length) {
    for (const char byte : daemon::RandomBytes(length)) {
      const auto value = static_cast<unsigned char>(byte);
      if (value < bound && text.size() < length) text.push_back(alphabet[value % alphabet.size()]);
    }
  }
  return text;
}

struct NewOptions {
  std::string policy = "CHANGE-ME";
  bool hash = false;
};

absl::Status NewKey(const Session& session, const NewOptions& options) {
  const std::string id = "AK" + RandomText(kIdAlphabet, kIdLength - 2);
  const std::string secret = RandomText(kSecretAlphabet, kSecretLength);
  Json entry = {{"id", id}, {"policy", options.policy}};
  if (options.hash) {
    entry["secret_hash"] = daemon::SecretHash::Of(secret).ToString();
  } else {
    entry["secret"] = secret;
  }
  session.Print({{"AccessKeyId", id}, {"SecretAccessKey", secret}, {"FileEntry", entry}});
  return absl::OkStatus();
}

}  // namespace

void AddCredentialsCommands(CLI::App& app, Action* action) {
  CLI::App& credentials = *app.add_subcommand("credentials", "Access keys for the daemon's credentials file");
  credentials.require_subcommand(1);
  CLI::App& make = *credentials.add_subcommand("new", "Make an access key; needs no daemon and stores nothing");
  NewOptions& options = SetAction(make, action, NewKey);
  make.add_option("--policy", options.policy, "Name of a policy of the file")->capture_default_str();
  make.add_flag("--hash", options.hash,
                "Store a hash of the secret: then the key serves gRPC over TLS, but not signatures over HTTP");
  make.footer(
      "FileEntry belongs into access_keys of the credentials file; the user of the key gets the other two.\n"
      "Examples:\n  armature credentials new --policy reader\n  armature credentials new --policy reader --hash\n");
}

}  // namespace armature::cli

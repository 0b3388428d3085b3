#ifndef ARMATURE_TOOLS_ARMATURE_COPY_ENDPOINT_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_ENDPOINT_H_

// One side of a copy: where it is, and how to sign for it.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/armature/copy/http_link.h"
#include "tools/armature/copy/request_signature.h"

namespace armature::cli::copy {

// As the command line names a side.
struct EndpointArguments {
  std::string place;    // URL, HOST:PORT, or the name of a profile; empty: the cloud, by `profile`
  std::string profile;  // a profile of AWS with the credentials; empty: the environment's
  std::string region;   // empty: that of the URL, or of the profile
  bool compresses = false;
  absl::Duration timeout = absl::Seconds(30);
};

struct Endpoint {
  std::string name;  // "source" or "target", for errors
  LinkOptions link;
  LinkOptions streams;  // the endpoint of streams, which is another one in the cloud
  SigningKey key;
};

// Looks for a place that is no address among the profiles of `armature` first, then among those of AWS. Without
// credentials, requests to the cloud are an error; others are signed with a key that is no secret, since emulators want
// any signature. Errors: UsageError.
absl::StatusOr<Endpoint> ResolveEndpoint(std::string_view name, const EndpointArguments& arguments);

// The region in the name of one of the cloud's hosts; empty for other hosts.
std::string RegionOfHost(std::string_view host);

// The host of a URL with its port, as the header "host" has it. Errors: UsageError for anything but
// http://HOST[:PORT] and https://HOST[:PORT], with nothing but a slash behind it.
absl::StatusOr<std::string> HostOfUrl(std::string_view url);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_ENDPOINT_H_

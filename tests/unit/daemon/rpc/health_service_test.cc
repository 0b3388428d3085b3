#include "daemon/rpc/health_service.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "grpc/health/v1/health.pb.h"

namespace armature::daemon::health_service_test {

std::string RequestFor(std::string_view service) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  return request.SerializeAsString();
}

TEST(HealthService, TheServerAndItsServicesAreKnown) {
  EXPECT_TRUE(IsKnownToHealth(""));
  for (const std::string_view service :
       {"", "armature.api.v1.ItemService", "armature.api.v1.TableService", "armature.api.v1.StreamService",
        "armature.api.v1.StatementService", "armature.admin.v1.AdminService"}) {
    EXPECT_TRUE(IsKnownToHealth(RequestFor(service))) << service;
  }
  for (const std::string_view service :
       {"armature", "armature.api.v1.itemservice", "armature.api.v1.ItemService ", "grpc.health.v1.Health"}) {
    EXPECT_FALSE(IsKnownToHealth(RequestFor(service))) << service;
  }
}

TEST(HealthService, TheLastOfSeveralNamesCounts) {
  EXPECT_TRUE(IsKnownToHealth(RequestFor("no.such.Service") + RequestFor("armature.api.v1.ItemService")));
  EXPECT_FALSE(IsKnownToHealth(RequestFor("armature.api.v1.ItemService") + RequestFor("no.such.Service")));
}

TEST(HealthService, MalformedAndLongRequestsAreUnknown) {
  EXPECT_FALSE(IsKnownToHealth("\x0a\x05"));
  EXPECT_FALSE(IsKnownToHealth("\x0a\x02\xff\xfe"));
  const std::string unused("\x12\x01x");  // a field that no request has
  std::string request;
  while (request.size() + unused.size() <= 256) request += unused;
  EXPECT_TRUE(IsKnownToHealth(request));
  EXPECT_FALSE(IsKnownToHealth(request + unused));
}

}  // namespace armature::daemon::health_service_test

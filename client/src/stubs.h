#ifndef ARMATURE_CLIENT_SRC_STUBS_H_
#define ARMATURE_CLIENT_SRC_STUBS_H_

#include <memory>
#include <tuple>

#include "armature/admin/v1/admin.grpc.pb.h"
#include "armature/api/v1/service.grpc.pb.h"

namespace armature::client {

// The stubs of one channel, found by type. Thread-safety: thread-safe, as the stubs are.
struct Stubs {
  std::tuple<std::unique_ptr<api::v1::ItemService::Stub>, std::unique_ptr<api::v1::TableService::Stub>,
             std::unique_ptr<api::v1::StreamService::Stub>, std::unique_ptr<admin::v1::AdminService::Stub>>
      all;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_STUBS_H_

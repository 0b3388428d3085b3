#ifndef ARMATURE_DAEMON_RPC_REFLECTION_ANSWERS_H_
#define ARMATURE_DAEMON_RPC_REFLECTION_ANSWERS_H_

// Answers of the server reflection service, apart from its calls.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/descriptor.h"

namespace grpc::reflection::v1 {
class ServerReflectionResponse;
}  // namespace grpc::reflection::v1

namespace armature::daemon {

// The descriptors that the service publishes. A file is serialised at its first use, and then kept: files are few, and
// clients ask for the same ones.
//
// Thread-safety: thread-safe. Lifetime: the pool outlives it.
class DescriptorFiles {
 public:
  using File = const google::protobuf::FileDescriptor*;

  explicit DescriptorFiles(
      const google::protobuf::DescriptorPool* pool = google::protobuf::DescriptorPool::generated_pool())
      : pool_(*pool) {}

  const google::protobuf::DescriptorPool& pool() const { return pool_; }
  // The FileDescriptorProto of `file`, which lives as long as this object.
  std::string_view BytesOf(File file);

 private:
  const google::protobuf::DescriptorPool& pool_;
  absl::Mutex mutex_;
  absl::flat_hash_map<File, std::unique_ptr<const std::string>> bytes_ ABSL_GUARDED_BY(mutex_);
};

// The answers of one stream, in two steps, so that memory can be taken for an answer before it is made.
//
// An answer with a file contains the file first, also if the client has it already, and then the files that it needs,
// directly or not, but for those that were sent before in the stream.
//
// Serves grpc.reflection.v1 and v1alpha, whose messages have the same fields.
//
// Thread-safety: thread-compatible. Lifetime: services and files outlive it.
class ReflectionAnswers {
 public:
  // `services`: the full names to be listed.
  ReflectionAnswers(const std::vector<std::string>* services, DescriptorFiles* files);
  ~ReflectionAnswers();

  // Finds what answers a ServerReflectionRequest, which may be an error. False if the request is malformed.
  bool Find(std::string_view request);
  // Bytes of the answer that was found, at most.
  size_t bytes_max() const { return bytes_max_; }
  // The answer that was found, a ServerReflectionResponse. Call it once after Find.
  std::string Make();

 private:
  using Response = grpc::reflection::v1::ServerReflectionResponse;
  using File = DescriptorFiles::File;

  void FindAnswer();
  // `missing`: the error if `file` is null.
  void FindFiles(File file, const char* missing);
  void FindExtension();
  void FindExtensionNumbers(const std::string& type);
  void Fail(int code, const char* text);

  const std::vector<std::string>* const services_;
  DescriptorFiles* const files_;
  absl::flat_hash_set<File> sent_;

  // The answer that was found.
  std::unique_ptr<Response> response_;
  std::vector<File> found_;
  size_t bytes_max_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_RPC_REFLECTION_ANSWERS_H_

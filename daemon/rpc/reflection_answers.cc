#include "daemon/rpc/reflection_answers.h"

#include <algorithm>
#include <utility>

#include "daemon/rpc/rpc_status.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/reflection/v1/reflection.pb.h"

namespace armature::daemon {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;

namespace {

// Tag and length of a field of an answer take no more.
constexpr size_t kAnswerFieldBytes = 8;

}  // namespace

std::string_view DescriptorFiles::BytesOf(File file) {
  const absl::MutexLock lock(&mutex_);
  std::unique_ptr<const std::string>& bytes = bytes_[file];
  if (bytes == nullptr) {
    google::protobuf::FileDescriptorProto message;
    file->CopyTo(&message);
    bytes = std::make_unique<const std::string>(message.SerializeAsString());
  }
  return *bytes;
}

ReflectionAnswers::ReflectionAnswers(const std::vector<std::string>* services, DescriptorFiles* files)
    : services_(services), files_(files) {}

ReflectionAnswers::~ReflectionAnswers() = default;

bool ReflectionAnswers::Find(std::string_view request) {
  response_ = std::make_unique<Response>();
  found_.clear();
  ServerReflectionRequest* const echo = response_->mutable_original_request();
  const google::protobuf::LogSilencer silencer;  // clients write no lines into our log
  if (!echo->ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    response_.reset();
    return false;
  }
  response_->set_valid_host(echo->host());
  FindAnswer();
  bytes_max_ = response_->ByteSizeLong() + kAnswerFieldBytes;
  for (const File file : found_) bytes_max_ += files_->BytesOf(file).size() + kAnswerFieldBytes;
  return true;
}

std::string ReflectionAnswers::Make() {
  const std::unique_ptr<Response> response = std::move(response_);
  const std::vector<File> found = std::exchange(found_, {});
  for (const File file : found) {
    const std::string_view bytes = files_->BytesOf(file);
    response->mutable_file_descriptor_response()->add_file_descriptor_proto(bytes.data(), bytes.size());
    sent_.insert(file);
  }
  return response->SerializeAsString();
}

void ReflectionAnswers::FindAnswer() {
  const ServerReflectionRequest& request = response_->original_request();
  const google::protobuf::DescriptorPool& pool = files_->pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      return FindFiles(pool.FindFileByName(request.file_by_filename()), "File not found.");
    case ServerReflectionRequest::kFileContainingSymbol:
      return FindFiles(pool.FindFileContainingSymbol(request.file_containing_symbol()), "Symbol not found.");
    case ServerReflectionRequest::kFileContainingExtension:
      return FindExtension();
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      return FindExtensionNumbers(request.all_extension_numbers_of_type());
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : *services_) {
        response_->mutable_list_services_response()->add_service()->set_name(name);
      }
      return;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      break;
  }
  Fail(static_cast<int>(RpcCode::kUnimplemented), "");
}

void ReflectionAnswers::FindFiles(File file, const char* missing) {
  if (file == nullptr) return Fail(static_cast<int>(RpcCode::kNotFound), missing);
  absl::flat_hash_set<File> seen = {file};
  found_.push_back(file);
  for (size_t i = 0; i < found_.size(); ++i) {
    const File needing = found_[i];
    for (int j = 0; j < needing->dependency_count(); ++j) {
      const File needed = needing->dependency(j);
      // The files that a sent file needs were sent with it.
      if (!sent_.contains(needed) && seen.insert(needed).second) found_.push_back(needed);
    }
  }
}

void ReflectionAnswers::FindExtension() {
  const auto& request = response_->original_request().file_containing_extension();
  const google::protobuf::DescriptorPool& pool = files_->pool();
  const Descriptor* const type = pool.FindMessageTypeByName(request.containing_type());
  if (type == nullptr) return Fail(static_cast<int>(RpcCode::kNotFound), "Type not found.");
  const FieldDescriptor* const extension = pool.FindExtensionByNumber(type, request.extension_number());
  FindFiles(extension == nullptr ? nullptr : extension->file(), "Extension not found.");
}

void ReflectionAnswers::FindExtensionNumbers(const std::string& type) {
  const google::protobuf::DescriptorPool& pool = files_->pool();
  const Descriptor* const descriptor = pool.FindMessageTypeByName(type);
  if (descriptor == nullptr) return Fail(static_cast<int>(RpcCode::kNotFound), "Type not found.");
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(descriptor, &extensions);
  std::vector<int> numbers;
  numbers.reserve(extensions.size());
  for (const FieldDescriptor* const extension : extensions) numbers.push_back(extension->number());
  std::sort(numbers.begin(), numbers.end());
  auto* const answer = response_->mutable_all_extension_numbers_response();
  answer->set_base_type_name(type);
  answer->mutable_extension_number()->Add(numbers.begin(), numbers.end());
}

void ReflectionAnswers::Fail(int code, const char* text) {
  response_->mutable_error_response()->set_error_code(code);
  response_->mutable_error_response()->set_error_message(text);
}

}  // namespace armature::daemon

// make_operations OUT: writes the rows of the table of operations (operations.h) from the options of the methods
// (armature/options/v1/options.proto).
//
// A program of the build, which fails if an option is missing or names a field that the request does not have.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "armature/options/v1/options.pb.h"
#include "google/protobuf/descriptor.h"

namespace {

namespace options = ::armature::options::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;

constexpr const char* kFiles[] = {"armature/api/v1/service.proto", "armature/admin/v1/admin.proto"};

// "kWrittenItems" for ANSWER_KIND_WRITTEN_ITEMS.
std::string AnswerOf(const MethodDescriptor& method, const options::OperationFacts& facts) {
  constexpr size_t kPrefixChars = std::string_view("ANSWER_KIND_").size();
  if (method.client_streaming() || method.server_streaming()) return "kStream";
  std::string name = "k";
  bool is_first = true;
  for (const char c : options::AnswerKind_Name(facts.answer()).substr(kPrefixChars)) {
    if (c != '_') name += is_first ? c : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    is_first = c == '_';
  }
  return name;
}

// "kItem" for ItemService.
std::string PlaneOf(const MethodDescriptor& method) {
  const std::string& service = method.service()->name();
  return "k" + service.substr(0, service.rfind("Service"));
}

bool IsText(const google::protobuf::Descriptor& message, std::string_view path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* const field = message.FindFieldByName(std::string(path.substr(0, dot)));
  if (field == nullptr || field->is_repeated()) return false;
  if (dot == std::string_view::npos) return field->type() == FieldDescriptor::TYPE_STRING;
  return field->message_type() != nullptr && IsText(*field->message_type(), path.substr(dot + 1));
}

// The fault of the option of a method; empty: none.
std::string FaultOf(const MethodDescriptor& method, const options::OperationFacts& facts) {
  if (!method.options().HasExtension(options::operation)) return "it has no option armature.options.v1.operation";
  const bool is_stream = method.client_streaming() || method.server_streaming();
  if (is_stream != (facts.answer() == options::ANSWER_KIND_UNSPECIFIED)) {
    return is_stream ? "a stream has no kind of answer" : "the kind of its answer is not stated";
  }
  if (facts.source().empty() && !facts.other_source().empty()) return "it has an other_source and no source";
  for (const std::string& path : {facts.subject(), facts.source(), facts.other_source()}) {
    if (!path.empty() && !IsText(*method.input_type(), path)) return "its request has no text " + path;
  }
  return {};
}

std::string NameOf(const MethodDescriptor& method) {
  return (method.file()->package() == "armature.admin.v1" ? "admin:" : "") + method.name();
}

std::string RowOf(const MethodDescriptor& method, const options::OperationFacts& facts) {
  std::string row = "{\"" + NameOf(method) + "\", \"/" + method.service()->full_name() + "/" + method.name() +
                    "\", Plane::" + PlaneOf(method) + ", AnswerKind::" + AnswerOf(method, facts);
  for (const std::string& path : {facts.subject(), facts.source(), facts.other_source()}) row += ", \"" + path + "\"";
  return row + (facts.audited() ? ", true},\n" : ", false},\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  std::vector<const MethodDescriptor*> methods;
  for (const char* const name : kFiles) {
    const auto* const file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) methods.push_back(file->service(i)->method(j));
    }
  }
  std::ranges::sort(methods, {}, [](const MethodDescriptor* method) { return NameOf(*method); });
  std::string rows;
  for (const MethodDescriptor* const method : methods) {
    const options::OperationFacts& facts = method->options().GetExtension(options::operation);
    if (const std::string fault = FaultOf(*method, facts); !fault.empty()) {
      std::fprintf(stderr, "%s: %s: %s\n", method->file()->name().c_str(), method->full_name().c_str(), fault.c_str());
      return 1;
    }
    rows += RowOf(*method, facts);
  }
  // A file that stays as it is makes nothing to build again.
  std::ifstream old(argv[1]);
  if (std::string(std::istreambuf_iterator<char>(old), {}) == rows) return 0;
  return (std::ofstream(argv[1]) << rows).flush().good() ? 0 : 1;
}

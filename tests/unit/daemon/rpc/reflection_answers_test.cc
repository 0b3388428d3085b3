#include "daemon/rpc/reflection_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/rpc/rpc_status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/descriptor_database.h"
#include "google/protobuf/text_format.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"

namespace armature::daemon::reflection_answers_test {

using google::protobuf::FileDescriptorProto;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Files that need each other: top needs left and right, and both of them need base.
constexpr const char* kFiles[] = {
    R"pb(name: "base.proto"
         package: "t"
         message_type {
           name: "Base"
           field { name: "id" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
           extension_range { start: 100 end: 200 }
         }
         enum_type {
           name: "Color"
           value { name: "COLOR_RED" number: 0 }
         })pb",
    R"pb(name: "left.proto"
         package: "t"
         dependency: "base.proto"
         extension { name: "left" number: 120 type: TYPE_INT32 label: LABEL_OPTIONAL extendee: ".t.Base" })pb",
    R"pb(name: "right.proto"
         package: "t"
         dependency: "base.proto"
         extension { name: "right" number: 110 type: TYPE_INT32 label: LABEL_OPTIONAL extendee: ".t.Base" })pb",
    R"pb(name: "top.proto"
         package: "t"
         dependency: "left.proto"
         dependency: "right.proto"
         dependency: "base.proto"
         service {
           name: "Top"
           method { name: "Go" input_type: ".t.Base" output_type: ".t.Base" }
         })pb",
};

class ReflectionAnswersTest : public testing::Test {
 protected:
  ReflectionAnswersTest() {
    for (const char* const text : kFiles) {
      FileDescriptorProto file;
      EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &file));
      EXPECT_NE(pool_.BuildFile(file), nullptr) << file.name();
    }
  }

  ServerReflectionResponse Ask(const ServerReflectionRequest& request) { return AskOf(&answers_, request); }
  static ServerReflectionResponse AskOf(ReflectionAnswers* answers, const ServerReflectionRequest& request) {
    ServerReflectionResponse response;
    const bool is_found = answers->Find(request.SerializeAsString());
    EXPECT_TRUE(is_found);
    if (!is_found) return response;
    const size_t bytes_max = answers->bytes_max();
    const std::string bytes = answers->Make();
    EXPECT_LE(bytes.size(), bytes_max);
    EXPECT_TRUE(response.ParseFromString(bytes));
    EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
    EXPECT_EQ(response.valid_host(), request.host());
    return response;
  }
  ServerReflectionResponse AskForFile(const std::string& name) {
    ServerReflectionRequest request;
    request.set_file_by_filename(name);
    return Ask(request);
  }
  ServerReflectionResponse AskForSymbol(const std::string& name) {
    ServerReflectionRequest request;
    request.set_file_containing_symbol(name);
    return Ask(request);
  }
  ServerReflectionResponse AskForExtension(const std::string& type, int number) {
    ServerReflectionRequest request;
    request.mutable_file_containing_extension()->set_containing_type(type);
    request.mutable_file_containing_extension()->set_extension_number(number);
    return Ask(request);
  }
  ServerReflectionResponse AskForNumbers(const std::string& type) {
    ServerReflectionRequest request;
    request.set_all_extension_numbers_of_type(type);
    return Ask(request);
  }

  static std::vector<std::string> FilesOf(const ServerReflectionResponse& response) {
    std::vector<std::string> names;
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      names.push_back(file.name());
    }
    return names;
  }

  google::protobuf::DescriptorPool pool_;
  DescriptorFiles files_{&pool_};
  const std::vector<std::string> services_ = {"t.Top", "grpc.health.v1.Health"};
  ReflectionAnswers answers_{&services_, &files_};
};

void ExpectNotFound(const ServerReflectionResponse& response, std::string_view text) {
  EXPECT_EQ(response.message_response_case(), ServerReflectionResponse::kErrorResponse);
  EXPECT_EQ(response.error_response().error_code(), static_cast<int>(RpcCode::kNotFound));
  EXPECT_EQ(response.error_response().error_message(), text);
}

TEST_F(ReflectionAnswersTest, ServicesAreListed) {
  ServerReflectionRequest request;
  request.set_host("somewhere");
  request.set_list_services("*");
  const ServerReflectionResponse response = Ask(request);
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) names.push_back(service.name());
  EXPECT_EQ(names, services_);
}

TEST_F(ReflectionAnswersTest, AFileComesWithAllThatItNeeds) {
  EXPECT_THAT(FilesOf(AskForFile("top.proto")), ElementsAre("top.proto", "left.proto", "right.proto", "base.proto"));
}

TEST_F(ReflectionAnswersTest, NoFileComesTwiceUnlessItIsAskedFor) {
  EXPECT_THAT(FilesOf(AskForFile("left.proto")), ElementsAre("left.proto", "base.proto"));
  EXPECT_THAT(FilesOf(AskForFile("top.proto")), ElementsAre("top.proto", "right.proto"));
  EXPECT_THAT(FilesOf(AskForFile("top.proto")), ElementsAre("top.proto"));
  EXPECT_THAT(FilesOf(AskForFile("base.proto")), ElementsAre("base.proto"));
  ReflectionAnswers other(&services_, &files_);
  ServerReflectionRequest request;
  request.set_file_by_filename("right.proto");
  EXPECT_THAT(FilesOf(AskOf(&other, request)), ElementsAre("right.proto", "base.proto"));
}

TEST_F(ReflectionAnswersTest, AFileThatWasNotMadeCountsAsUnsent) {
  ServerReflectionRequest request;
  request.set_file_by_filename("left.proto");
  EXPECT_TRUE(answers_.Find(request.SerializeAsString()));
  EXPECT_THAT(FilesOf(AskForFile("right.proto")), ElementsAre("right.proto", "base.proto"));
}

TEST_F(ReflectionAnswersTest, SymbolsOfAllKindsAreFound) {
  for (const char* const name : {"t.Base", "t.Base.id", "t.Color", "t.COLOR_RED"}) {
    EXPECT_THAT(FilesOf(AskForSymbol(name)), ElementsAre("base.proto")) << name;
  }
  EXPECT_EQ(FilesOf(AskForSymbol("t.left")).front(), "left.proto");
  EXPECT_EQ(FilesOf(AskForSymbol("t.Top")).front(), "top.proto");
  EXPECT_EQ(FilesOf(AskForSymbol("t.Top.Go")).front(), "top.proto");
}

TEST_F(ReflectionAnswersTest, ExtensionsAreFound) {
  EXPECT_THAT(FilesOf(AskForExtension("t.Base", 110)), ElementsAre("right.proto", "base.proto"));
  const ServerReflectionResponse response = AskForNumbers("t.Base");
  EXPECT_EQ(response.all_extension_numbers_response().base_type_name(), "t.Base");
  EXPECT_THAT(response.all_extension_numbers_response().extension_number(), ElementsAre(110, 120));
}

TEST_F(ReflectionAnswersTest, WhatIsUnknownIsNotFound) {
  ExpectNotFound(AskForFile("other.proto"), "File not found.");
  ExpectNotFound(AskForFile(""), "File not found.");
  ExpectNotFound(AskForSymbol("t.Other"), "Symbol not found.");
  ExpectNotFound(AskForSymbol(".t.Base"), "Symbol not found.");
  ExpectNotFound(AskForExtension("t.Other", 110), "Type not found.");
  ExpectNotFound(AskForExtension("t.Top", 110), "Type not found.");
  ExpectNotFound(AskForExtension("t.Base", 111), "Extension not found.");
  ExpectNotFound(AskForExtension("t.Base", -1), "Extension not found.");
  ExpectNotFound(AskForNumbers("t.Other"), "Type not found.");
}

TEST_F(ReflectionAnswersTest, RequestsForNothingAreUnimplemented) {
  const ServerReflectionResponse response = Ask({});
  EXPECT_EQ(response.error_response().error_code(), static_cast<int>(RpcCode::kUnimplemented));
}

TEST_F(ReflectionAnswersTest, MalformedRequestsAreRefused) {
  EXPECT_FALSE(answers_.Find("\x1a\x05"));
  EXPECT_FALSE(answers_.Find("\x1a\x02\xff\xfe"));  // not UTF-8
  EXPECT_THAT(FilesOf(AskForFile("base.proto")), ElementsAre("base.proto"));
}

TEST(DescriptorFiles, BytesAreThoseOfTheFile) {
  DescriptorFiles files;
  const google::protobuf::FileDescriptor* const file = ServerReflectionRequest::descriptor()->file();
  FileDescriptorProto expected;
  file->CopyTo(&expected);
  const std::string_view bytes = files.BytesOf(file);
  EXPECT_EQ(bytes, expected.SerializeAsString());
  EXPECT_EQ(files.BytesOf(file).data(), bytes.data());
}

// The generated files, as the daemon publishes them.
TEST(DescriptorFiles, TheDaemonsOwnServicesAreFound) {
  google::protobuf::LinkMessageReflection<admin::v1::GetServerInfoRequest>();
  google::protobuf::LinkMessageReflection<api::v1::GetItemRequest>();
  google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  google::protobuf::LinkMessageReflection<grpc::reflection::v1alpha::ServerReflectionRequest>();
  DescriptorFiles files;
  const std::vector<std::string> services;
  for (const char* const name :
       {"armature.api.v1.ItemService", "armature.api.v1.TableService.TagResource", "armature.admin.v1.AdminService",
        "grpc.health.v1.Health.Check", "grpc.reflection.v1.ServerReflection.ServerReflectionInfo",
        "grpc.reflection.v1alpha.ServerReflection", "google.protobuf.Any"}) {
    ReflectionAnswers answers(&services, &files);
    ServerReflectionRequest request;
    request.set_file_containing_symbol(name);
    ASSERT_TRUE(answers.Find(request.SerializeAsString()));
    ServerReflectionResponse response;
    ASSERT_TRUE(response.ParseFromString(answers.Make()));
    // A client builds the files in a pool of its own.
    google::protobuf::SimpleDescriptorDatabase database;
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      FileDescriptorProto file;
      ASSERT_TRUE(file.ParseFromString(bytes));
      ASSERT_TRUE(database.Add(file));
    }
    google::protobuf::DescriptorPool pool(&database);
    EXPECT_NE(pool.FindFileContainingSymbol(name), nullptr) << name;
  }
}

// Both versions have the same messages, so that one implementation serves both.
TEST(ReflectionMessages, FieldsOfBothVersionsAreTheSame) {
  const google::protobuf::FileDescriptor* const v1 = ServerReflectionRequest::descriptor()->file();
  const google::protobuf::FileDescriptor* const alpha =
      grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file();
  ASSERT_EQ(v1->message_type_count(), alpha->message_type_count());
  for (int i = 0; i < v1->message_type_count(); ++i) {
    const google::protobuf::Descriptor* const message = v1->message_type(i);
    const google::protobuf::Descriptor* const other = alpha->message_type(i);
    ASSERT_EQ(message->name(), other->name());
    ASSERT_EQ(message->field_count(), other->field_count());
    for (int j = 0; j < message->field_count(); ++j) {
      EXPECT_EQ(message->field(j)->name(), other->field(j)->name());
      EXPECT_EQ(message->field(j)->number(), other->field(j)->number());
      EXPECT_EQ(message->field(j)->type(), other->field(j)->type());
    }
  }
}

}  // namespace armature::daemon::reflection_answers_test

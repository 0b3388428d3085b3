// Cost of the JSON protocol without the engine: reading and printing items of 20 attributes and about 1 KB.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/json/item_answers.h"
#include "daemon/json/item_requests.h"
#include "daemon/message_json/item_json.h"
#include "daemon/message_json/json_reader.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon {
namespace {

constexpr int kPageItems = 100;

// Attributes with text of 42 bytes, every fifth a number, and some of each other type.
std::string CanonicalItem() {
  codec::Attributes attributes;
  for (int i = 0; i < 20; ++i) {
    const std::string name = Cat(i < 10 ? "attribute0" : "attribute", i);
    attributes.emplace_back(name,
                            i % 5 == 0 ? codec::N(Cat(i * 1000, ".25")) : codec::S(Cat(name, std::string(31, 'v'))));
  }
  attributes.emplace_back("flag", codec::Bool(1));
  attributes.emplace_back("list", codec::L({codec::S("a"), codec::N("2"), codec::M({{"k", codec::S("v")}})}));
  attributes.emplace_back("tags", codec::Ss({"blue", "green", "red"}));
  const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(codec::Item(attributes));
  if (!item.ok()) std::abort();
  return item->bytes;
}

std::string BinaryItem() { return codec::Item({{"b", codec::B(std::string(1000, '\xA7'))}}); }

// An item with a quote in every tenth byte.
std::string EscapedItem() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "123456789\"";
  return codec::Item({{"s", codec::S(text)}});
}

std::string JsonOf(std::string_view item) {
  JsonWriter writer;
  WriteItem(item, &writer);
  return writer.Take();
}

void CountBytes(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * static_cast<int64_t>(state.iterations()));
}

void PrintItem(benchmark::State& state, const std::string& item) {
  size_t bytes = 0;
  for (auto _ : state) {
    JsonWriter writer;
    WriteItem(item, &writer);
    bytes = writer.Take().size();
    benchmark::DoNotOptimize(bytes);
  }
  CountBytes(state, bytes);
}
BENCHMARK_CAPTURE(PrintItem, usual, CanonicalItem());
BENCHMARK_CAPTURE(PrintItem, binary, BinaryItem());
BENCHMARK_CAPTURE(PrintItem, escaped, EscapedItem());

void PrintPageOf100Items(benchmark::State& state) {
  const std::string item = CanonicalItem();
  engine::ReadResult result;
  result.count = kPageItems;
  result.scanned_count = kPageItems;
  size_t bytes = 0;
  for (auto _ : state) {
    JsonPage page(std::nullopt, true);
    for (int i = 0; i < kPageItems; ++i) page.Add(item);
    bytes = page.Finish(result)->size();
    benchmark::DoNotOptimize(bytes);
  }
  CountBytes(state, bytes);
}
BENCHMARK(PrintPageOf100Items);

std::string PutOf(std::string_view item) { return Cat(R"({"TableName":"Things","Item":)", JsonOf(item), "}"); }

void ParseDocument(benchmark::State& state, const std::string& json) {
  for (auto _ : state) benchmark::DoNotOptimize(JsonDocument::Parse(json));
  CountBytes(state, json.size());
}
BENCHMARK_CAPTURE(ParseDocument, usual, PutOf(CanonicalItem()));

void ParsePut(benchmark::State& state, const std::string& json) {
  if (!ParsePutItem(json).ok()) state.SkipWithError("it is no put");
  for (auto _ : state) benchmark::DoNotOptimize(ParsePutItem(json));
  CountBytes(state, json.size());
}
BENCHMARK_CAPTURE(ParsePut, usual, PutOf(CanonicalItem()));
BENCHMARK_CAPTURE(ParsePut, binary, PutOf(BinaryItem()));
BENCHMARK_CAPTURE(ParsePut, escaped, PutOf(EscapedItem()));

// The engine's step after reading.
void CanonicalizeAPut(benchmark::State& state) {
  const absl::StatusOr<engine::WriteRequest> put = ParsePutItem(PutOf(CanonicalItem()));
  for (auto _ : state) benchmark::DoNotOptimize(codec::CanonicalizeItem(*put->item_wire));
}
BENCHMARK(CanonicalizeAPut);

void ParseGet(benchmark::State& state) {
  const std::string json = R"({"TableName":"Things","Key":{"id":{"S":"thing-000001"}},"ConsistentRead":true})";
  for (auto _ : state) benchmark::DoNotOptimize(ParseGetItem(json));
  CountBytes(state, json.size());
}
BENCHMARK(ParseGet);

}  // namespace
}  // namespace armature::daemon

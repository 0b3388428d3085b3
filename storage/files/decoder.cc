#include "storage/files/decoder.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "storage/base/strings.h"

namespace armature::files {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window; 16 selects the gzip format
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

absl::Status TruncatedError() { return absl::DataLossError("unexpected end of file"); }
absl::Status NoMemoryError() { return absl::ResourceExhaustedError("no memory to decompress with"); }

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() { is_good_ = inflateInit2(&stream_, kGzipWindowBits) == Z_OK; }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  bool is_good() const { return is_good_; }

  absl::StatusOr<size_t> Decode(std::string_view* input, char* output, size_t output_size) override {
    constexpr size_t kMax = std::numeric_limits<uInt>::max();
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = static_cast<uInt>(std::min(output_size, kMax));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out > 0) {
      if (state_ == State::kBetween && !input->empty()) BeginMember(input);
      const uInt room = stream_.avail_out;
      const auto given = static_cast<uInt>(std::min(input->size(), kMax));
      if (state_ != State::kInside) break;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input->data()));  // zlib does not modify its input
      stream_.avail_in = given;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      const bool has_progress = stream_.avail_in < given || stream_.avail_out < room;
      input->remove_prefix(given - stream_.avail_in);
      if (result == Z_STREAM_END) {
        state_ = State::kBetween;
        continue;
      }
      if (result == Z_MEM_ERROR) return NoMemoryError();
      if (result != Z_OK && result != Z_BUF_ERROR) {
        return absl::DataLossError(Cat("damaged gzip data: ", stream_.msg == nullptr ? "" : stream_.msg));
      }
      if (!has_progress) break;
    }
    if (state_ == State::kAfter && !input->empty()) {
      if (input->find_first_not_of('\0') != std::string_view::npos) {
        return absl::DataLossError("damaged gzip data: other bytes follow the compressed data");
      }
      *input = {};
    }
    return wanted - stream_.avail_out;
  }

  absl::Status CheckEnd() const override {
    return members_ > 0 && state_ != State::kInside ? absl::OkStatus() : TruncatedError();
  }

 private:
  enum class State {
    kBetween,  // before a member
    kInside,
    kAfter,  // within the zeros that follow the last member
  };

  // Bytes that begin no member are an error of Decode: ignoring them would hide damage of a member's first byte.
  void BeginMember(std::string_view* input) {
    if (members_ > 0 && input->front() != kGzipMagic.front()) {
      state_ = State::kAfter;
      return;
    }
    if (members_ > 0) inflateReset(&stream_);
    ++members_;
    state_ = State::kInside;
  }

  z_stream stream_ = {};
  bool is_good_ = false;
  State state_ = State::kBetween;
  int64_t members_ = 0;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (context_ != nullptr) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  }

  bool is_good() const { return context_ != nullptr; }

  absl::StatusOr<size_t> Decode(std::string_view* input, char* output, size_t output_size) override {
    ZSTD_outBuffer out = {output, output_size, 0};
    while (out.pos < out.size && (is_inside_ || !input->empty())) {
      ZSTD_inBuffer in = {input->data(), input->size(), 0};
      const size_t before = out.pos;
      const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(result) != 0) return Failed(result);
      input->remove_prefix(in.pos);
      is_empty_ = false;
      is_inside_ = result != 0;
      if (in.pos == 0 && out.pos == before) break;
    }
    return out.pos;
  }

  absl::Status CheckEnd() const override { return is_inside_ || is_empty_ ? TruncatedError() : absl::OkStatus(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  static absl::Status Failed(size_t result) {
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        return NoMemoryError();
      case ZSTD_error_frameParameter_windowTooLarge:
        return absl::DataLossError(
            Cat("the zstd data need a window of more than ", (1 << kZstdWindowLogMax) >> 20, " MB to be decompressed"));
      default:
        return absl::DataLossError(Cat("damaged zstd data: ", ZSTD_getErrorName(result)));
    }
  }

  const std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool is_inside_ = false;  // within a frame
  bool is_empty_ = true;
};

template <class T>
absl::StatusOr<std::unique_ptr<Decoder>> MakeGoodDecoder() {
  auto decoder = std::make_unique<T>();
  if (!decoder->is_good()) return NoMemoryError();
  return decoder;
}

}  // namespace

Compression CompressionOf(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGzipMagic)) return Compression::kGzip;
  return first_bytes.starts_with(kZstdMagic) ? Compression::kZstd : Compression::kNone;
}

absl::StatusOr<std::unique_ptr<Decoder>> MakeDecoder(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kGzip:
      return MakeGoodDecoder<GzipDecoder>();
    case Compression::kZstd:
      return MakeGoodDecoder<ZstdDecoder>();
  }
  return nullptr;
}

}  // namespace armature::files

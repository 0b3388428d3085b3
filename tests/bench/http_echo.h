#ifndef ARMATURE_TESTS_BENCH_HTTP_ECHO_H_
#define ARMATURE_TESTS_BENCH_HTTP_ECHO_H_

// The lower bound: the cost of a plain Beast server that answers as another server does.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace armature::bench {

// Serves on a free port of 127.0.0.1, which it passes to `ready`, and never returns. Reads each request completely with
// http::async_read, and answers with http::async_write. `answer` holds head and body of the answer.
[[noreturn]] void ServeWithBeast(const std::string& answer, size_t threads, const std::function<void(uint16_t)>& ready);

// Head and body of the answer of a server at "127.0.0.1:PORT" to `request`, which is complete. Ends the process if
// there is none.
std::string AnswerOf(const std::string& address, const std::string& request);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_HTTP_ECHO_H_

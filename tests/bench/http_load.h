#ifndef ARMATURE_TESTS_BENCH_HTTP_LOAD_H_
#define ARMATURE_TESTS_BENCH_HTTP_LOAD_H_

// Load on an HTTP server by one request sent again and again, and what it costs the server. Sixteen # in a request
// stand for a number that is another in each.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace armature::bench {

// Connections that stay, each with one request under way.
//
// Thread-safety: owned by one thread. Errors: anything unexpected ends the process with a line on stderr.
class HttpLoad {
 public:
  // `request`: its bytes, complete. `address`: "127.0.0.1:PORT".
  HttpLoad(const std::string& address, std::string request, size_t connections);
  ~HttpLoad();
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;

  // Sends `requests` and waits for all answers. Those must have `status`.
  void Run(size_t requests, int status = 200);

 private:
  struct Connection {
    int socket = -1;
    std::string received;
  };

  void Number();
  void Send(const Connection& connection);
  bool Receive(Connection* connection, int status) const;

  std::string request_;
  std::vector<size_t> places_;  // of the number
  uint64_t sent_ = 0;
  int epoll_ = -1;
  std::vector<Connection> connections_;
};

// Sends one request on a connection of its own; the whole answer.
std::string Exchange(const std::string& address, const std::string& request);

// CPU time that all threads of process `pid` have used, in nanoseconds.
int64_t CpuNanoseconds(pid_t pid);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_HTTP_LOAD_H_

// client.h: a client of the simulated server: blocking calls on a socket outside of the server's process.
// Threads:    one thread of a schedule uses a Client at a time.
// Owns:       its socket; the destructor closes it.
// Errors:     values; a client that gets what no client may get fails the schedule by what the scenario asserts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/schedule.h"
#include "flare/net/socket_address.h"
#include "support/stream_end.h"

namespace flare::sim {

using testing::StreamEnd;

class Client {
 public:
  explicit Client(const SocketAddress& address);
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  bool connected() const { return fd_ >= 0 && error_ == 0; }
  bool send(std::string_view text);
  // The next line without its end; nothing at the end of the stream: see end().
  std::optional<std::string> line();
  // The next bytes, so many; nothing when the stream ends before.
  std::optional<std::string> bytes(std::size_t size);
  // What came and nobody took.
  const std::string& unread() const { return in_; }
  // Sends the line, waits for the answer.
  std::optional<std::string> ask(std::string_view text);
  // Reads to the end of the stream.
  StreamEnd await_end();
  StreamEnd end() const { return end_; }
  void finish_sending();
  void close();
  void reset();

 private:
  bool fill();

  int fd_ = -1;
  int error_ = 0;
  StreamEnd end_ = StreamEnd::kOpen;
  std::string in_;
};

// What the kernel does by itself after a second: it asks again for each client that a full or a deferring listener has
// kept back.
void ask_stalled_clients();

// A thread of the scenario that is none of the product's. Joined at the end of its scope.
class Actor {
 public:
  Actor(Name name, std::function<void()> body);
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  ~Actor() { join(); }
  void join();

 private:
  int thread_;
};

}  // namespace flare::sim

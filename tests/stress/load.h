// load.h: clients in threads of their own, that connect, ask, stay or go, until they are told to end.
#pragma once

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "stress.h"
#include "support/line_client.h"

namespace flare::testing {

// What became of the requests. An end without an answer is allowed only where a server was stopped under the client.
struct LoadCounts {
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> refused{0};  // no connection
  std::atomic<std::uint64_t> ended{0};    // the stream ended before the answer
  std::atomic<std::uint64_t> wrong{0};    // another answer, or none in time
};

class Load {
 public:
  Load(const SocketAddress& address, int threads, std::uint64_t seed) : address_(address) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, seed, i] { run(Dice(seed, 100 + static_cast<std::uint64_t>(i))); });
    }
  }
  ~Load() { end(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  const LoadCounts& end() {
    over_.store(true);
    for (std::thread& one : threads_) {
      if (one.joinable()) one.join();
    }
    return counts_;
  }
  const LoadCounts& counts() const { return counts_; }

 private:
  void run(Dice dice) {
    std::array<LineClient, 4> held;
    while (!over_.load()) {
      LineClient& client = held[dice.below(held.size())];
      if (!client.connected() || dice.one_in(4)) client = LineClient(address_);
      if (!client.connected()) {
        ++counts_.refused;
        std::this_thread::yield();
        continue;
      }
      ask(client);
      // Resets leave no port in TIME_WAIT.
      if (dice.one_in(3)) client.reset();
    }
    for (LineClient& client : held) {
      if (client.connected()) client.reset();
    }
  }
  void ask(LineClient& client) {
    const std::optional<std::string> answer = client.ask("x");
    if (answer == "x") {
      ++counts_.answered;
    } else if (!answer && client.await_end() != StreamEnd::kOpen) {
      ++counts_.ended;
      client.close();
    } else {
      ++counts_.wrong;
      client.close();
    }
  }

  SocketAddress address_;
  LoadCounts counts_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace flare::testing

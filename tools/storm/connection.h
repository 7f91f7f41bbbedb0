// connection.h: one client connection of the storm, and the exact way in which it ended.
// Threads: one. Not here: when to send (load.h), counting (tally.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "storm/response_reader.h"
#include "storm/socket.h"

namespace flare::tools {

// How a connection ended. A drain is judged by these.
enum class Ending {
  kNone,
  kLocal,             // we closed it: the run is over, or this client's part is to reset
  kCloseAnnounced,    // end of stream after an answer that said Connection: close
  kEofIdle,           // end of stream between requests, not announced
  kEofUnused,         // end of stream before any request was sent
  kRefused,           // connect: nobody listens
  kConnectFailed,     // connect: any other error
  kResetUnused,       // reset before any request was sent
  kResetIdle,         // reset after an answer, nothing outstanding
  kEofOutstanding,    // end of stream, and the request was never answered
  kResetFirst,        // reset with the connection's first request outstanding
  kResetOutstanding,  // reset with a later request outstanding
  kTruncated,         // end of stream or reset inside an answer
  kBadResponse,       // not HTTP
  kTimeout,           // no whole answer, or no connection, in time
  kCount_
};

const char* ending_name(Ending ending);

class Connection {
 public:
  enum class Event { kNothing, kConnected, kAnswered, kEnded };

  // Starts to connect. kEnded at once when that is not possible.
  Event open(const Target& target, const ConnectOptions& options);
  // The socket is ready (or, for slow clients, a step is due: then at most `budget` bytes are read or sent).
  Event on_ready(bool writable, std::size_t budget = kAll);
  // Puts a request on its way; the text must outlive the answer. The connection is idle.
  Event send(std::string_view request, std::size_t budget = kAll);

  void end(Ending ending, bool with_reset);

  bool connecting() const { return connecting_; }
  bool outstanding() const { return outstanding_; }
  bool is_open() const { return socket_.open(); }
  bool wants_write() const { return connecting_ || (outstanding_ && !send_broken_ && !unsent_.empty()); }
  int fd() const { return socket_.fd(); }
  Ending ending() const { return ending_; }
  int error() const { return error_; }  // the errno of kConnectFailed
  std::uint64_t answered() const { return answered_; }
  const ResponseReader& reader() const { return reader_; }

  static constexpr std::size_t kAll = ~std::size_t{0};

 private:
  Event connected();
  Event write_some(std::size_t budget);
  Event read_some(std::size_t budget);
  Event on_bytes(std::string_view bytes);
  Event stream_ended(int error);  // 0: end of stream, else the errno of recv
  Event finish(Ending ending);

  Socket socket_;
  ResponseReader reader_;
  std::string_view unsent_;
  std::uint64_t sent_requests_ = 0, answered_ = 0;
  bool connecting_ = false, outstanding_ = false, close_announced_ = false, send_broken_ = false;
  Ending ending_ = Ending::kNone;
  int error_ = 0;
};

}  // namespace flare::tools

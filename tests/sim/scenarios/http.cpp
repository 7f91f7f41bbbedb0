#include "scenarios/http.h"

#include "scenarios/http_answers.h"

namespace flare::sim {

namespace {

std::int64_t sum(const std::vector<ShutdownReport>& reports, std::int64_t ShutdownReport::* field) {
  std::int64_t all = 0;
  for (const ShutdownReport& one : reports) all += one.*field;
  return all;
}

void require_requests(const std::vector<ShutdownReport>& reports, std::int64_t answered) {
  require(sum(reports, &ShutdownReport::requests) == answered, "answer", "a request was taken and not answered");
}

// Two requests in one piece, a body in two: whoever serves them, and whoever accepted the connection.
Answer ask_on_second(Client& second) {
  send_all(second, get("/1") + get("/2"));
  const Answer one = next_answer(second, "GET /1 ");
  require(next_answer(second, "GET /2 ").worker == one.worker, "answer", "two workers serve one connection");
  send_all(second, post("/up", 5) + "he");
  send_all(second, "llo");
  require(next_answer(second, "POST /up hello").worker == one.worker, "answer", "two workers serve one connection");
  return one;
}

Scenario handed_over(const Setup& setup) {
  return server_scenario("handoff", setup, [setup] {
    HttpServer server = start_http(setup);
    Client first(server.addresses().front());
    send_all(first, get("/first"));
    const Answer of_first = next_answer(first, "GET /first ");
    Client second(server.addresses().front());
    const Answer of_second = ask_on_second(second);
    // The threshold is 1: who serves the first one is busier by one, and gives the second one away.
    require(of_second.accepted_by != of_first.worker || of_second.was_handed_over(), "handoff",
            "a busier worker keeps what it accepted");
    send_all(first, get("/again"));
    require(next_answer(first, "GET /again ").worker == of_first.worker, "answer", "two workers serve one connection");
    const std::vector<ShutdownReport> reports = server.drain(0);  // a shutdown that reports
    require_sound(reports);
    require_requests(reports, 5);
    const int handed_over = of_first.was_handed_over() + of_second.was_handed_over();
    require(sum(reports, &ShutdownReport::handed_out) == handed_over, "report",
            "handed out is not what was handed out");
    require(rest_of(first).empty() && rest_of(second).empty(), "answer", "something stands behind the last answer");
    ++handoff_tally().ended;
    handoff_tally().handed_over += handed_over > 0;
  });
}

// The one answer of a connection that ends with it.
void require_last(Client& client, std::string_view asked) {
  std::string text = rest_of(client);
  const std::optional<Answer> one = take_answer(text, asked);
  require(one.has_value() && text.empty(), "answer", "another answer than expected, or none, or more than one");
  require(one->last, "answer", "the last answer of a drain does not say so");
}

// Both, if the first one's handler ran before the drain began, for they were sent in one piece;
// else at least the first.
std::int64_t require_pair(Client& client) {
  std::string text = rest_of(client);
  const std::optional<Answer> one = take_answer(text, "GET /1 ");
  require(one.has_value(), "answer", "what was sent before the drain is not answered");
  if (text.empty()) {
    require(one->drain_begins, "answer", "of two requests that were read whole one is not answered");
    require(one->last, "answer", "the last answer of a drain does not say so");
    return 1;
  }
  require(!one->last, "answer", "something stands behind the last answer");
  const std::optional<Answer> two = take_answer(text, "GET /2 ");
  require(two.has_value() && text.empty(), "answer", "another answer than expected, or more than two");
  return 2;
}

// One connection in the middle of a request, one idle, one with two requests that may or may not have been read.
Scenario drained(const Setup& setup) {
  return server_scenario("drain", setup, [setup] {
    const auto drain_begins = std::make_shared<Atomic<bool>>(false);
    HttpServer server = start_http(setup, Telling{drain_begins});
    const SocketAddress address = server.addresses().front();
    Client idle(address);
    send_all(idle, get("/idle"));
    static_cast<void>(next_answer(idle, "GET /idle "));
    Client half(address);
    send_all(half, post("/half", 5) + "he");
    Client pair(address);
    send_all(pair, get("/1") + get("/2"));
    std::int64_t answered = 2;
    Actor clients("clients", [&] {
      wait_for(100 * kMillisecond);  // longer than the grace
      send_all(half, "llo");
      require_last(half, "POST /half hello");
      require(rest_of(idle).empty(), "answer", "an answer to nothing");
      answered += require_pair(pair);
      for (Client* one : {&half, &idle, &pair}) one->close();
    });
    drain_begins->store(true);
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(1000);
    require(Schedule::current()->now() - before <= 101 * kMillisecond, "late",
            "the drain waits though all is answered");
    clients.join();
    require_sound(reports);
    require_requests(reports, answered);
    require(sum(reports, &ShutdownReport::timed_out) == 0, "report", "a connection was cut though all were answered");
  });
}

// An idle client asks twice within the grace, and another one never ends its head: it has until the deadline.
Scenario drained_with_late_requests(const Setup& setup) {
  return server_scenario("drain-late", setup, [setup] {
    HttpServer server = start_http(setup);
    Client idle(server.addresses().front());
    send_all(idle, get("/idle"));
    static_cast<void>(next_answer(idle, "GET /idle "));
    Client half(server.addresses().front());
    send_all(half, "GET /half HT");
    Actor clients("clients", [&] {
      wait_for(10 * kMillisecond);
      send_all(idle, get("/late"));
      Schedule::current()->yield();
      send_all(idle, get("/never"));  // before, while or after the first one is answered: no reset in any case
      require_last(idle, "GET /late ");
      idle.close();
      require(rest_of(half).empty(), "answer", "half a head is answered at the deadline");
    });
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(200);
    require(Schedule::current()->now() - before <= 201 * kMillisecond, "late", "the drain is longer than its timeout");
    require_sound(reports);
    require_requests(reports, 2);
    require(sum(reports, &ShutdownReport::timed_out) == 1, "report", "not exactly the unfinished head was cut");
  });
}

// The head's own deadline comes before the drain's: it is answered, and the drain does not wait any longer.
Scenario drained_with_head_deadline(const Setup& setup) {
  return server_scenario("drain-408", setup, [setup] {
    HttpConfig config;
    config.head_deadline = std::chrono::milliseconds(100);
    HttpServer server = start_http(setup, {}, config);
    Client half(server.addresses().front());
    send_all(half, "GET /half HT");
    Actor client("client", [&] {
      const std::string text = rest_of(half);
      const Answer one = said_by(text, {});
      require(one.last && text == refusal_text("408 Request Timeout", "Request Timeout", one), "answer",
              "half a head is not answered with 408");
      half.close();
    });
    const SimTime before = Schedule::current()->now();
    const std::vector<ShutdownReport> reports = server.drain(900);
    require(Schedule::current()->now() - before <= 101 * kMillisecond, "late", "the drain waits for nothing");
    require_sound(reports);
    require_requests(reports, 0);
  });
}

}  // namespace

std::vector<Scenario> http_scenarios(ListenerStrategy strategy) {
  Setup setup;
  setup.strategy = strategy;
  std::vector<Scenario> all = {handed_over(setup), drained(setup), drained_with_late_requests(setup),
                               drained_with_head_deadline(setup)};
  for (Scenario& one : all) one.name = "http." + strategy_text(strategy) + "." + one.name;
  return all;
}

HandoffTally& handoff_tally() {
  static HandoffTally tally;
  return tally;
}

}  // namespace flare::sim

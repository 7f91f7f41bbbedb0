// Generated attempts to smuggle: a hostile framing among harmless headers, in any case, order and split, is refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "http_driver.h"

namespace flare::testing {
namespace {

int below(int bound) {
  return *rc::gen::inRange(0, bound);
}

template <class T>
const T& one_of(const std::vector<T>& all) {
  return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
}

std::string any_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z' && below(2) == 0) c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// Lines of a head that two servers could frame in two ways; what follows it looks like a body to one of them.
std::vector<std::string> hostile_lines() {
  const std::string length = any_case("content-length");
  const std::string coding = any_case("transfer-encoding");
  switch (below(7)) {
    case 0:  // both framings
      return {length + ": " + std::to_string(below(30)), coding + ": " + any_case("chunked")};
    case 1:  // two lengths that differ
      return {length + ": 5", any_case("content-length") + ": 6"};
    case 2:  // a length that is no number
      return {length + ": " + one_of<std::string>({"+5", "-5", "0x5", "5 5", "5,6", "5;", "", "5e0", "٥"})};
    case 3:  // a coding that only some take for chunked
      return {coding + ": " +
              one_of<std::string>({"xchunked", "chunked, identity", "identity, chunked", "chunked;q=1", "gzip, chunked",
                                   "\"chunked\"", "chunked chunked", "chun ked"})};
    case 4:  // a name that ends in a blank
      return {one_of<std::string>({length + " : 5", coding + "\t: chunked", length + " \t: 5"})};
    case 5:  // a folded line
      return {coding + ":", one_of<std::string>({" ", "\t"}) + "chunked"};
    default:  // a bare CR or LF, or a NUL, inside a line
      return {"X: a" + one_of<std::string>({"\r", std::string(1, '\0')}) + coding + ": chunked"};
  }
}

std::string hostile_request() {
  std::vector<std::vector<std::string>> groups = {{any_case("host") + ": x"}};
  for (int i = below(3); i > 0; --i) groups.push_back({"X-" + std::to_string(i) + ": " + std::string(1, 'v')});
  groups.insert(groups.begin() + below(static_cast<int>(groups.size()) + 1), hostile_lines());
  std::string text = one_of<std::string>({"POST", "GET", "PUT"}) + " / HTTP/1.1\r\n";
  for (const auto& group : groups) {
    for (const std::string& line : group) text += line + "\r\n";
  }
  return text + "\r\n";
}

// proves: C-HTTP-02, C-HTTP-05
RC_GTEST_PROP(SmugglingProperty, AHostileFramingIsRefusedOnceAndNothingBehindItIsRead, ()) {
  int handled = 0;
  HttpDriver driver([&](const HttpRequest&) {
    ++handled;
    return HttpResponse{};
  });
  const std::string all = hostile_request() + "0\r\n\r\nGET /secret HTTP/1.1\r\nHost: x\r\n\r\n";
  for (std::size_t at = 0; at < all.size();) {
    const auto size = static_cast<std::size_t>(1 + below(60));
    driver.send(all.substr(at, size));
    driver.run();
    at += size;
  }
  const std::vector<Answer> answers = read_answers(driver.read());
  RC_ASSERT(answers.size() == 1U);
  RC_ASSERT(answers[0].status == 400 || answers[0].status == 501);
  RC_ASSERT(answers[0].closes());
  RC_ASSERT(driver.client_sees_end());
  RC_ASSERT(handled == 0);
}

}  // namespace
}  // namespace flare::testing

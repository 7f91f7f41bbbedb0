#include "weak_orders/source_scan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace flare::sim {

namespace {

enum class Operation { kLoad, kStore, kReadModifyWrite };

std::vector<std::memory_order> notch_weaker(Operation operation, std::memory_order order) {
  using enum std::memory_order;
  switch (order) {
    case seq_cst:
      if (operation == Operation::kLoad) return {acquire};
      if (operation == Operation::kStore) return {release};
      return {acq_rel};
    case acq_rel:
      return {acquire, release};
    case acquire:
    case release:
      return {relaxed};
    default:
      return {};
  }
}

std::memory_order order_of(const std::string& name) {
  if (name == "acquire") return std::memory_order_acquire;
  if (name == "release") return std::memory_order_release;
  if (name == "acq_rel") return std::memory_order_acq_rel;
  if (name == "seq_cst") return std::memory_order_seq_cst;
  return std::memory_order_relaxed;
}

// What stands between the parenthesis at open and its partner.
std::string arguments_at(const std::string& line, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < line.size(); ++at) {
    if (line[at] == '(') ++depth;
    if (line[at] == ')' && --depth == 0) return line.substr(open + 1, at - open - 1);
  }
  throw std::runtime_error("an atomic operation must stand on one line: " + line);
}

}  // namespace

std::vector<OrderSite> orders_in(const std::string& source_line) {
  const std::string line = source_line.substr(0, source_line.find("//"));
  static const std::regex call(
      R"(\.(load|store|exchange|fetch_add|fetch_sub|compare_exchange_weak|compare_exchange_strong)\()");
  static const std::regex named("memory_order_([a-z_]+)");
  std::vector<OrderSite> found;
  for (std::sregex_iterator it(line.begin(), line.end(), call), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const auto open = static_cast<std::size_t>(it->position() + it->length()) - 1;
    const std::string arguments = arguments_at(line, open);
    std::vector<std::memory_order> orders;
    for (std::sregex_iterator order(arguments.begin(), arguments.end(), named); order != end; ++order) {
      orders.push_back(order_of((*order)[1]));
    }
    // pool.load(worker) is none of an atomic.
    if (orders.empty() && name == "load" && !arguments.empty()) continue;
    if (orders.empty()) orders.push_back(std::memory_order_seq_cst);
    const auto add = [&](Operation operation, std::memory_order order) {
      found.push_back({"", 0, source_line, order, notch_weaker(operation, order)});
    };
    // The last ones are this operation's own: those before them are of operations among its arguments.
    if (name.starts_with("compare_exchange") && orders.size() > 1) {
      add(Operation::kReadModifyWrite, orders[orders.size() - 2]);
      add(Operation::kLoad, orders.back());
    } else {
      add(name == "load"    ? Operation::kLoad
          : name == "store" ? Operation::kStore
                            : Operation::kReadModifyWrite,
          orders.back());
    }
  }
  return found;
}

std::vector<OrderSite> scan_orders(const std::string& directory) {
  std::vector<OrderSite> all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    std::ifstream stream(path);
    std::string line;
    for (unsigned number = 1; std::getline(stream, line); ++number) {
      for (OrderSite& site : orders_in(line)) {
        site.file = std::filesystem::relative(path, directory).string();
        site.line = number;
        all.push_back(std::move(site));
      }
    }
  }
  return all;
}

}  // namespace flare::sim

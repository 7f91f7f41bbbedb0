// pool.h: objects with numbers. A freed number and its memory are used again; references stay valid while it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace flare::sim {

inline constexpr int kNone = -1;

// T offers clear(), which makes it as new but keeps its memory.
template <class T>
class Pool {
 public:
  int take() {
    if (!free_.empty()) {
      const int index = free_.back();
      free_.pop_back();
      (*this)[index].clear();
      return index;
    }
    if (used_ == objects_.size()) objects_.push_back(std::make_unique<T>());
    objects_[used_]->clear();
    return static_cast<int>(used_++);
  }
  void give(int index) { free_.push_back(index); }

  T& operator[](int index) { return *objects_[static_cast<std::size_t>(index)]; }
  const T& operator[](int index) const { return *objects_[static_cast<std::size_t>(index)]; }

  // Numbers ever taken since the last reset: 0 to used() - 1.
  int used() const { return static_cast<int>(used_); }
  void reset() {
    used_ = 0;
    free_.clear();
  }

 private:
  std::vector<std::unique_ptr<T>> objects_;
  std::vector<int> free_;
  std::size_t used_ = 0;
};

// A doubly linked list through the objects of a pool. Link names the pair of members that it uses.
struct Links {
  int previous = kNone;
  int next = kNone;
  bool linked = false;
};

template <class T, Links T::* Link>
class List {
 public:
  int first = kNone;
  int last = kNone;
  int count = 0;

  bool empty() const { return first == kNone; }
  static int next(const Pool<T>& pool, int index) { return (pool[index].*Link).next; }
  static bool linked(const Pool<T>& pool, int index) { return (pool[index].*Link).linked; }

  void push_back(Pool<T>& pool, int index) {
    Links& links = pool[index].*Link;
    links = Links{last, kNone, true};
    (last == kNone ? first : (pool[last].*Link).next) = index;
    last = index;
    ++count;
  }
  void push_front(Pool<T>& pool, int index) {
    Links& links = pool[index].*Link;
    links = Links{kNone, first, true};
    (first == kNone ? last : (pool[first].*Link).previous) = index;
    first = index;
    ++count;
  }
  void remove(Pool<T>& pool, int index) {
    Links& links = pool[index].*Link;
    (links.previous == kNone ? first : (pool[links.previous].*Link).next) = links.next;
    (links.next == kNone ? last : (pool[links.next].*Link).previous) = links.previous;
    links = Links{};
    --count;
  }
  int pop_front(Pool<T>& pool) {
    const int index = first;
    remove(pool, index);
    return index;
  }
};

}  // namespace flare::sim

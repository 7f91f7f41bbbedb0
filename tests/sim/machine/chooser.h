// chooser.h: whatever is not determined is one call: choose.
#pragma once

namespace flare::sim {

class Chooser {
 public:
  // A number below options, which is 2 or more. 0 is always the calmest option: what Linux does in the simple case.
  // what says what is chosen, for traces.
  virtual unsigned choose(unsigned options, const char* what) = 0;

 protected:
  ~Chooser() = default;
};

class CalmChooser final : public Chooser {
 public:
  unsigned choose(unsigned, const char*) override { return 0; }
};

}  // namespace flare::sim

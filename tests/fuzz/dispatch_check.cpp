// What must hold after every step of a tape.
#include <algorithm>

#include "dispatch.h"
#include "target.h"

namespace flare::fuzz {

const std::array<std::pair<const char*, Dispatch::Operation>, 16> Dispatch::kOperations{{
    {"poll", &Dispatch::poll},
    {"register", &Dispatch::add},
    {"open event", &Dispatch::open_event},
    {"write", &Dispatch::write},
    {"unregister", &Dispatch::unregister},
    {"leave", &Dispatch::leave},
    {"reuse", &Dispatch::reuse},
    {"register exclusive", &Dispatch::add_exclusive},
    {"modify", &Dispatch::modify},
    {"wakeup", &Dispatch::wakeup},
    {"open pair", &Dispatch::open_pair},
    {"read", &Dispatch::read},
    {"dup", &Dispatch::duplicate},
    {"close", &Dispatch::close},
    {"move", &Dispatch::move},
    {"poll", &Dispatch::poll},
}};

void Dispatch::run(const Tape& tape) {
  begin();
  for (step_ = 0; step_ < tape.size(); ++step_) {
    const Op op = tape[step_];
    (this->*kOperations[op.code % kOperations.size()].second)(Arguments(op));
    check_state();
  }
  end();
}

void Dispatch::check_event(const Event& event, std::size_t from) {
  ReactorModel& model = models_[from];
  Retained kept{event, model.identity(), 0};
  if (event.is_wakeup()) {
    require(model.wake_pending(), step_, "a wake that nobody sent, or twice");
    model.wake_reported();
  } else {
    kept.serial = static_cast<unsigned>(event.token());
    const Registration* registration = model.find_serial(kept.serial);
    require(registration != nullptr, step_, "an event of a registration that is gone");
    require(std::find(seen_.begin(), seen_.end(), kept.serial) == seen_.end(), step_, "an event came twice");
    seen_.push_back(kept.serial);
    const Said says{event.is_readable(), event.is_writable(), event.is_error(), event.is_hup()};
    require(model.ready(*registration) == says, step_, "an event says what is not so");
  }
  retained_[next_retained_++ % kRetained] = kept;
}

void Dispatch::check_state() const {
  for (std::size_t i = 0; i < kReactors; ++i) {
    if (!reactors_[i]) continue;
    const Reactor& asked = *reactors_[i];
    require(asked.registered_count() == static_cast<int>(models_[i].books().size()), step_,
            "another number is registered");
    for (const Registration& one : models_[i].books())
      require(asked.is_registered(one.fd), step_, "a registration is gone");
  }
  const std::size_t kept = std::min(next_retained_, kRetained);
  for (std::size_t i = 0; i < kept; ++i) check_retained(retained_[i]);
}

// A reactor that did not give the event says no, whatever number, slot and generation it has itself.
void Dispatch::check_retained(const Retained& one) const {
  for (std::size_t i = 0; i < kReactors; ++i) {
    if (!reactors_[i]) continue;
    const Reactor& asked = *reactors_[i];
    if (models_[i].identity() != one.identity) {
      require(!asked.is_current(one.event), step_, "another reactor's event is current");
      continue;
    }
    const Registration* registration = one.serial == 0 ? nullptr : models_[i].find_serial(one.serial);
    const bool stands = one.serial == 0 || registration != nullptr;
    const int interest = registration != nullptr ? registration->interest : one.serial == 0 ? INTEREST_READ : 0;
    require(asked.is_current(one.event) == stands, step_, "is_current");
    require(asked.is_current(one.event, INTEREST_READ) == ((interest & INTEREST_READ) != 0), step_,
            "is_current of the read half");
    require(asked.is_current(one.event, INTEREST_WRITE) == ((interest & INTEREST_WRITE) != 0), step_,
            "is_current of the write half");
  }
}

}  // namespace flare::fuzz

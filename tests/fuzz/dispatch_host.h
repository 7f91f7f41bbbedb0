// dispatch_host.h: descriptors for the reactor's tapes: of the real kernel, or of the simulated one in the model build.
// Threads:    one.
// Owns:       nothing: the tape closes what it opened.
// Errors:     a call that the tape needs and that fails ends the process: there is nothing to compare then.
#pragma once

#include <array>

namespace flare::fuzz::host {

// Before each tape. The simulated kernel is as new, and number 0 is free for the tape's first descriptor.
void reset();
// What the simulated kernel picks next, of whatever the tape leaves open (the order of a batch).
void choose_next(unsigned choice);

int open_event();
std::array<int, 2> open_pair();
int duplicate(int fd);
void close(int fd);
bool is_open(int fd);
// One step of an eventfd's counter, or one byte to the other end. Whether there is another end is not asked.
void write_one(int fd);
// One read: a counter as a whole, or all bytes.
void read_all(int fd);

}  // namespace flare::fuzz::host

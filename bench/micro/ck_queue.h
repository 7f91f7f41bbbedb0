// ck_queue.h: ck_ring for many producers and one consumer, behind functions: its header is C that C++ does not take.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ck_queue ck_queue;

// Aborts without memory. capacity: a power of two.
ck_queue* ck_queue_new(unsigned capacity);
void ck_queue_free(ck_queue* queue);
int ck_queue_push(ck_queue* queue, int64_t token);
// Takes at most room tokens; how many there were.
size_t ck_queue_drain(ck_queue* queue, int64_t* out, size_t room);

#ifdef __cplusplus
}
#endif

#include "ck_queue.h"

#include <ck_ring.h>
#include <stdlib.h>

struct ck_queue {
  ck_ring_t ring;
  ck_ring_buffer_t slots[];
};

ck_queue* ck_queue_new(unsigned capacity) {
  void* memory = NULL;
  const size_t size = sizeof(ck_queue) + capacity * sizeof(ck_ring_buffer_t);
  if (posix_memalign(&memory, 64, (size + 63) / 64 * 64) != 0) abort();
  ck_queue* queue = memory;
  ck_ring_init(&queue->ring, capacity);
  return queue;
}

void ck_queue_free(ck_queue* queue) {
  free(queue);
}

int ck_queue_push(ck_queue* queue, int64_t token) {
  return ck_ring_enqueue_mpsc(&queue->ring, queue->slots, (void*)token);
}

size_t ck_queue_drain(ck_queue* queue, int64_t* out, size_t room) {
  size_t count = 0;
  for (void* token; count < room && ck_ring_dequeue_mpsc(&queue->ring, queue->slots, (void*)&token); ++count) {
    out[count] = (int64_t)token;
  }
  return count;
}

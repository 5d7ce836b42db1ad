/* queue: which of the crashes that wait is looked at next: the one that is most likely another defect.
 *
 *     struct queue *q = queue_new();
 *     queue_add(q, &crash);                                      // a row of the store; its bytes are not needed
 *     while ((rc = queue_take(q, queue_edges, store, &w, &e)) > 0) look_at(w.id);
 *     queue_free(q);
 *
 * What is known of a crash before it is run again: its signal, the edges it covers on the neutral build, the input it was
 * made from, and where honggfuzz saw it.  What no crash that was taken had in common with it counts: a signal most,
 * then the number of edges, then origin and place.  Of equals the oldest goes first.  So a burst of crashes of one
 * defect does not keep another waiting: after a few of the burst nothing about the others is new.
 *
 * Pure but for what the caller's function reads. */
#ifndef CAROL_TRIAGE_QUEUE_H
#define CAROL_TRIAGE_QUEUE_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

struct queue;

struct waiting {
    int64_t id;
    int slot; /* that found it; -1: none */
};

/* 1: the edges of that crash as the store keeps them (edges_decode) are in out; 0: it is not measured, or not yet. */
typedef int queue_edges_fn(void *arg, int64_t crash, struct buf *out, struct err *e);

struct queue *queue_new(void);
void queue_free(struct queue *q);
void queue_add(struct queue *q, const struct store_crash *c);
size_t queue_size(const struct queue *q);
/* 1: *w is the next and waits no longer; 0: none waits. */
CAROL_MUST_CHECK int queue_take(struct queue *q, queue_edges_fn *edges, void *arg,
                                struct waiting *w, struct err *e);

/* A queue_edges_fn for which arg is the store. */
CAROL_MUST_CHECK int queue_edges(void *store, int64_t crash, struct buf *out, struct err *e);

#endif

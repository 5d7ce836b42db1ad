/* area: lays out the memory shared with the neutral runtime, puts inputs in, takes results out.
 * Starts no process. */
#include "eval/area.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define SLOTS_BYTES (8U << 20) /* for results of one batch */
#define INPUTS_MAX 2048U
#define INPUTS_MIN 16U
#define SOFT_BYTES (4U << 20) /* of inputs in one batch; a larger one goes alone */
#define RING_CAP 4096U
#define SEEN_CAP 16384U

_Static_assert((int)COV_RUN_OK == (int)RUN_OK && (int)COV_RUN_QUARANTINED == (int)RUN_QUARANTINED,
               "the runtime and eval.h number the statuses alike");

static uint64_t words(const struct area *a)
{
    return ((uint64_t)a->h.n_edges + 63) / 64;
}

static uint64_t pages(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static void lay_out(struct cov_hdr *h, uint64_t data_len)
{
    uint64_t set = ((uint64_t)h->n_edges + 63) / 64 * 8;
    h->slot_bytes = (uint32_t)(sizeof(struct cov_slot) + set);
    h->max_inputs = SLOTS_BYTES / h->slot_bytes;
    if (h->max_inputs > INPUTS_MAX)
        h->max_inputs = INPUTS_MAX;
    if (h->max_inputs < INPUTS_MIN)
        h->max_inputs = INPUTS_MIN;
    h->ring_cap = RING_CAP;
    h->seen_cap = SEEN_CAP;
    h->flags = pages(sizeof *h);
    h->flags_len = pages(h->n_edges) + (uint64_t)(h->n_modules + 1) * 2 * PAGE;
    h->known = h->flags + h->flags_len;
    h->index = h->known + pages(set);
    h->slots = h->index + pages(h->max_inputs * sizeof(struct cov_input));
    h->ring = h->slots + pages((uint64_t)h->max_inputs * h->slot_bytes);
    h->seen = h->ring + pages(h->ring_cap * sizeof(struct cov_call));
    h->data = h->seen + pages(h->seen_cap * sizeof(uint64_t));
    h->data_len = pages(data_len);
    h->total = h->data + h->data_len;
}

int area_make(struct area *a, uint32_t n_edges, uint32_t n_modules, uint64_t data_len,
              struct err *e)
{
    *a =
        (struct area){.fd = -1, .h = {.n_edges = n_edges, .n_modules = n_modules, .cur = COV_NONE}};
    memcpy(a->h.magic, COV_MAGIC, sizeof a->h.magic);
    lay_out(&a->h, data_len);
    a->fd = memfd_create("carol-executor", MFD_CLOEXEC);
    if (a->fd < 0 || ftruncate(a->fd, (off_t)a->h.total) < 0)
        goto fail;
    void *p = mmap(NULL, a->h.total, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
    if (p == MAP_FAILED)
        goto fail;
    a->base = p;
    memcpy(a->base, &a->h, sizeof a->h);
    return 0;
fail:;
    int rc = err_sys(e, "cannot make %llu MB of shared memory for the executor",
                     (unsigned long long)(a->h.total >> 20));
    area_free(a);
    return rc;
}

void area_free(struct area *a)
{
    if (a->base)
        munmap(a->base, a->h.total);
    if (a->fd >= 0)
        close(a->fd);
    *a = (struct area){.fd = -1};
}

static struct cov_slot *slot(const struct area *a, uint32_t i)
{
    return (struct cov_slot *)(void *)(a->base + a->h.slots + (uint64_t)i * a->h.slot_bytes);
}

static struct cov_hdr *live(const struct area *a)
{
    return (struct cov_hdr *)(void *)a->base;
}

void area_empty(struct area *a)
{
    if (a->used > SOFT_BYTES) /* one large input: give its pages back */
        fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(a->h.data + SOFT_BYTES), (off_t)(a->h.data_len - SOFT_BYTES));
    memcpy(a->base, &a->h, offsetof(struct cov_hdr, beat));
    a->n = 0;
    a->used = 0;
}

bool area_add(struct area *a, const struct eval_input *in)
{
    if (a->n == a->h.max_inputs || in->size > a->h.data_len - a->used ||
        (a->n && a->used + in->size > SOFT_BYTES))
        return false;
    if (in->size)
        memcpy(a->base + a->h.data + a->used, in->data, in->size);
    struct cov_input *index = (struct cov_input *)(void *)(a->base + a->h.index);
    index[a->n] = (struct cov_input){a->used, in->size};
    *slot(a, a->n) = (struct cov_slot){0};
    a->used += in->size;
    a->n++;
    return true;
}

void area_arm(struct area *a, const uint64_t *known)
{
    live(a)->cur = COV_NONE;
    memcpy(a->base + a->h.known, known, words(a) * 8);
}

bool area_is_final(const struct area *a, uint32_t i)
{
    uint32_t s = slot(a, i)->status;
    return slot(a, i)->final && s > COV_RUN_NONE && s <= COV_RUN_QUARANTINED;
}

void area_set_final(struct area *a, uint32_t i, enum run_status s)
{
    memset(slot(a, i), 0, a->h.slot_bytes);
    slot(a, i)->status = (uint32_t)s;
    slot(a, i)->final = 1;
}

uint32_t area_current(const struct area *a)
{
    return __atomic_load_n(&live(a)->cur, __ATOMIC_ACQUIRE);
}

uint32_t area_beat(const struct area *a)
{
    return __atomic_load_n(&live(a)->beat, __ATOMIC_RELAXED);
}

void area_take(struct area *a, uint32_t i, bool list, struct eval_result *r, uint64_t *known)
{
    const struct cov_slot *s = slot(a, i);
    const uint64_t *bits = (const uint64_t *)(const void *)(s + 1);
    r->status = (enum run_status)s->status;
    r->signal = s->signal;
    r->cpu_us = s->cpu_us;
    if (list)
        edges_from_bits(&r->edges, bits, a->h.n_edges);
    else
        r->edges = (struct edges){.n = edges_count(bits, a->h.n_edges)};
    for (uint64_t w = 0; w < words(a); w++)
        known[w] |= bits[w];
}

bool area_call(const struct area *a, uint32_t i, struct eval_call *c)
{
    const struct cov_call *ring = (const struct cov_call *)(const void *)(a->base + a->h.ring);
    if (i >= a->h.ring_cap || ring[i].caller >= a->h.n_edges || ring[i].callee >= a->h.n_edges)
        return false;
    *c = (struct eval_call){(uint32_t)ring[i].caller, (uint32_t)ring[i].callee};
    return true;
}

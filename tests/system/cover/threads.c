/* threads: a fuzz target with threads that go on after whoever started them: one from a constructor, in the
 * background of everything, and one that the input 'T' leaves behind.  Each has code of its own. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

static void background_step(unsigned i)
{
    if (i % 3 == 1)
        sink = 1;
    else if (i % 3 == 2)
        sink = 2;
}

static void *background(void *arg)
{
    (void)arg;
    for (unsigned i = 0;; i++)
        background_step(i);
    return NULL;
}

static void left_step(unsigned i)
{
    if (i % 2)
        sink = 3;
    else
        sink = 4;
}

static void *left(void *arg)
{
    (void)arg;
    for (unsigned i = 0;; i++) {
        left_step(i);
        usleep(1);
    }
    return NULL;
}

#ifndef ONLY_LEFT
__attribute__((constructor)) static void begin(void)
{
    pthread_t t;
    pthread_create(&t, NULL, background, NULL);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pthread_t t;
    if (size && data[0] == 'T' && pthread_create(&t, NULL, left, NULL) == 0)
        pthread_detach(t);
    for (size_t i = 0; i < size; i++)
        if (data[i] == '<')
            sink += 5;
    usleep(200); /* time enough for whatever runs beside it */
    return 0;
}

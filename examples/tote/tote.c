/* tote: parses the example format.  It is here to be fuzzed: six memory-safety bugs are planted, each
 * marked "bug N" where it happens, from one that any mutation finds to ones that need several things
 * at once.  All of them crash without a sanitizer too.  Do not use it for anything else. */
#include "tote.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LAYERS 8

struct note {
    char *text;
    size_t length;
};

struct picture {
    uint32_t layers[MAX_LAYERS];
    uint8_t *palette; /* right behind the layers */
    size_t colours;
    size_t n_layers;
    struct note *note;
    int note_kept;
    uint32_t sum; /* so that nothing read is optimised away */
};

struct chunk {
    char type[5];
    const uint8_t *data;
    size_t size;
};

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

/* NAME: a title for the picture. */
static int read_name(struct picture *pic, const struct chunk *c)
{
    char title[40];
    memcpy(title, c->data, c->size); /* bug 1: any name longer than 40 bytes smashes the stack */
    for (size_t i = 0; i < c->size; i++)
        pic->sum += (uint32_t)title[i] * 31u;
    return 1;
}

/* PALT: three bytes for each colour. */
static int read_palette(struct picture *pic, const struct chunk *c)
{
    if (c->size % 3 != 0 || c->size == 0)
        return 0;
    free(pic->palette);
    pic->palette = malloc(c->size);
    if (!pic->palette)
        return 0;
    memcpy(pic->palette, c->data, c->size);
    pic->colours = c->size / 3;
    return 1;
}

/* PIXL: colour numbers, four bytes each. */
static int read_pixels(struct picture *pic, const struct chunk *c)
{
    if (!pic->palette)
        return 0;
    for (size_t i = 0; i + 4 <= c->size; i += 4) {
        uint32_t colour = get32(c->data + i);
        if (c->data[i] == 0 && colour >= pic->colours)
            return 0;
        pic->sum += pic->palette[(size_t)colour * 3]; /* bug 2: only small numbers were checked */
    }
    return 1;
}

/* LAYR: one layer, a 32-bit position. */
static int read_layer(struct picture *pic, const struct chunk *c)
{
    if (c->size != 4 || pic->n_layers > MAX_LAYERS + 1)
        return 0;
    /* bug 3: the ninth and tenth layer overwrite the palette pointer, which is freed at the end */
    volatile uint32_t *layers = pic->layers;
    layers[pic->n_layers++] = get32(c->data);
    return 1;
}

/* Leave out the byte order mark of a UTF-16 text. */
static void add_utf16(struct picture *pic, const uint8_t *text, size_t n)
{
    size_t left = n - 2; /* bug 4: a text of less than two bytes wraps around */
    for (size_t i = 0; i < left; i += 2)
        pic->sum += get16(text + 2 + i);
}

/* TEXT: "key=value"; the key "charset=utf-16" starts a text in that encoding. */
static int read_text(struct picture *pic, const struct chunk *c)
{
    static const char utf16[] = "charset=utf-16;";
    if (c->size >= sizeof utf16 - 1 && memcmp(c->data, utf16, sizeof utf16 - 1) == 0) {
        add_utf16(pic, c->data + sizeof utf16 - 1, c->size - (sizeof utf16 - 1));
        return 1;
    }
    const uint8_t *equals = memchr(c->data, '=', c->size);
    pic->sum += equals ? (uint32_t)(equals - c->data) : 0;
    return equals != NULL;
}

/* NOTE: keeps a note, or with no text drops the one there is. */
static int read_note(struct picture *pic, const struct chunk *c)
{
    if (pic->note && c->size == 0) {
        if (!pic->note_kept)
            return 0;
        pic->note_kept = 0;
        free(pic->note->text);
        free(pic->note); /* bug 5: the pointer stays, and SHOW uses it */
        return 1;
    }
    if (pic->note || c->size == 0)
        return 0;
    struct note *n = malloc(sizeof *n);
    if (!n)
        return 0;
    n->length = c->size;
    n->text = malloc(c->size);
    if (n->text)
        memcpy(n->text, c->data, c->size);
    pic->note = n;
    pic->note_kept = 1;
    return 1;
}

static int show_note(struct picture *pic)
{
    if (!pic->note || !pic->note->text)
        return 0;
    pic->sum += (uint32_t)pic->note->text[0];
    pic->note->text[0] = ' ';
    return 1;
}

/* EXTD: extensions, known by a 32-bit number. */
static int read_extension(struct picture *pic, const struct chunk *c)
{
    uint32_t table[16] = {0};
    if (c->size < 12)
        return 0;
    uint32_t id = get32(c->data), at = get32(c->data + 4), value = get32(c->data + 8);
    if (id != 0x7e57ab1eu)
        return 0;
    volatile uint32_t *slot = &table[at]; /* bug 6: behind a magic number, any index is taken */
    *slot = value;
    pic->sum += table[at & 15];
    return 1;
}

static int read_chunk(struct picture *pic, const struct chunk *c)
{
    if (strcmp(c->type, "NAME") == 0)
        return read_name(pic, c);
    if (strcmp(c->type, "PALT") == 0)
        return read_palette(pic, c);
    if (strcmp(c->type, "PIXL") == 0)
        return read_pixels(pic, c);
    if (strcmp(c->type, "LAYR") == 0)
        return read_layer(pic, c);
    if (strcmp(c->type, "TEXT") == 0)
        return read_text(pic, c);
    if (strcmp(c->type, "NOTE") == 0)
        return read_note(pic, c);
    if (strcmp(c->type, "SHOW") == 0)
        return show_note(pic);
    if (strcmp(c->type, "EXTD") == 0)
        return read_extension(pic, c);
    return 0;
}

int tote_parse(const uint8_t *data, size_t size)
{
    struct picture pic = {0};
    int known = 0;
    if (size < 5 || memcmp(data, "TOTE", 4) != 0 || data[4] != 1)
        return -1;
    for (size_t at = 5; at + 6 <= size;) {
        struct chunk c = {.size = get16(data + at + 4), .data = data + at + 6};
        memcpy(c.type, data + at, 4);
        if (c.size > size - at - 6)
            break;
        known += read_chunk(&pic, &c);
        at += 6 + c.size;
    }
    if (pic.note_kept) {
        free(pic.note->text);
        free(pic.note);
    }
    free(pic.palette);
    return pic.sum == 0x70e70e ? 0 : known;
}

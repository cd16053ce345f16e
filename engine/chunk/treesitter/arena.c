#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALIGN = 16,
  SMALL = 1024,           /* sizes up to this have a list for each multiple of ALIGN */
  SMALL_LISTS = SMALL / ALIGN + 1,
  LARGE_LISTS = 48,       /* above, one for each power of two */
  FIRST_BLOCK = 256 << 10,
  LAST_BLOCK = 4 << 20,   /* blocks double from the first size to this */
};

/* Before each piece: its list, and the size that fits into it. */
typedef struct {
  size_t size;
  size_t list;
} header;

typedef struct piece { struct piece *next; } piece;

typedef struct block {
  struct block *next;
  size_t size; /* bytes after the block's own header */
} block;

enum { BLOCK_HEADER = (sizeof(block) + ALIGN - 1) / ALIGN * ALIGN };

struct arena {
  char *at, *end;
  block *blocks; /* the newest first; at and end lie in it */
  size_t next;   /* the size of the next block */
  piece *freed[SMALL_LISTS + LARGE_LISTS];
};

static _Thread_local arena *current;

static void *checked(void *p, size_t size) {
  if (p == NULL && size > 0) {
    fprintf(stderr, "coderag-ls: out of memory: parsing needs %zu bytes\n", size);
    abort();
  }
  return p;
}

arena *arena_new(void) {
  arena *a = calloc(1, sizeof *a);
  if (a != NULL) a->next = FIRST_BLOCK;
  return a;
}

void arena_enter(arena *a) { current = a; }

/* drop frees all blocks but the one given. */
static void drop(arena *a, block *keep) {
  for (block *b = a->blocks; b != NULL;) {
    block *next = b->next;
    if (b != keep) free(b);
    b = next;
  }
  a->blocks = keep;
  a->at = a->end = NULL;
  if (keep != NULL) {
    keep->next = NULL;
    a->at = (char *)keep + BLOCK_HEADER;
    a->end = a->at + keep->size;
  }
  memset(a->freed, 0, sizeof a->freed);
}

void arena_leave(void) {
  arena *a = current;
  current = NULL;
  if (a == NULL) return;
  block *largest = NULL;
  for (block *b = a->blocks; b != NULL; b = b->next) {
    if (b->size <= LAST_BLOCK && (largest == NULL || b->size > largest->size)) largest = b;
  }
  drop(a, largest);
}

void arena_trim(arena *a) {
  if (a == NULL) return;
  drop(a, NULL);
  a->next = FIRST_BLOCK;
}

void arena_delete(arena *a) {
  if (a == NULL) return;
  drop(a, NULL);
  free(a);
}

/* list_of finds a size's list and rounds the size up to what its pieces hold. */
static size_t list_of(size_t *size) {
  size_t n = *size;
  if (n <= SMALL) {
    size_t list = n == 0 ? 1 : (n + ALIGN - 1) / ALIGN;
    *size = list * ALIGN;
    return list;
  }
  size_t list = SMALL_LISTS, fits = SMALL * 2;
  while (fits < n) {
    fits *= 2;
    list++;
  }
  *size = fits;
  return list;
}

static void *take(arena *a, size_t size) {
  if (size > SIZE_MAX / 4) return checked(NULL, size);
  size_t list = list_of(&size);
  piece *p = a->freed[list];
  if (p != NULL) {
    a->freed[list] = p->next;
    return p;
  }
  size_t whole = sizeof(header) + size;
  if ((size_t)(a->end - a->at) < whole) {
    size_t room = whole > a->next ? whole : a->next;
    block *b = checked(malloc(BLOCK_HEADER + room), BLOCK_HEADER + room);
    b->size = room;
    b->next = a->blocks;
    a->blocks = b;
    a->at = (char *)b + BLOCK_HEADER;
    a->end = a->at + room;
    if (a->next < LAST_BLOCK) a->next *= 2;
  }
  header *h = (header *)a->at;
  a->at += whole;
  h->size = size;
  h->list = list;
  return h + 1;
}

void *arena_malloc(size_t size) {
  if (current == NULL) return checked(malloc(size), size);
  return take(current, size);
}

void *arena_calloc(size_t count, size_t size) {
  if (current == NULL) return checked(calloc(count, size), count * size);
  if (size > 0 && count > SIZE_MAX / size) return checked(NULL, SIZE_MAX);
  return memset(take(current, count * size), 0, count * size);
}

void arena_free(void *p) {
  if (current == NULL) {
    free(p);
    return;
  }
  if (p == NULL) return;
  size_t list = ((header *)p - 1)->list;
  ((piece *)p)->next = current->freed[list];
  current->freed[list] = p;
}

void *arena_realloc(void *p, size_t size) {
  if (current == NULL) return checked(realloc(p, size), size);
  if (p == NULL) return take(current, size);
  size_t had = ((header *)p - 1)->size;
  if (size <= had) return p;
  void *q = take(current, size);
  memcpy(q, p, had);
  arena_free(p);
  return q;
}

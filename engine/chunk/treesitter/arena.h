#ifndef CODERAG_ARENA_H
#define CODERAG_ARENA_H

#include <stddef.h>

/*
 * An arena serves the allocations of one parse and takes them back all at once:
 * the tree need not be taken apart node by node, and nothing is locked.
 */
typedef struct arena arena;

/* arena_new returns an empty arena, NULL where there is no memory. */
arena *arena_new(void);
/* arena_enter makes this thread's arena_malloc and so on use a; arena_leave ends
 * that and takes back everything allocated in between. What was allocated
 * before must not be freed or resized in between, and what was allocated in
 * between is gone afterwards. */
void arena_enter(arena *a);
void arena_leave(void);
/* arena_trim gives the memory kept for the next parse back. a must not be in use. */
void arena_trim(arena *a);
void arena_delete(arena *a);

/* What malloc and so on do, in the thread's arena where it entered one. Like
 * tree-sitter's own they end the process where there is no memory. */
void *arena_malloc(size_t size);
void *arena_calloc(size_t count, size_t size);
void *arena_realloc(void *p, size_t size);
void arena_free(void *p);

#endif

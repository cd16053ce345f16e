/*
 * The walk over the syntax tree runs in C: one call per file instead of several
 * per node. The library itself is compiled into the Go binding; its few
 * functions are declared here, weakly, because the C files of one Go package
 * are linked by themselves before they are linked with those of another.
 */
#include "walk.h"

#include "arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__APPLE__)
#define WEAK __attribute__((weak_import))
#else
#define WEAK __attribute__((weak))
#endif

typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct TSLanguage TSLanguage;
typedef struct { uint32_t row, column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;

WEAK void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));
WEAK TSParser *ts_parser_new(void);
WEAK void ts_parser_delete(TSParser *);
WEAK bool ts_parser_set_language(TSParser *, const TSLanguage *);
WEAK void ts_parser_set_timeout_micros(TSParser *, uint64_t);
WEAK void ts_parser_set_cancellation_flag(TSParser *, const size_t *);
WEAK TSTree *ts_parser_parse_string(TSParser *, const TSTree *, const char *, uint32_t);
WEAK void ts_tree_delete(TSTree *);
WEAK TSNode ts_tree_root_node(const TSTree *);
WEAK uint16_t ts_node_symbol(TSNode);
WEAK uint32_t ts_node_start_byte(TSNode);
WEAK uint32_t ts_node_end_byte(TSNode);
WEAK TSPoint ts_node_start_point(TSNode);
WEAK TSPoint ts_node_end_point(TSNode);
WEAK bool ts_node_is_named(TSNode);
WEAK bool ts_node_is_missing(TSNode);
WEAK bool ts_node_has_error(TSNode);
WEAK uint32_t ts_node_child_count(TSNode);
WEAK TSTreeCursor ts_tree_cursor_new(TSNode);
WEAK void ts_tree_cursor_delete(TSTreeCursor *);
WEAK TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
WEAK uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_parent(TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
WEAK bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
WEAK uint32_t ts_language_symbol_count(const TSLanguage *);
WEAK const char *ts_language_symbol_name(const TSLanguage *, uint16_t);
WEAK uint32_t ts_language_field_count(const TSLanguage *);
WEAK const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t);

WEAK void tree_sitter_lua_external_scanner_deserialize(void *, const char *, unsigned);

enum { ERROR_SYMBOL = 0xFFFF };

struct walk_state {
  arena *arena;
  TSParser *parser; /* of walk_parse_only */
  const void *language;
  size_t cancel;
  walk_node *nodes;
  uint32_t count, capacity;
  int32_t *parents; /* the record above, by depth of the cursor */
  uint32_t parents_capacity;
  uint32_t error_bytes;
};

int walk_available(void) { return ts_parser_new != NULL && ts_tree_cursor_new != NULL; }

/* use_arenas may be called again and again: it sets the same. */
static void use_arenas(void) { ts_set_allocator(arena_malloc, arena_calloc, arena_realloc, arena_free); }

walk_state *walk_new(void) {
  walk_state *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->arena = arena_new();
  if (s->arena == NULL) {
    free(s);
    return NULL;
  }
  use_arenas();
  return s;
}

void walk_free(walk_state *s) {
  if (s == NULL) return;
  if (s->parser != NULL) ts_parser_delete(s->parser);
  arena_delete(s->arena);
  free(s->nodes);
  free(s->parents);
  free(s);
}

void walk_trim(walk_state *s) {
  arena_trim(s->arena);
  free(s->nodes);
  free(s->parents);
  s->nodes = NULL;
  s->parents = NULL;
  s->count = s->capacity = s->parents_capacity = 0;
}

void walk_cancel(walk_state *s) { __atomic_store_n(&s->cancel, 1, __ATOMIC_RELAXED); }
void walk_uncancel(walk_state *s) { __atomic_store_n(&s->cancel, 0, __ATOMIC_RELAXED); }

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

/* add records a node without the blanks at its ends. */
static bool add(walk_state *s, const char *src, TSNode n, uint32_t start, uint32_t end,
                uint16_t symbol, uint16_t field, int32_t parent, uint32_t depth, bool named) {
  if (s->count == s->capacity) {
    uint32_t capacity = s->capacity ? s->capacity * 2 : 1024;
    walk_node *nodes = realloc(s->nodes, capacity * sizeof *nodes);
    if (nodes == NULL) return false;
    s->nodes = nodes;
    s->capacity = capacity;
  }
  TSPoint from = ts_node_start_point(n), to = ts_node_end_point(n);
  while (start < end && blank(src[start])) {
    if (src[start] == '\n') { from.row++; from.column = 0; } else from.column++;
    start++;
  }
  while (end > start && blank(src[end - 1])) {
    end--;
    if (src[end] == '\n') to.row--;
  }
  uint8_t flags = named ? NODE_NAMED : 0;
  uint32_t i = start;
  while (i > 0 && (src[i - 1] == ' ' || src[i - 1] == '\t')) i--;
  if (i == 0 || src[i - 1] == '\n' || src[i - 1] == '\r') flags |= NODE_FIRST;
  if (symbol == ERROR_SYMBOL) flags |= NODE_ERROR;
  if (start == end && ts_node_is_missing(n)) flags |= NODE_MISSING;
  walk_node *r = &s->nodes[s->count++];
  r->start = start;
  r->end = end;
  r->start_row = from.row;
  r->end_row = to.row;
  r->parent = parent;
  r->symbol = symbol;
  r->field = field;
  r->depth = depth > 0xFFFF ? 0xFFFF : (uint16_t)depth;
  r->flags = flags;
  return true;
}

static bool set_parent(walk_state *s, uint32_t depth, int32_t index) {
  if (depth >= s->parents_capacity) {
    uint32_t capacity = s->parents_capacity ? s->parents_capacity * 2 : 256;
    int32_t *parents = realloc(s->parents, capacity * sizeof *parents);
    if (parents == NULL) return false;
    s->parents = parents;
    s->parents_capacity = capacity;
  }
  s->parents[depth] = index;
  return true;
}

static int walk(walk_state *s, const TSTree *tree, const char *src, uint32_t limit,
                const uint8_t *actions, uint32_t n_actions) {
  s->count = 0;
  s->error_bytes = 0;
  TSNode root = ts_tree_root_node(tree);
  uint16_t root_symbol = ts_node_symbol(root);
  if (!add(s, src, root, ts_node_start_byte(root), ts_node_end_byte(root), root_symbol, 0, -1, 0, true))
    return WALK_NO_MEMORY;
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  uint32_t depth = 0;
  int result = WALK_OK;
  if (!set_parent(s, 0, 0)) result = WALK_NO_MEMORY;
  /* An error's bytes are those that stand in no structure inside it. */
  if (root_symbol == ERROR_SYMBOL) s->error_bytes = ts_node_end_byte(root) - ts_node_start_byte(root);
  bool more = result == WALK_OK && ts_tree_cursor_goto_first_child(&cursor);
  if (more) depth = 1;
  while (more) {
    TSNode n = ts_tree_cursor_current_node(&cursor);
    uint16_t symbol = ts_node_symbol(n);
    uint8_t action = symbol < n_actions ? actions[symbol] : 0;
    bool error = symbol == ERROR_SYMBOL;
    bool named = error || ts_node_is_named(n);
    int32_t parent = s->parents[depth - 1];
    int32_t index = parent;
    bool down = false;
    if ((named || (action & WALK_RECORD)) && !(action & WALK_SKIP)) {
      uint32_t start = ts_node_start_byte(n), end = ts_node_end_byte(n);
      index = (int32_t)s->count;
      if (!add(s, src, n, start, end, symbol, ts_tree_cursor_current_field_id(&cursor), parent, depth, named)) {
        result = WALK_NO_MEMORY;
        break;
      }
      if (error) {
        s->error_bytes += end - start;
      }
      if (s->nodes[parent].symbol == ERROR_SYMBOL && ((action & WALK_DEFINES) || ts_node_child_count(n) > 0)) {
        s->error_bytes -= end - start;
      }
      down = error || (action & WALK_DESCEND) || end - start > limit || (end > start && ts_node_has_error(n));
    }
    if (down && ts_tree_cursor_goto_first_child(&cursor)) {
      if (!set_parent(s, depth, index)) {
        result = WALK_NO_MEMORY;
        break;
      }
      depth++;
      continue;
    }
    for (;;) {
      if (ts_tree_cursor_goto_next_sibling(&cursor)) break;
      depth--;
      if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
        more = false;
        break;
      }
    }
  }
  ts_tree_cursor_delete(&cursor);
  return result;
}

/* cpu_micros is the processor time of this thread in microseconds, 0 where the
 * system does not tell. */
static uint64_t cpu_micros(void) {
#ifdef CLOCK_THREAD_CPUTIME_ID
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
#endif
  return 0;
}

/* parse allows a time that the thread runs: the library counts the time that
 * passes, and on a busy machine the same file would be cut now this way, now
 * that. A parse that was stopped goes on where it was when it is called again. */
static TSTree *parse(walk_state *s, TSParser *parser, const char *src, uint32_t len, uint64_t timeout_micros) {
  uint64_t began = cpu_micros(), used = 0;
  for (;;) {
    ts_parser_set_timeout_micros(parser, timeout_micros - used);
    TSTree *tree = ts_parser_parse_string(parser, NULL, src, len);
    if (tree != NULL || began == 0 || __atomic_load_n(&s->cancel, __ATOMIC_RELAXED)) return tree;
    used = cpu_micros() - began;
    if (used + timeout_micros / 50 >= timeout_micros) return NULL;
  }
}

int walk_parse(walk_state *s, const void *language, const char *src, uint32_t len,
               uint64_t timeout_micros, uint32_t limit, const uint8_t *actions,
               uint32_t n_actions) {
  s->count = 0;
  /* A parser keeps what it allocated for the next parse: it must go with it. */
  arena_enter(s->arena);
  TSParser *parser = ts_parser_new();
  int result = WALK_NO_LANGUAGE;
  if (ts_parser_set_language(parser, language)) {
    ts_parser_set_cancellation_flag(parser, &s->cancel);
    const TSTree *tree = parse(s, parser, src, len, timeout_micros);
    result = tree == NULL ? WALK_STOPPED : walk(s, tree, src, limit, actions, n_actions);
  }
  ts_parser_delete(parser); /* for what the grammar's scanner holds */
  arena_leave();
  return result;
}

int walk_parse_only(walk_state *s, const void *language, const char *src, uint32_t len) {
  if (s->parser == NULL) s->parser = ts_parser_new();
  if (s->language != language) {
    s->language = NULL;
    if (!ts_parser_set_language(s->parser, language)) return WALK_NO_LANGUAGE;
    s->language = language;
  }
  TSTree *tree = ts_parser_parse_string(s->parser, NULL, src, len);
  if (tree == NULL) return WALK_STOPPED;
  ts_tree_delete(tree);
  return WALK_OK;
}

void walk_reset_lua(void) {
  if (tree_sitter_lua_external_scanner_deserialize != NULL) {
    static const char initial[2];
    tree_sitter_lua_external_scanner_deserialize(NULL, initial, sizeof initial);
  }
}

const walk_node *walk_nodes(const walk_state *s) { return s->nodes; }
uint32_t walk_count(const walk_state *s) { return s->count; }
uint32_t walk_error_bytes(const walk_state *s) { return s->error_bytes; }

uint32_t walk_symbol_count(const void *language) { return ts_language_symbol_count(language); }
const char *walk_symbol_name(const void *language, uint16_t symbol) { return ts_language_symbol_name(language, symbol); }
uint32_t walk_field_count(const void *language) { return ts_language_field_count(language); }
const char *walk_field_name(const void *language, uint16_t field) { return ts_language_field_name_for_id(language, field); }

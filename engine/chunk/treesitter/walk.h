#ifndef CODERAG_WALK_H
#define CODERAG_WALK_H

#include <stddef.h>
#include <stdint.h>

/* What the walk does at a node, by its symbol. */
enum {
  WALK_DESCEND = 1, /* look at the node's children, whatever its size */
  WALK_SKIP = 2,    /* do not record the node; its children are not looked at */
  WALK_RECORD = 4,  /* record the node although it is anonymous */
  WALK_DEFINES = 8, /* structure, which is no part of the bytes of an error around it */
};

enum {
  NODE_FIRST = 1,   /* nothing but blanks stand before the node on its line */
  NODE_ERROR = 2,   /* an ERROR node */
  NODE_MISSING = 4, /* a token that the parser made up */
  NODE_NAMED = 8,
};

typedef struct {
  uint32_t start, end;         /* bytes, blanks at both ends left out */
  uint32_t start_row, end_row; /* from 0, both inclusive */
  int32_t parent;              /* index of the record above, -1 for the root */
  uint16_t symbol, field;
  uint16_t depth;
  uint8_t flags;
} walk_node;

typedef struct walk_state walk_state;

/* walk_available tells whether the tree-sitter library is linked in. */
int walk_available(void);
walk_state *walk_new(void);
void walk_free(walk_state *s);
/* walk_trim frees the nodes. */
void walk_trim(walk_state *s);
/* walk_cancel makes the parse under way in another thread stop. */
void walk_cancel(walk_state *s);
void walk_uncancel(walk_state *s);

enum { WALK_OK = 0, WALK_STOPPED = 1, WALK_NO_LANGUAGE = 2, WALK_NO_MEMORY = 3 };

/*
 * walk_parse parses src and leaves the structural nodes in document order in
 * walk_nodes: the named children of the root, of each node whose symbol is to be
 * descended into and of each node longer than limit bytes. timeout_micros is
 * processor time where the system tells it.
 */
int walk_parse(walk_state *s, const void *language, const char *src, uint32_t len,
               uint64_t timeout_micros, uint32_t limit, const uint8_t *actions,
               uint32_t n_actions);
/* walk_parse_only parses as the library does by itself, with malloc and one
 * parser for many files, and throws the tree away: what parsing alone costs. */
int walk_parse_only(walk_state *s, const void *language, const char *src, uint32_t len);

/* walk_reset_lua makes Lua's scanner forget the last file. Its state is global:
 * only one Lua file may be parsed at a time. */
void walk_reset_lua(void);

const walk_node *walk_nodes(const walk_state *s);
uint32_t walk_count(const walk_state *s);
uint32_t walk_error_bytes(const walk_state *s);

uint32_t walk_symbol_count(const void *language);
const char *walk_symbol_name(const void *language, uint16_t symbol);
uint32_t walk_field_count(const void *language);
const char *walk_field_name(const void *language, uint16_t field);

#endif

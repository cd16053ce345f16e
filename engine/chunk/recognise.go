package chunk

import (
	"sort"
	"strings"
	"sync"
)

// recognise finds definitions line by line, without a syntax tree: by the
// keywords that start them, or by their shape. Where one ends follows from the
// indentation.
func (w *worker) recognise() {
	r := recogniserFor(w.in.Class.Language)
	var comments []Span
	if w.syntax != nil {
		comments = w.syntax.comments(w.src.text, nil)
	}
	objc := strings.HasPrefix(w.in.Class.Language, "objective-c")
	type open struct{ def, indent int }
	var stack []open
	lastFilled := 0
	pop := func(indent, end int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			d := &w.defs[stack[len(stack)-1].def]
			d.EndLine = max(d.EndLine, end)
			stack = stack[:len(stack)-1]
		}
	}
	at := 0
	for n := 1; n <= w.src.count(); n++ {
		line := w.src.line(n)
		text := strings.TrimLeft(line, " \t")
		if text == "" || w.src.blank(n) {
			continue
		}
		start := w.src.starts[n-1] + len(line) - len(text)
		for at < len(comments) && comments[at].End <= start {
			at++
		}
		if at < len(comments) && comments[at].Start <= start {
			continue // a comment: it belongs to what follows, if it is its documentation
		}
		indent := 0
		for _, c := range []byte(line[:len(line)-len(text)]) {
			if indent++; c == '\t' {
				indent += 3
			}
		}
		m, ok := r.line(line)
		if text[0] == '@' && objc {
			if indent = -1; text == "@end" { // what stands between is not indented
				pop(-1, n)
				lastFilled = n
				continue
			}
		}
		if !ok {
			if r.isImport(text) {
				pop(indent, lastFilled)
				w.importText(n, text)
			} else if !r.flat {
				w.endAt(text, indent, func(closes bool) {
					if closes {
						pop(indent+1, lastFilled)
						pop(indent, n)
					} else {
						pop(indent, lastFilled)
					}
				})
			}
			lastFilled = n
			continue
		}
		if r.repeats && len(stack) > 0 && w.defs[stack[len(stack)-1].def].Name == m.name {
			lastFilled = n // a further equation of the same function
			continue
		}
		pop(indent, lastFilled)
		d := def{parent: -1, head: n}
		d.Name, d.Kind, d.NameLine, d.StartLine, d.EndLine = strings.Clone(m.name), m.kind, n, n, n
		d.Signature = signature("", text, true, m.kind)
		if len(stack) > 0 {
			d.parent = stack[len(stack)-1].def
			p := &w.defs[d.parent]
			d.Parent = p.path(w.separator())
			if d.Kind == Function && (p.Kind == Class || p.Kind == Interface) {
				d.Kind = Method
			}
		}
		if m.owner != "" {
			d.Parent = qualified(d.Parent, strings.Clone(m.owner), w.separator())
		}
		d.Exported = w.exported(d.Name, d.Signature)
		if from, to := w.commentAbove(n, lastFilled+1); from > 0 {
			d.DocStart, d.DocEnd, d.StartLine = from, to, from
			d.Summary = summarise(w.src.span(from, to), w.syntax)
		}
		if d.Kind != Variable || d.parent < 0 || w.defs[d.parent].container() {
			stack = append(stack, open{len(w.defs), indent})
			w.defs = append(w.defs, d)
		}
		lastFilled = n
	}
	pop(-1, lastFilled)
	if requiring(w.in.Class.Language) {
		w.requires()
	}
	sort.SliceStable(w.imports, func(i, j int) bool { return w.imports[i].Line < w.imports[j].Line })
}

// endAt calls end where a line that starts no definition ends those that are
// indented as deep: closes tells whether the line itself is their end.
func (w *worker) endAt(text string, indent int, end func(closes bool)) {
	switch text[0] {
	case '}', ']', ')':
		rest := strings.Trim(text, "}]); \t,")
		if closes := rest == "" || strings.HasPrefix(rest, "//"); closes || text[0] == '}' {
			end(closes) // else the rest of a head: ") int {"
		}
		return
	case '{', '(', '[':
		return
	}
	switch word := firstWord(text); strings.ToLower(word) {
	case "end", "endfunction", "endmodule", "endtask", "endif", "fi", "done", "esac", "endclass":
		end(true)
	case "public", "private", "protected", "contains", "implicit", "implementation", "signals", "default", "case", "var", "begin", "else", "elif", "elsif", "rescue", "ensure", "catch", "finally", "except", "where", "then", "do", "of", "with", "is", "as":
	default:
		end(false)
	}
}

// match is a definition that a line starts.
type match struct {
	name, owner string
	kind        Kind
}

// recogniser knows how a language's definitions start.
type recogniser struct {
	keywords  map[string]Kind
	modifiers map[string]bool
	imports   []string
	shape     func(line string) (match, bool) // tried where no keyword starts the line
	fold      bool                            // keywords in any case
	flat      bool                            // bodies are not indented: a definition ends where the next one starts
	repeats   bool                            // functions are written as several equations
	extra     string                          // what names may hold beside letters, digits and underscores
}

// line reads one line.
func (r *recogniser) line(line string) (match, bool) {
	text := strings.TrimLeft(line, " \t")
	for rest := text; rest != ""; {
		word := keywordAt(rest)
		if word == "" {
			break
		}
		key := word
		if r.fold {
			key = strings.ToLower(word)
		}
		if kind, ok := r.keywords[key]; ok {
			if name, owner := r.nameAfter(rest[len(word):]); name != "" && r.keywords[name] == "" {
				return match{name, owner, kind}, true
			}
		}
		if !r.modifiers[key] {
			break
		}
		rest = strings.TrimLeft(rest[len(word):], " \t")
		if strings.HasPrefix(rest, "(") && (key == "pub" || key == "extern" || key == "private" || key == "internal") { // pub(crate)
			if i := strings.IndexByte(rest, ')'); i > 0 {
				rest = strings.TrimLeft(rest[i+1:], " \t")
			}
		}
		if strings.HasPrefix(rest, `"`) { // extern "C"
			if i := strings.IndexByte(rest[1:], '"'); i > 0 {
				rest = strings.TrimLeft(rest[i+2:], " \t")
			}
		}
	}
	if r.shape != nil {
		return r.shape(line)
	}
	return match{}, false
}

// keywordAt is the word that s starts with; one may start with @, ( or -.
func keywordAt(s string) string {
	i := 0
	if s[0] == '@' || s[0] == '(' || s[0] == '-' || s[0] == '.' || s[0] == '#' {
		i = 1
	}
	j := i
	for j < len(s) && (wordByte(s[j]) || s[j] == '-' && i == 1 && s[0] == '(') {
		j++
	}
	if j == i {
		return ""
	}
	return s[:j]
}

// nameAfter reads the name after a keyword. A receiver or a template's
// arguments in parentheses may stand before it; "A.b" and "A::b" name an owner.
func (r *recogniser) nameAfter(s string) (name, owner string) {
	if s == "" || wordByte(s[0]) {
		return "", ""
	}
	s = strings.TrimLeft(s, " \t!*&")
	if strings.HasPrefix(s, "(") {
		i := strings.IndexByte(s, ')')
		if i < 0 {
			return "", ""
		}
		if recv := s[1:i]; i+1 < len(s) && s[i+1] == ' ' && recv != "" { // Go's receiver
			f := strings.FieldsFunc(recv, func(c rune) bool { return strings.ContainsRune(" *[", c) })
			if len(f) > 1 {
				owner = f[1]
			}
			s = strings.TrimLeft(s[i+1:], " \t")
		} else {
			s = s[1:] // (define (name
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'' || s[0] == '`') {
		if i := strings.IndexByte(s[1:], s[0]); i > 0 {
			return s[1 : i+1], owner
		}
		return "", ""
	}
	i := 0
	for i < len(s) && (wordByte(s[i]) || strings.IndexByte(r.extra, s[i]) >= 0 || (s[i] == '.' || s[i] == ':' && i+2 < len(s) && (s[i+1] == ':' || i > 0 && s[i-1] == ':')) && i > 0 && i+1 < len(s) && (wordByte(s[i+1]) || s[i+1] == ':')) {
		i++
	}
	name = strings.TrimRight(s[:i], ":.-")
	if k := strings.LastIndexAny(name, ".:"); k > 0 {
		owner, name = strings.TrimRight(name[:k], ":"), name[k+1:]
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", ""
	}
	return name, owner
}

func (r *recogniser) isImport(text string) bool {
	for _, p := range r.imports {
		if strings.HasPrefix(text, p) && (len(text) == len(p) || !wordByte(text[len(p)]) || strings.IndexByte(" \"(", p[len(p)-1]) >= 0) {
			return true
		}
	}
	return false
}

var recognisers = sync.OnceValue(loadRecognisers)

// recogniserFor returns the language's recogniser, or one of the keywords that
// most languages share.
func recogniserFor(language string) *recogniser {
	all := recognisers()
	if r := all[language]; r != nil {
		return r
	}
	return all["*"]
}

// loadRecognisers reads the table: a line of languages, then indented lines of
// "kind words...", "modifiers words...", "imports prefixes...", "shape name",
// "fold", "flat", "repeats" and "extra characters".
func loadRecognisers() map[string]*recogniser {
	shapes := map[string]func(string) (match, bool){
		"braces": bracesShape, "equations": equationsShape, "assigned": assignedShape, "arrow": arrowShape, "erlang": erlangShape,
		"label": labelShape, "target": targetShape, "cmake": cmakeShape, "objc": objcShape, "zig": zigShape, "nim": nimShape, "julia": juliaShape,
		"shell": shellShape, "fortran": fortranShape, "matlab": matlabShape, "fsharp": fsharpShape, "pascal": pascalShape,
	}
	all := map[string]*recogniser{}
	var current *recogniser
	for line := range strings.Lines(recogniserTable) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			current = &recogniser{keywords: map[string]Kind{}, modifiers: map[string]bool{}}
			for name := range strings.SplitSeq(strings.TrimSpace(line), ",") {
				all[strings.TrimSpace(name)] = current
			}
			continue
		}
		switch f[0] {
		case "modifiers":
			for _, m := range f[1:] {
				current.modifiers[m] = true
			}
		case "imports":
			for _, m := range f[1:] {
				current.imports = append(current.imports, strings.ReplaceAll(m, "~", " "))
			}
		case "shape":
			current.shape = shapes[f[1]]
		case "fold":
			current.fold = true
		case "flat":
			current.flat = true
		case "repeats":
			current.repeats = true
		case "extra":
			current.extra = f[1]
		default:
			for _, k := range f[1:] {
				current.keywords[k] = Kind(f[0])
			}
		}
	}
	return all
}

const recogniserTable = `
*
	function function func def fn proc sub procedure method macro
	class class struct record object enum contract
	interface interface trait protocol
	module module namespace package
	modifiers pub public private protected static async abstract final export default inline virtual override extern internal
	imports import include use using require #include
go
	function func
	type type
	variable const var
	imports import
python, starlark, cython, gdscript
	function def
	class class
	modifiers async cdef cpdef static
	imports import from
javascript, typescript, tsx, jsx, vue, svelte, coffeescript, actionscript, qml
	function function
	class class enum
	interface interface
	type type
	module namespace
	modifiers export default async abstract declare const public private protected static
	shape arrow
	extra $
	imports import
java, c#, groovy, gradle, apex, vala, haxe
	class class enum record struct
	interface interface @interface
	module namespace
	function def
	modifiers public private protected internal static final abstract sealed partial readonly unsafe async override virtual strictfp default new
	shape braces
	imports import using
c, c++, cuda, arduino, d, glsl, hlsl, reason
	class struct class union enum
	type typedef using
	module namespace module
	modifiers static inline extern typedef template const public private final
	shape braces
	imports #include import
objective-c, objective-c++
	class @interface @implementation struct enum
	interface @protocol
	modifiers typedef static
	shape objc
	imports #import #include @import
rust, gleam, wgsl, move
	function fn macro_rules
	class struct enum union type
	interface trait
	module mod
	variable const static
	modifiers pub async unsafe extern const default
	extra !
	imports use
zig
	function fn test
	modifiers pub export inline extern
	shape zig
v, odin
	function fn proc
	class struct enum union
	interface interface
	module module
	modifiers pub
	imports import
ruby, crystal
	function def
	class class struct
	module module
	modifiers private public protected abstract
	extra ?!=
	imports require require_relative
php, hack
	function function
	class class enum
	interface interface trait
	module namespace
	modifiers public private protected static abstract final readonly
	imports use require require_once include include_once
kotlin
	function fun
	class class object enum
	interface interface
	type typealias
	variable val var
	modifiers public private protected internal open abstract final sealed data inline suspend override operator infix tailrec external companion const annotation enum value lateinit
	imports import
scala
	function def
	class class object enum
	interface trait
	type type
	module package
	modifiers private protected implicit override final sealed abstract lazy case inline
	imports import
swift
	function func init
	class class struct enum actor
	interface protocol
	class extension
	type typealias
	modifiers public private fileprivate internal open static class final override mutating indirect @objc @discardableResult @MainActor convenience required
	imports import
dart
	class class mixin extension enum
	type typedef
	modifiers abstract base final sealed interface static external const late
	shape braces
	imports import export part
lua, luau
	function function
	modifiers local
	shape assigned
perl
	function sub method
	module package class
	imports use require
raku
	function sub method multi
	class class role grammar
	module module
r
	shape assigned
	imports library( require(
julia
	function function macro
	class struct
	module module
	type type
	modifiers abstract mutable primitive
	shape julia
	imports using import
haskell, elm, purescript, idris, agda
	class data newtype
	interface class
	type type
	class instance
	modifiers opaque port
	shape equations
	flat
	repeats
	extra '
	imports import
erlang
	class -record(
	shape erlang
	flat
	repeats
	imports -include( -include_lib(
f#
	class type
	module module namespace
	shape fsharp
	modifiers private public internal
	imports open
ocaml, standard ml
	function let fun
	variable val
	class type datatype class
	module module structure
	interface signature
	modifiers rec and inline
	extra '
	imports open include
clojure
	function (defn (defn- (defmacro (defmulti (defmethod (deftest
	variable (def (defonce
	class (defrecord (deftype (defstruct
	interface (defprotocol (definterface
	module (ns
	extra -?!*+<>=/
common lisp, emacs lisp, scheme, racket, lisp, fennel
	function (defun (define (defmacro (defmethod (defgeneric (fn (define-syntax (cl-defun (defsubst
	variable (defvar (defparameter (defconstant (defcustom (defconst (local
	class (defclass (defstruct (define-struct (struct (define-record-type (cl-defstruct
	module (defpackage (module
	extra -?!*+<>=/:%
nim
	function proc func method iterator template macro converter
	shape nim
	modifiers
	imports import from include
fortran, fortran free form
	function subroutine function program
	module module submodule
	interface interface
	modifiers pure elemental recursive impure
	shape fortran
	fold
	imports use
pascal, delphi
	function procedure function constructor destructor
	module unit program library
	modifiers class
	shape pascal
	fold
	flat
	imports uses
ada
	function procedure function task entry
	module package
	type type subtype
	modifiers body overriding
	fold
	imports with use
visual basic .net, vba, vbscript
	function sub function property
	class class structure enum
	interface interface
	module module namespace
	modifiers public private protected friend shared overridable overrides mustoverride notinheritable mustinherit partial readonly static async
	fold
	imports Imports
assembly, unix assembly, gas, go assembly, nasm
	shape label
	flat
	imports #include
makefile
	function define
	shape target
	flat
	imports include -include
cmake
	shape cmake
	imports include( find_package(
elixir
	function def defp defmacro defmacrop defguard
	module defmodule
	class defstruct
	interface defprotocol defimpl
	extra ?!
	imports import alias use require
shell, bash, zsh, fish
	function function
	shape shell
	extra -
	imports source .~
sql, plpgsql, plsql, tsql
	function function procedure trigger
	class table view type
	variable index sequence
	modifiers create or replace alter temp temporary unique materialized global definer if not exists
	fold
	flat
hcl, terraform
	class resource data module provider
	variable variable output locals
powershell
	function function filter workflow
	class class enum
	fold
	extra -
	imports using Import-Module
tcl
	function proc method
	class class
	module namespace
	extra :
	imports package source
vim script, viml
	function function func
	modifiers
	extra #:
graphql
	class type input enum scalar union
	interface interface
	function query mutation subscription fragment directive
	modifiers extend
protocol buffer, thrift
	class message struct enum union exception
	interface service
	function rpc
	imports import include
solidity
	class contract struct enum library
	interface interface
	function function modifier event error
	modifiers abstract
	imports import
verilog, systemverilog
	class module class program
	interface interface package
	function function task
	modifiers virtual static automatic
	imports ` + "`include" + `
vhdl
	class entity architecture component
	module package
	function function procedure process
	fold
	imports use library
matlab
	class classdef
	shape matlab
scss, sass, less
	function @mixin @function
	extra -
	imports @import @use
coq, lean, lean 4
	function Theorem Lemma Definition Fixpoint theorem lemma def example
	class Inductive Record inductive structure
	interface Class class
	module Module namespace Section
	modifiers noncomputable private protected @[simp]
	extra '
	imports Require import
awk
	function function func
dockerfile
	class FROM
prisma
	class model enum type
`

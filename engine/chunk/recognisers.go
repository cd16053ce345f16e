package chunk

import (
	"strings"
	"sync"
)

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

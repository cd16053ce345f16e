package treesitter

import (
	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/css"
	"github.com/smacker/go-tree-sitter/cue"
	"github.com/smacker/go-tree-sitter/dockerfile"
	"github.com/smacker/go-tree-sitter/elixir"
	"github.com/smacker/go-tree-sitter/elm"
	"github.com/smacker/go-tree-sitter/golang"
	"github.com/smacker/go-tree-sitter/groovy"
	"github.com/smacker/go-tree-sitter/hcl"
	"github.com/smacker/go-tree-sitter/html"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/lua"
	"github.com/smacker/go-tree-sitter/ocaml"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/protobuf"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/scala"
	"github.com/smacker/go-tree-sitter/sql"
	"github.com/smacker/go-tree-sitter/swift"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// language is one supported language: its grammar and its table of rules.
type language struct {
	grammar func() *sitter.Language
	rules   string
}

// languages returns what is supported, by the lower-case linguist name.
func languages() map[string]language {
	return map[string]language{
		"go":              {golang.GetLanguage, goRules},
		"python":          {python.GetLanguage, pythonRules},
		"javascript":      {javascript.GetLanguage, javascriptRules},
		"typescript":      {typescript.GetLanguage, typescriptRules},
		"tsx":             {tsx.GetLanguage, typescriptRules},
		"java":            {java.GetLanguage, javaRules},
		"c":               {c.GetLanguage, cRules},
		"c++":             {cpp.GetLanguage, cppRules},
		"rust":            {rust.GetLanguage, rustRules},
		"ruby":            {ruby.GetLanguage, rubyRules},
		"php":             {php.GetLanguage, phpRules},
		"c#":              {csharp.GetLanguage, csharpRules},
		"shell":           {bash.GetLanguage, shellRules},
		"kotlin":          {kotlin.GetLanguage, kotlinRules},
		"scala":           {scala.GetLanguage, scalaRules},
		"swift":           {swift.GetLanguage, swiftRules},
		"lua":             {lua.GetLanguage, luaRules},
		"elixir":          {elixir.GetLanguage, elixirRules},
		"ocaml":           {ocaml.GetLanguage, ocamlRules},
		"sql":             {sql.GetLanguage, sqlRules},
		"hcl":             {hcl.GetLanguage, hclRules},
		"terraform":       {hcl.GetLanguage, hclRules},
		"css":             {css.GetLanguage, cssRules},
		"html":            {html.GetLanguage, htmlRules},
		"dockerfile":      {dockerfile.GetLanguage, dockerfileRules},
		"protocol buffer": {protobuf.GetLanguage, protobufRules},
		"groovy":          {groovy.GetLanguage, groovyRules},
		"gradle":          {groovy.GetLanguage, groovyRules},
		"elm":             {elm.GetLanguage, elmRules},
		"cue":             {cue.GetLanguage, cueRules},
	}
}

const goRules = `
function_declaration  function
method_declaration    method    parent=receiver/:parameter_declaration/type/:pointer_type,parenthesized_type*/:generic_type*/:type_identifier|receiver/:parameter_declaration/type:type_identifier
type_spec             type      body=-  kind=type:struct_type>class  kind=type:interface_type>interface
type_alias            type      body=-
const_spec,var_spec   variable  many
@descend  var_spec_list parameter_list parameter_declaration pointer_type generic_type parenthesized_type
@group    type_declaration const_declaration var_declaration
@import   import_declaration
@comment  comment
`

const pythonRules = `
function_definition   function  doc
class_definition      class     doc
assignment            variable  name=left:identifier,pattern_list,tuple_pattern  body=-  many
type_alias_statement  type      name=:type
@descend  block expression_statement if_statement elif_clause else_clause try_statement except_clause except_group_clause finally_clause with_statement pattern_list tuple_pattern
@wrap     decorated_definition
@attr     decorator
@import   import_statement import_from_statement future_import_statement
@comment  comment
`

const javascriptRules = ecmaRules + `
field_definition      variable  name=property  body=value/body  kind=value:arrow_function>method  kind=value:function_expression>method
`

const ecmaRules = `
function_declaration,generator_function_declaration  function
class_declaration,class  class
method_definition     method
variable_declarator   variable  body=value/body  many  kind=value:arrow_function>function  kind=value:function_expression>function  kind=value:generator_function>function  kind=value:class>class
assignment_expression -  name=left  body=right/body  kind=right:arrow_function>function  kind=right:function_expression>function  kind=right:generator_function>function  kind=right:class>class
pair                  -  name=key   body=value/body  kind=value:arrow_function>method  kind=value:function_expression>method
@descend  class_body statement_block object expression_statement call_expression arguments parenthesized_expression arrow_function function_expression generator_function class object_pattern array_pattern pair_pattern if_statement try_statement
@wrap     export_statement expression_statement
@group    lexical_declaration variable_declaration
@import   import_statement
@attr     decorator
@comment  comment 
`

const typescriptRules = ecmaRules + `
interface_declaration      interface
abstract_class_declaration class
enum_declaration           class
type_alias_declaration     type      body=-
function_signature         function
abstract_method_signature,method_signature  method
public_field_definition    variable  body=value/body  kind=value:arrow_function>method  kind=value:function_expression>method
internal_module,module     module
@descend  interface_body enum_body object_type
@wrap     ambient_declaration
`

const javaRules = `
class_declaration,record_declaration,enum_declaration  class
interface_declaration,annotation_type_declaration      interface
method_declaration,constructor_declaration,compact_constructor_declaration,annotation_type_element_declaration  method
field_declaration,constant_declaration  variable  name=declarator/name  many
@descend  class_body interface_body enum_body enum_body_declarations annotation_type_body variable_declarator modifiers
@attr     marker_annotation annotation
@import   import_declaration
@comment  line_comment block_comment
`

const cRules = `
function_definition   function  name=declarator~function_declarator,pointer_declarator,reference_declarator,array_declarator*
declaration           variable  name=declarator~function_declarator,pointer_declarator,reference_declarator,array_declarator*  body=-  many  flat  kind=declarator:function_declarator/declarator:parenthesized_declarator>variable  kind=declarator:pointer_declarator,reference_declarator,attributed_declarator*/declarator:function_declarator>function  kind=:function_declarator>function
type_definition       type      name=declarator~function_declarator,pointer_declarator,reference_declarator,array_declarator*  body=-  many  flat  kind=type:struct_specifier/body>class  kind=type:union_specifier/body>class  kind=type:enum_specifier/body>class
struct_specifier,union_specifier,enum_specifier  class  need=body
preproc_def,preproc_function_def  variable  body=-  need=value
@descend  preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification declaration_list
@descend  function_declarator pointer_declarator parenthesized_declarator array_declarator init_declarator attributed_declarator
@descend  struct_specifier union_specifier enum_specifier
@skip     parameter_list
@import   preproc_include
@comment  comment
`

const cppRules = cRules + `
class_specifier       class  need=body
namespace_definition  module
alias_declaration     type   body=-
concept_definition    type   body=-
field_declaration     -      name=declarator~function_declarator,pointer_declarator,reference_declarator,array_declarator*  body=-  kind=declarator:function_declarator/declarator:parenthesized_declarator>variable  kind=declarator:pointer_declarator,reference_declarator*/declarator:function_declarator>method
@descend  field_declaration_list reference_declarator class_specifier
@wrap     template_declaration
@attr     attribute_declaration
@sep      ::
`

const rustRules = `
function_item,function_signature_item  function
struct_item,enum_item,union_item       class
trait_item            interface
impl_item             class  name=type/type|type  extends
const_item,static_item  variable  body=value
type_item,associated_type  type  body=-
macro_definition      function  body=:macro_rule
mod_item              module
@descend  declaration_list generic_type scoped_type_identifier foreign_mod_item
@import   use_declaration extern_crate_declaration
@attr     attribute_item
@comment  line_comment block_comment
@sep      ::
`

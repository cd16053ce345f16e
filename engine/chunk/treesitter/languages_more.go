package treesitter

const rubyRules = `
method                function
singleton_method      method
class                 class
module                module
assignment            variable  name=left:constant,scope_resolution  body=-
call                  -  says=method>require,require_relative,load,autoload>import
@descend  body_statement singleton_class
@comment  comment
@sep      ::
`

const phpRules = `
function_definition   function
method_declaration    method
class_declaration,enum_declaration  class
interface_declaration,trait_declaration  interface
namespace_definition  module  need=body
const_element         variable  name=:name  body=-
property_element      variable  name=:variable_name  body=-
@descend  declaration_list enum_declaration_list expression_statement compound_statement if_statement attribute_list
@group    const_declaration property_declaration
@import   namespace_use_declaration require_once_expression require_expression include_expression include_once_expression
@attr     attribute_list
@comment  comment
@sep      ::
`

const csharpRules = `
class_declaration,struct_declaration,record_declaration,enum_declaration  class
interface_declaration  interface
method_declaration,constructor_declaration,destructor_declaration  method
local_function_statement  function
property_declaration  variable  body=accessors|value
variable_declarator   variable  body=-
delegate_declaration  type      body=-
namespace_declaration module
@descend  declaration_list variable_declaration global_statement
@group    field_declaration event_field_declaration
@import   using_directive
@attr     attribute_list
@comment  comment
`

const shellRules = `
function_definition   function
variable_assignment   variable  body=-
command               -  says=name>source,.>import
@descend  declaration_command compound_statement if_statement
@wrap     declaration_command
@comment  comment
`

const kotlinRules = `
class_declaration     class     name=:type_identifier    body=:class_body,enum_class_body  word=interface>interface
object_declaration    class     name=:type_identifier    body=:class_body
companion_object      class     name=:type_identifier    body=:class_body
function_declaration  function  name=:simple_identifier  body=:function_body  parent=:user_type/:type_identifier
secondary_constructor method    name=:constructor        body=:statements
property_declaration  variable  name=:variable_declaration/:simple_identifier  body=-
type_alias            type      name=:type_identifier    body=-
@descend  class_body enum_class_body variable_declaration import_list modifiers user_type
@record   constructor
@attr     annotation
@import   import_header
@comment  line_comment multiline_comment
`

const scalaRules = `
class_definition,object_definition,enum_definition  class
trait_definition      interface
function_definition,function_declaration  function
val_definition,var_definition  variable  name=pattern:identifier  body=value
val_declaration,var_declaration  variable  body=-
given_definition      variable  body=-
type_definition       type  body=-
package_object        module
@descend  template_body enum_body with_template_body
@import   import_declaration
@attr     annotation
@comment  comment block_comment
`

const swiftRules = `
class_declaration     class  name=name:type_identifier|name  word=extension>extension
protocol_declaration  interface
function_declaration,protocol_function_declaration  function  name=name:simple_identifier|name
init_declaration      method  name=:init
deinit_declaration    method  name=:deinit
property_declaration  variable  name=name/bound_identifier|name  body=computed_value
typealias_declaration type  body=-
@descend  class_body enum_class_body protocol_body pattern modifiers
@record   init deinit
@import   import_declaration
@attr     attribute
@comment  comment multiline_comment
`

const luaRules = `
function_statement    function  body=:function_body
variable_declaration  variable  body=value/:function_body  kind=value:function>function
field                 -  body=value/:function_body  kind=value:function>function
@descend  function tableconstructor fieldlist
@comment  comment
`

const elixirRules = `
call                  -  body=:do_block  doc  says=target>defmodule>module  says=target>def,defp,defmacro,defmacrop,defguard,defdelegate>function  says=target>defprotocol,defimpl>interface  says=target>import,use,alias,require>import  name=:arguments/:alias|:arguments/:call/target|:arguments/:binary_operator/left:call/target|:arguments/:binary_operator/left:identifier|:arguments/:identifier
@descend  arguments do_block binary_operator
@attr     unary_operator
@comment  comment
`

const ocamlRules = `
let_binding           variable  name=pattern:value_name  kind=:parameter>function  kind=body:fun_expression>function  kind=body:function_expression>function
type_binding          type      name=name  body=-
module_binding        module
module_type_definition interface
exception_definition  type      name=:constructor_declaration/:constructor_name  body=-
class_binding         class
method_definition     method
external,value_specification  function  name=:value_name  body=-
@descend  structure signature object_expression constructor_declaration
@group    value_definition type_definition module_definition class_definition
@import   open_module include_module
@comment  comment
`

const sqlRules = `
create_table,create_view,create_materialized_view  class  name=:object_reference  body=-
create_function,create_trigger  function  name=:object_reference  body=:function_body
create_index          variable  name=column  body=-
create_type           type      name=:object_reference  body=-
@wrap     statement
@comment  comment marginalia
`

const hclRules = `
block                 class     name=:string_lit|:identifier  joined  body=:block_start  top
attribute             variable  name=:identifier  body=-  top
@descend  body
@comment  comment
`

const cssRules = `
rule_set              block  name=:selectors  body=:block
media_statement,supports_statement  block  name=:parenthesized_query,feature_query,keyword_query,binary_query  body=:block
keyframes_statement   block  name=:keyframes_name  body=:keyframe_block_list
@descend  block
@import   import_statement
@comment  comment
`

const htmlRules = `
script_element,style_element  block  name=:start_tag/:tag_name  body=-
@descend  start_tag element
@comment  comment
`

const dockerfileRules = `
from_instruction      block  name=as|:image_spec  body=-
@comment  comment
`

const protobufRules = `
message               class      name=:message_name  body=:message_body
enum                  class      name=:enum_name     body=:enum_body
service               interface  name=:service_name  body=-
rpc                   method     name=:rpc_name      body=-
@descend  message_body
@import   import
@comment  comment
`

const groovyRules = `
class_definition      class  word=interface>interface  word=trait>interface
function_definition,function_declaration  function  name=function
declaration           variable  body=value
@descend  closure
@import   groovy_import
@attr     annotation
@comment  comment groovy_doc
`

const elmRules = `
value_declaration     function  name=functionDeclarationLeft/:lower_case_identifier
type_declaration      class     body=-
type_alias_declaration type     body=-
port_annotation       function  body=-
@descend  function_declaration_left
@import   import_clause
@attr     type_annotation
@comment  line_comment block_comment
`

const cueRules = `
field                 variable  name=:label  body=:value  top
@import   import_declaration
@comment  comment
`

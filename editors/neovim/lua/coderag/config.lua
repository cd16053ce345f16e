--- Options: what they are, what is set, and what is wrong with it.
local M = {}

---@class coderag.Option
---@field name string path in the table of options, parted by dots
---@field type string Lua type; a list is 'list', a key `key`
---@field default any
---@field doc string
---@field enum? string[]
---@field min? number
---@field max? number
---@field check? fun(value: any): string? says what is wrong

local function commandLine(value)
  for _, word in ipairs(value) do
    if type(word) ~= 'string' then
      return 'must hold strings'
    end
  end
  if #value == 0 then
    return 'must name a program'
  end
end

--- Every option, in the order of the help file.
---@type coderag.Option[]
M.options = {
  { name = 'enable', type = 'boolean', default = true, doc = 'Start the server for files of a workspace. With false, commands still start it.' },
  {
    name = 'cmd',
    type = 'list',
    default = { 'coderag-ls', 'serve', '--stdio' },
    check = commandLine,
    doc = 'The command that starts the server. It is never downloaded.',
  },
  { name = 'root_markers', type = 'list', default = { '.git' }, doc = 'A workspace is the nearest folder above a file that holds one of these.' },
  {
    name = 'settings',
    type = 'table',
    default = {},
    doc = "The server's settings, nested or with dots: `{ search = { topK = 30 } }`, `{ ['search.topK'] = 30 }`. See |coderag-server-settings|.",
  },
  {
    name = 'init_options',
    type = 'table',
    default = {},
    doc = "The server's settings of this machine, which `settings` may not hold: `{ embed = { modelDir = '...' } }`.",
  },
  { name = 'answer.window', type = 'string', default = 'vsplit', enum = { 'vsplit', 'split', 'float', 'tab', 'current' }, doc = 'Where answers are shown.' },
  { name = 'answer.size', type = 'number', default = 0.45, min = 0.1, max = 1, doc = "Share of the editor's width (vsplit), height (split) or both (float)." },
  { name = 'answer.border', type = 'any', default = 'rounded', doc = 'Border of floating windows, as in |nvim_open_win()|.' },
  { name = 'answer.focus', type = 'boolean', default = true, doc = 'Go to the answer window when a question is asked.' },
  { name = 'answer.hints', type = 'boolean', default = true, doc = 'Show the most useful keys below an answer.' },
  {
    name = 'answer.winbar',
    type = 'boolean',
    default = true,
    doc = 'Show the question, how far its answer is and the citation at the cursor above the answer.',
  },
  {
    name = 'answer.fold',
    type = 'number',
    default = 12,
    min = 0,
    max = 10000,
    doc = 'Lines that are shown of a longer code block, the others are folded (|zo|); 0 folds none.',
  },
  { name = 'answer.history', type = 'number', default = 20, min = 1, max = 1000, doc = 'Conversations that are kept.' },
  {
    name = 'search.list',
    type = 'string',
    default = 'select',
    enum = { 'select', 'quickfix', 'loclist' },
    doc = 'How hits are offered: |vim.ui.select()|, so that pickers take over, or a list. With a bang it is quickfix.',
  },
  { name = 'keys.open', type = 'key', default = { '<CR>', 'gf', '<2-LeftMouse>' }, doc = 'Open the citation under the cursor, or ask the question there.' },
  { name = 'keys.preview', type = 'key', default = 'K', doc = 'Show the cited lines as they stand now.' },
  { name = 'keys.insert', type = 'key', default = 'i', doc = 'Insert the cited lines, with their citation, into the last file.' },
  { name = 'keys.next', type = 'key', default = ']c', doc = 'Go to the next citation.' },
  { name = 'keys.previous', type = 'key', default = '[c', doc = 'Go to the previous citation.' },
  { name = 'keys.yank', type = 'key', default = 'gy', doc = 'Copy the cited lines into a register.' },
  { name = 'keys.next_question', type = 'key', default = ']]', doc = 'Go to the next question of the conversation.' },
  { name = 'keys.previous_question', type = 'key', default = '[[', doc = 'Go to the previous question.' },
  { name = 'keys.follow_up', type = 'key', default = 'a', doc = 'Ask on, in the same conversation.' },
  { name = 'keys.again', type = 'key', default = 'r', doc = 'Ask the last question again.' },
  { name = 'keys.wait', type = 'key', default = 'R', doc = 'Ask it again as soon as all files are indexed.' },
  { name = 'keys.quickfix', type = 'key', default = '<C-q>', doc = 'All citations to the quickfix list.' },
  { name = 'keys.loclist', type = 'key', default = 'gl', doc = "All citations to the last file's location list." },
  { name = 'keys.history', type = 'key', default = 'gh', doc = 'Choose an earlier conversation.' },
  { name = 'keys.older', type = 'key', default = '[h', doc = 'Show the conversation before this one.' },
  { name = 'keys.newer', type = 'key', default = ']h', doc = 'Show the conversation after this one.' },
  { name = 'keys.cancel', type = 'key', default = '<C-c>', doc = 'Stop the answer.' },
  { name = 'keys.close', type = 'key', default = 'q', doc = 'Close the window; the answer goes on and is kept.' },
  { name = 'keys.help', type = 'key', default = 'g?', doc = 'List these keys.' },
}

--- Sets what a path of names parted by dots leads to.
local function setPath(tree, name, value)
  local names = vim.split(name, '.', { plain = true })
  for i = 1, #names - 1 do
    tree[names[i]] = tree[names[i]] or {}
    tree = tree[names[i]]
  end
  tree[names[#names]] = value
end

---@type coderag.Config?
local current
---@type table
local own = {}
---@type string[]
local problems = {}

--- How many letters must be changed, added or dropped (Levenshtein).
local function distance(a, b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local above = row[j]
      row[j] = math.min(above + 1, row[j - 1] + 1, diagonal + (a:byte(i) == b:byte(j) and 0 or 1))
      diagonal = above
    end
  end
  return row[#b]
end

--- The closest of some names, for "did you mean".
local function nearest(name, names)
  local best, least
  for _, other in ipairs(names) do
    for _, form in ipairs({ other, other:match('[^.]*$') }) do
      local d = distance(name:lower(), form:lower())
      if d <= math.max(1, math.floor(#form / 3)) and (not least or d < least) then
        best, least = other, d
      end
    end
  end
  return best and (', did you mean %s?'):format(best) or ''
end

local function isList(value)
  return type(value) == 'table' and (vim.tbl_isempty(value) or vim.islist(value))
end

--- Says what is wrong with a value, nil for nothing.
---@param option coderag.Option
local function wrong(option, value)
  local kind = option.type
  if kind == 'any' then
    return nil
  elseif kind == 'key' then
    if value ~= false and type(value) ~= 'string' and not isList(value) then
      return 'must be a key, a list of keys or false, not ' .. vim.inspect(value)
    end
    for _, key in ipairs(isList(value) and value or {}) do
      if type(key) ~= 'string' then
        return 'must hold strings, not ' .. vim.inspect(key)
      end
    end
    return nil
  elseif kind == 'list' then
    if not isList(value) then
      return 'must be a list, not ' .. vim.inspect(value)
    end
  elseif type(value) ~= kind then
    return ('must be a %s, not %s'):format(kind, vim.inspect(value))
  end
  if option.enum and not vim.list_contains(option.enum, value) then
    return ('must be one of %s, not %s'):format(table.concat(option.enum, ', '), vim.inspect(value))
  end
  if option.min and (value < option.min or value > option.max) then
    return ('must be from %s to %s, not %s'):format(option.min, option.max, value)
  end
  return option.check and option.check(value) or nil
end

--- Checks the server's settings by the table that the server's own are made
--- of, and returns them nested.
---@param given table
---@param machine boolean settings of this machine are allowed
local function settings(where, given, machine, report)
  local table_ = require('coderag.settings')
  local names, byName = {}, {}
  for _, setting in ipairs(table_) do
    names[#names + 1], byName[setting.name] = setting.name, setting
  end
  local nested = {}
  local function walk(prefix, tree)
    for key, value in vim.spairs(tree) do
      local name = prefix .. tostring(key)
      local setting = byName[name]
      if setting then
        local kind = setting.type == 'array' and 'list' or setting.type == 'integer' and 'number' or setting.type
        local why = wrong({ name = name, type = kind, enum = setting.enum, min = setting.min, max = setting.max, default = nil, doc = '' }, value)
        if not why and setting.type == 'integer' and value % 1 ~= 0 then
          why = 'must be a whole number, not ' .. value
        end
        if not why and setting.machine and not machine then
          why = 'is one of this machine: move it to init_options'
        end
        if why then
          report(('%s.%s %s'):format(where, name, why))
        else
          local group, last = name:match('^(.*)%.([^.]*)$')
          nested[group] = nested[group] or {}
          nested[group][last] = value
        end
      elseif type(value) == 'table' and not vim.islist(value) then
        walk(name .. '.', value)
      else
        report(('unknown setting %s.%s%s'):format(where, name, nearest(name:match('[^.]*$'), names)))
      end
    end
  end
  walk('', given)
  return nested
end

--- Checks options. What is wrong is reported and left at its default.
---@param given table
---@return coderag.Config config
---@return string[] problems one sentence each, naming the option
function M.check(given)
  local found = {}
  local function report(text)
    found[#found + 1] = text
  end
  local config, byName, groups, names = {}, {}, {}, {}
  for _, option in ipairs(M.options) do
    byName[option.name], names[#names + 1] = option, option.name
    local group = option.name:match('^(.*)%.')
    if group and not groups[group] then
      groups[group], names[#names + 1] = true, group
    end
    setPath(config, option.name, vim.deepcopy(option.default))
  end
  local function walk(prefix, tree)
    for key, value in vim.spairs(tree) do
      local name = prefix .. tostring(key)
      if byName[name] then
        local why = wrong(byName[name], value)
        if why then
          report(('%s %s'):format(name, why))
        else
          setPath(config, name, vim.deepcopy(value))
        end
      elseif groups[name] and type(value) == 'table' then
        walk(name .. '.', value)
      elseif groups[name] then
        report(('%s must be a table, not %s'):format(name, vim.inspect(value)))
      else
        report(('unknown option %s%s'):format(name, nearest(tostring(key), names)))
      end
    end
  end
  if type(given) ~= 'table' then
    report('options must be a table, not ' .. vim.inspect(given))
  else
    walk('', given)
  end
  config.settings = settings('settings', config.settings, false, report)
  config.init_options = settings('init_options', config.init_options, true, report)
  return config, found
end

--- Takes options, and says what is wrong with them.
---@param given table
function M.set(given)
  current, problems = M.check(given)
  own = type(given) == 'table' and given or {}
  if #problems > 0 then
    vim.notify('coderag: ' .. table.concat(problems, '\ncoderag: '), vim.log.levels.ERROR)
  end
end

--- The options in force; those of vim.g.coderag where setup() was not called.
---@return coderag.Config
function M.get()
  if not current then
    M.set(vim.g.coderag or {})
  end
  return assert(current)
end

--- The options as they were given.
---@return table
function M.given()
  M.get()
  return own
end

--- What was wrong with the options.
---@return string[]
function M.problems()
  M.get()
  return problems
end

--- An option's keys as a list.
---@return string[]
function M.keys(name)
  local keys = M.get().keys[name]
  return keys == false and {} or type(keys) == 'table' and keys or { keys }
end

return M

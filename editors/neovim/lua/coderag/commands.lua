--- The commands: what they do, and how they are completed.
local M = {}

---@class coderag.Command
---@field name string below :CodeRag
---@field own? string the command that does the same
---@field args string as in the help file
---@field doc string
---@field run fun(text: string, opts: table)
---@field complete? fun(lead: string): string[]

local function range(opts)
  return (opts.range or 0) > 0 and { opts.line1, opts.line2 } or nil
end

local function coderag()
  return require('coderag')
end

local function matching(all, lead)
  return vim.tbl_filter(function(one)
    return vim.startswith(one:lower(), lead:lower())
  end, all)
end

--- Earlier questions and those that the latest answer suggests.
local function questions(lead)
  if not package.loaded['coderag.conversation'] then
    return {}
  end
  local conversation = require('coderag.conversation')
  local all = {}
  local c = conversation.current()
  local turn = c and c.turns[#c.turns]
  vim.list_extend(all, turn and turn.result and turn.result.followUps or {})
  vim.list_extend(all, conversation.questions())
  return matching(all, lead)
end

local function cited()
  if not package.loaded['coderag.conversation'] then
    return {}
  end
  local conversation = require('coderag.conversation')
  local c = conversation.current()
  return vim.tbl_map(function(one)
    return one.id
  end, c and conversation.citations(c) or {})
end

--- Every subcommand, in the order of the help file.
---@type coderag.Command[]
M.list = {
  {
    name = 'ask',
    own = 'CodeRagAsk',
    args = '[question]',
    doc = 'Asks a question; without one it is asked for. With a range it is about those lines. With ! it goes on with the latest conversation, so that "it" and "there" are understood.',
    run = function(text, opts)
      coderag().ask(text, { range = range(opts), follow_up = opts.bang })
    end,
    complete = questions,
  },
  {
    name = 'search',
    own = 'CodeRagSearch',
    args = '[words]',
    doc = 'Ranks places in the code and offers them. With ! they become the quickfix list.',
    run = function(text, opts)
      coderag().search(text, { list = opts.bang and 'quickfix' or nil })
    end,
    complete = questions,
  },
  {
    name = 'explain',
    own = 'CodeRagExplain',
    args = '[symbol]',
    doc = 'Explains the symbol under the cursor, or the one named: what it is, where it is used and tested.',
    run = function(text)
      coderag().explain(text)
    end,
  },
  {
    name = 'similar',
    own = 'CodeRagSimilar',
    args = '',
    doc = 'Finds code like the lines of the range, else like those around the cursor. With ! it becomes the quickfix list.',
    run = function(_, opts)
      coderag().similar({ range = range(opts), list = opts.bang and 'quickfix' or nil })
    end,
  },
  {
    name = 'insert',
    own = 'CodeRagInsert',
    args = '[path:start-end | words]',
    doc = 'Inserts the cited lines, or the best hit of the words, below the cursor, with a comment that cites them. Without either, the citations of the latest answer are offered.',
    run = function(text, opts)
      if (opts.range or 0) > 0 then
        vim.api.nvim_win_set_cursor(0, { opts.line2, 0 })
      end
      coderag().insert(text)
    end,
    complete = function(lead)
      return matching(cited(), lead)
    end,
  },
  {
    name = 'status',
    own = 'CodeRagStatus',
    args = '',
    doc = 'Shows the state of the index: files, vectors, memory, what is skipped and what is wrong.',
    run = function()
      coderag().status()
    end,
  },
  {
    name = 'reindex',
    own = 'CodeRagReindex',
    args = '[path ...]',
    doc = 'Indexes files or folders again, everything where none are given.',
    run = function(_, opts)
      coderag().reindex(opts.fargs)
    end,
    complete = function(lead)
      return vim.fn.getcompletion(lead, 'file')
    end,
  },
  {
    name = 'log',
    own = 'CodeRagLog',
    args = '',
    doc = "Opens the server's log.",
    run = function()
      coderag().log()
    end,
  },
  {
    name = 'answers',
    args = '',
    doc = 'Shows or hides the answer window.',
    run = function()
      coderag().answers()
    end,
  },
  {
    name = 'history',
    args = '',
    doc = 'Offers earlier conversations.',
    run = function()
      coderag().history()
    end,
  },
  {
    name = 'cancel',
    args = '',
    doc = 'Stops the answer that is being made.',
    run = function()
      coderag().cancel()
    end,
  },
  {
    name = 'quickfix',
    args = '',
    doc = "The latest answer's citations become the quickfix list.",
    run = function()
      coderag().citations()
    end,
  },
  {
    name = 'loclist',
    args = '',
    doc = "The latest answer's citations become the location list.",
    run = function()
      coderag().citations(true)
    end,
  },
  {
    name = 'pause',
    args = '',
    doc = 'Stops background work; what is open or changes is searchable all the same.',
    run = function()
      coderag().pause()
    end,
  },
  {
    name = 'resume',
    args = '',
    doc = 'Goes on with background work.',
    run = function()
      coderag().resume()
    end,
  },
  {
    name = 'restart',
    args = '',
    doc = 'Stops the server and starts it anew.',
    run = function()
      coderag().restart()
    end,
  },
}

local function find(name)
  for _, command in ipairs(M.list) do
    if command.name == name then
      return command
    end
  end
end

local function names()
  return vim.tbl_map(function(command)
    return command.name
  end, M.list)
end

--- Runs a command as the user gave it.
---@param name string "" for :CodeRag, whose first word names the subcommand
---@param opts table as of nvim_create_user_command()
function M.run(name, opts)
  if name ~= '' then
    return assert(find(name)).run(opts.args, opts)
  end
  local first = opts.fargs[1]
  if not first then
    return coderag().ask(nil, { range = range(opts), follow_up = opts.bang })
  end
  local command = find(first)
  if not command then
    return vim.notify(('coderag: no subcommand %s: %s'):format(first, table.concat(names(), ', ')), vim.log.levels.ERROR)
  end
  local rest = vim.tbl_extend('force', opts, { fargs = vim.list_slice(opts.fargs, 2), args = vim.trim((opts.args:gsub('^%s*%S+%s*', '', 1))) })
  command.run(rest.args, rest)
end

--- Completes a command line. A question is completed as a whole.
---@return string[]
function M.complete(lead, line, _)
  local own, rest = line:match('CodeRag(%u?%l*)!?%s+(.*)$')
  if not own then
    return {}
  end
  local command
  if own == '' then
    local first, after = rest:match('^(%S+)%s+(.*)$')
    if not first then
      return matching(names(), lead)
    end
    command, rest = find(first), after
  else
    command = find(own:lower())
  end
  if not command or not command.complete then
    return {}
  end
  -- Only the last word is replaced.
  local before = rest:sub(1, #rest - #lead)
  local all = {}
  for _, one in ipairs(command.complete(command.name == 'reindex' and lead or rest)) do
    all[#all + 1] = command.name == 'reindex' and one or one:sub(#before + 1)
  end
  return all
end

--- Completes a question that is typed into vim.ui.input().
---@return string[]
function M.complete_question(lead)
  return questions(lead)
end

return M

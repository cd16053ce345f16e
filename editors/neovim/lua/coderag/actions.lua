--- What the keys of the answer window do: a function for each option below
--- `keys`, by its name.
---@type table<string, fun(c: coderag.Conversation)>
local M = {}

local answer = require('coderag.answer')
local citation = require('coderag.citation')
local config = require('coderag.config')
local conversation = require('coderag.conversation')
local lsp = require('coderag.lsp')
local render = require('coderag.render')
local window = require('coderag.window')

function M.open(c)
  local cited, line = conversation.under_cursor(c)
  if cited then
    local float = vim.api.nvim_win_get_config(0).relative ~= '' and vim.api.nvim_get_current_win()
    if citation.open(cited, c.source.win, line) and float then
      vim.api.nvim_win_close(float, false)
    end
    return
  end
  local question = conversation.follow_up_at_cursor(c)
  if question then
    return answer.ask(question, { conversation = c })
  end
  vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
end

function M.preview(c)
  local cited = conversation.under_cursor(c)
  if cited then
    return citation.preview(cited, config.get().answer.border)
  end
  vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
end

function M.insert(c)
  local cited = conversation.under_cursor(c)
  if not cited then
    return vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
  end
  answer.insert({ citation = cited.id }, citation.window(c.source.win))
end

local function jump(c, backwards)
  local lines = vim.api.nvim_buf_get_lines(c.bufnr, 0, -1, false)
  local places = citation.scan(lines, conversation.known(c))
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  for _ = 1, vim.v.count1 do
    local target
    for _, place in ipairs(places) do
      local at = { place.row + 1, place.col }
      local after = at[1] > row or at[1] == row and at[2] > col
      local before = at[1] < row or at[1] == row and at[2] < col
      if after and not backwards then
        target = at
        break
      elseif before and backwards then
        target = at
      end
    end
    if not target then
      break
    end
    row, col = target[1], target[2]
    vim.api.nvim_win_set_cursor(0, target)
  end
end

function M.next(c)
  jump(c, false)
end

function M.previous(c)
  jump(c, true)
end

--- Goes to the heading of another turn of the conversation.
local function turnFrom(c, backwards)
  local row, target = vim.api.nvim_win_get_cursor(0)[1], nil
  for _, turn in ipairs(c.turns) do
    if backwards and turn.row + 1 < row or not backwards and turn.row + 1 > row and not target then
      target = turn.row + 1
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
    vim.cmd('normal! zt')
  end
end

function M.next_question(c)
  turnFrom(c, false)
end

function M.previous_question(c)
  turnFrom(c, true)
end

--- Shows the conversation before or after one.
local function beside(c, step)
  for i, other in ipairs(conversation.list) do
    if other == c then
      local to = conversation.list[i + step]
      if not to then
        return vim.notify(step < 0 and 'coderag: this is the oldest conversation' or 'coderag: this is the latest conversation', vim.log.levels.INFO)
      end
      return answer.show(to)
    end
  end
end

function M.older(c)
  beside(c, -1)
end

function M.newer(c)
  beside(c, 1)
end

function M.yank(c)
  local cited = conversation.under_cursor(c)
  if not cited or not cited.text then
    return vim.notify('coderag: no cited code under the cursor', vim.log.levels.INFO)
  end
  vim.fn.setreg(vim.v.register, cited.text .. '\n', 'V')
  vim.notify(('coderag: %s is in register %s'):format(cited.id, vim.v.register), vim.log.levels.INFO)
end

function M.follow_up(c)
  vim.ui.input({ prompt = 'Ask on: ' }, function(question)
    if question and vim.trim(question) ~= '' then
      answer.ask(question, { conversation = c })
    end
  end)
end

--- Asks the last question anew, in place of its answer.
local function askAgain(c, wait)
  local turn = table.remove(c.turns)
  if turn then
    if turn.request then
      lsp.cancel(turn.request)
    end
    render.write(c, math.max(0, turn.row - (turn.row > 0 and 1 or 0)), -1, {})
    answer.ask(turn.question, { conversation = c, document = turn.document, about = turn.about, wait = wait })
  end
end

function M.again(c)
  askAgain(c, false)
end

function M.wait(c)
  askAgain(c, true)
end

function M.quickfix(c)
  citation.list(conversation.citations(c), c.turns[1].question)
end

function M.loclist(c)
  citation.list(conversation.citations(c), c.turns[1].question, citation.window(c.source.win))
end

function M.history()
  answer.history()
end

function M.cancel(c)
  answer.cancel(c)
end

function M.close(c)
  local win = answer.window_of(c.bufnr)
  if win and not pcall(vim.api.nvim_win_close, win, false) then
    vim.wo[win].winfixbuf = false
    vim.cmd('enew') -- the last window
  end
end

function M.help()
  local lines = {}
  for _, option in ipairs(config.options) do
    local name = option.name:match('^keys%.(.*)')
    local keys = name and config.keys(name) or {}
    if #keys > 0 then
      lines[#lines + 1] = (' %-22s %s '):format(table.concat(keys, ' '), option.doc)
    end
  end
  window.list(lines, ' coderag: keys ')
end

return M

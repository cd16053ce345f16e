--- Conversations: what was asked and answered, found again by what is on the
--- screen.
local M = {}

local citation = require('coderag.citation')

---@class coderag.Turn
---@field question string as asked
---@field about? string what it is about: a range
---@field document? { uri: string, range?: lsp.Range } the same, for the server
---@field text string Markdown so far
---@field state 'running'|'done'|'cancelled'|'failed'
---@field citations table<string, coderag.wire.Citation> by id
---@field order string[] ids in the order they came
---@field retracted table<string, true>
---@field result? coderag.wire.AskResult
---@field error? string
---@field request? coderag.Request
---@field row integer 0-based row of its heading
---@field started integer ms
---@field dirty boolean there is more than is shown
---@field waits? boolean until everything is indexed, before it is asked

---@class coderag.Conversation
---@field turns coderag.Turn[]
---@field bufnr integer
---@field source { bufnr: integer, win: integer }
---@field client? vim.lsp.Client

--- All conversations that are kept, the oldest first.
---@type coderag.Conversation[]
M.list = {}

--- The conversation of a buffer; the latest for any other.
---@param bufnr? integer
---@return coderag.Conversation?
function M.current(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  for _, c in ipairs(M.list) do
    if c.bufnr == bufnr then
      return c
    end
  end
  return M.list[#M.list]
end

--- Every question that was asked, the newest first.
---@return string[]
function M.questions()
  local all, seen = {}, {}
  for i = #M.list, 1, -1 do
    for j = #M.list[i].turns, 1, -1 do
      local question = M.list[i].turns[j].question
      if not seen[question] then
        seen[question], all[#all + 1] = true, question
      end
    end
  end
  return all
end

--- The citations of a conversation that hold, in the order of the answers.
---@param c coderag.Conversation
---@return coderag.wire.Citation[]
function M.citations(c)
  local all, seen = {}, {}
  for _, turn in ipairs(c.turns) do
    for _, id in ipairs(turn.order) do
      if not seen[id] and not turn.retracted[id] then
        seen[id], all[#all + 1] = true, turn.citations[id]
      end
    end
  end
  return all
end

--- The turn that was asked last.
---@param c coderag.Conversation
---@return coderag.Turn?
function M.last(c)
  return c.turns[#c.turns]
end

--- The turn that a line belongs to.
---@param row integer 1-based
---@return coderag.Turn?
function M.turn_at(c, row)
  local turn
  for _, t in ipairs(c.turns) do
    if t.row < row then
      turn = t
    end
  end
  return turn
end

--- Every citation of a conversation by its id.
function M.known(c)
  local all = {}
  for _, turn in ipairs(c.turns) do
    all = vim.tbl_extend('force', all, turn.citations)
  end
  return all
end

--- The citation whose lines a code block shows, where the cursor is in one: the
--- nearest above it that holds the cursor's line.
---@param turn coderag.Turn
---@param row integer 1-based
---@return coderag.wire.Citation?, integer? line of the file, as the answer has it
local function ofBlock(c, turn, row)
  local lines = vim.api.nvim_buf_get_lines(c.bufnr, turn.row + 1, row, false)
  local fence
  for i, line in ipairs(lines) do
    if line:find('^%s*```') then
      fence = not fence and i or nil
    end
  end
  if not fence or fence == #lines then
    return nil
  end
  local block = vim.tbl_map(vim.trim, vim.list_slice(lines, fence + 1))
  local places = citation.scan(vim.list_slice(lines, 1, fence - 1), turn.citations)
  for i = #places, 1, -1 do
    local cited = turn.citations[places[i].id]
    local text = vim.tbl_map(vim.trim, vim.split(cited and cited.text or '', '\n'))
    for first = 1, #text - #block + 1 do
      if vim.deep_equal(vim.list_slice(text, first, first + #block - 1), block) then
        return cited, cited.startLine + first + #block - 2
      end
    end
  end
end

--- The citation under the cursor of the current window, else the only one of
--- its line, else the one whose code the cursor is in.
---@param c coderag.Conversation
---@return coderag.wire.Citation?, integer? line of the file where it is code
function M.under_cursor(c)
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local turn = M.turn_at(c, row)
  if not turn then
    return nil
  end
  local block, line = ofBlock(c, turn, row)
  if block then
    return block, line
  end
  local all = vim.tbl_extend('force', M.known(c), turn.citations)
  local places, found = citation.scan(vim.api.nvim_buf_get_lines(c.bufnr, row - 1, row, false), all), nil
  for _, place in ipairs(places) do
    if col >= place.col - 1 and col <= place.end_col then
      found = place
    end
  end
  found = found or #places == 1 and places[1] or nil
  return found and (all[found.id] or citation.parse(found.id, c.client))
end

--- The lines of a buffer that are questions, by number.
---@return table<integer, true>
function M.headings(bufnr)
  local rows = {}
  for _, c in ipairs(M.list) do
    for _, turn in ipairs(c.bufnr == bufnr and c.turns or {}) do
      rows[turn.row + 1] = true
    end
  end
  return rows
end

--- How many citations a conversation shows, and which of them the cursor of a
--- window is on.
---@return integer? n, integer total
function M.position(c, win)
  local row, col = unpack(vim.api.nvim_win_get_cursor(win))
  local places, on = citation.scan(vim.api.nvim_buf_get_lines(c.bufnr, 0, -1, false), M.known(c)), nil
  for n, place in ipairs(places) do
    if place.row + 1 == row and col >= place.col - 1 and col <= place.end_col then
      on = n
    end
  end
  return on, #places
end

--- The follow-up question on the cursor's line.
function M.follow_up_at_cursor(c)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local turn = M.last(c)
  local line = vim.api.nvim_buf_get_lines(c.bufnr, row - 1, row, false)[1] or ''
  for _, question in ipairs(turn and turn.result and turn.result.followUps or {}) do
    if line == '- ' .. question:gsub('%s*\n%s*', ' ') then
      return question
    end
  end
end

return M

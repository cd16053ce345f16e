--- The answer window: conversations that stream in, with citations to open.
local M = {}

local citation = require('coderag.citation')
local config = require('coderag.config')
local fresh = require('coderag.fresh')
local lsp = require('coderag.lsp')
local window = require('coderag.window')

local cites = vim.api.nvim_create_namespace('coderag.citations')
local notes = vim.api.nvim_create_namespace('coderag.notes')

local frames = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
--- Milliseconds between two frames, and between two looks at what streamed in.
local frameInterval = 80

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

---@type coderag.Conversation[]
local conversations = {}
local numbered = 0
---@type uv.uv_timer_t?
local ticker
local frame = 1

for name, link in pairs({
  CoderagQuestion = '@markup.heading.1.markdown',
  CoderagCitation = '@markup.link.label',
  CoderagRetracted = 'DiagnosticDeprecated',
  CoderagLines = 'Visual',
  CoderagCode = '',
  CoderagNote = 'Comment',
  CoderagError = 'DiagnosticError',
  CoderagWarning = 'DiagnosticWarn',
  CoderagKey = 'Special',
}) do
  vim.api.nvim_set_hl(0, name, link ~= '' and { link = link, default = true } or { default = true })
end

--- The conversation of a buffer; the latest for any other.
---@param bufnr? integer
---@return coderag.Conversation?
function M.current(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  for _, c in ipairs(conversations) do
    if c.bufnr == bufnr then
      return c
    end
  end
  return conversations[#conversations]
end

--- All conversations that are kept, the oldest first.
function M.all()
  return conversations
end

--- Every question that was asked, the newest first.
---@return string[]
function M.questions()
  local all, seen = {}, {}
  for i = #conversations, 1, -1 do
    for j = #conversations[i].turns, 1, -1 do
      local question = conversations[i].turns[j].question
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

local function lastTurn(c)
  return c.turns[#c.turns]
end

local function plural(n, one, many)
  return ('%d %s'):format(n, n == 1 and one or many or one .. 's')
end

--- Whether an answer was made from an index that was not finished.
---@param turn coderag.Turn
local function unfinished(turn)
  local coverage = turn.result and turn.result.coverage
  return coverage and ((coverage.pending or 0) > 0 or coverage.stale) or false
end

--- How far the index is, where it is not finished.
---@param coverage coderag.wire.Coverage
local function progress(coverage)
  if (coverage.pending or 0) > 0 then
    return ('%d of %d files indexed so far'):format(coverage.indexed, coverage.total)
  end
  return ('%s indexed so far, looking for more'):format(plural(coverage.indexed, 'file'))
end

--- What the answer rests on.
---@param turn coderag.Turn
local function foot(turn)
  local pieces = {}
  local function add(text, group)
    pieces[#pieces + 1] = { { text, group or 'CoderagNote' } }
  end
  local r = turn.result
  if turn.state == 'cancelled' then
    add('stopped', 'CoderagWarning')
  elseif turn.state == 'failed' then
    add('failed', 'CoderagError')
  elseif r and r.model and r.metrics then
    add(r.noAnswer and 'nothing relevant' or plural(#turn.order, 'citation') .. ', checked', r.noAnswer and 'CoderagWarning' or nil)
    if (r.dropped or 0) > 0 then
      add(plural(r.dropped, 'citation') .. ' no longer held', 'CoderagWarning')
    end
    if r.truncated then
      add('cut short', 'CoderagWarning')
    end
    local coverage = r.coverage or {}
    if unfinished(turn) then
      add(progress(coverage), 'CoderagWarning')
    else
      add(plural(coverage.indexed or 0, 'file'))
    end
    local llm = r.model.llm
    add((llm and llm ~= vim.NIL and llm ~= '') and llm or r.model.embedder)
    local used = r.metrics.llm
    if used and used ~= vim.NIL and (used.inputTokens or 0) + (used.outputTokens or 0) > 0 then
      add(('%d + %d tokens'):format(used.inputTokens or 0, used.outputTokens or 0))
    end
    local total = r.metrics.timings and r.metrics.timings.total
    if total then
      add(total < 1000 and ('%d ms'):format(math.max(1, total)) or ('%.1f s'):format(total / 1000))
    end
  end
  return pieces
end

--- The keys worth knowing.
local function hints(turn)
  local pieces = {}
  local function add(name, text)
    local key = config.keys(name)[1]
    if key then
      pieces[#pieces + 1] = { { key, 'CoderagKey' }, { ' ' .. text, 'CoderagNote' } }
    end
  end
  if #turn.order > 0 then
    add('next', 'next')
    add('open', 'open')
    add('preview', 'look')
    add('insert', 'insert')
  end
  if unfinished(turn) then
    add('wait', 'ask again once all is indexed')
  elseif turn.state ~= 'done' then
    add('again', 'ask again')
  end
  add('follow_up', 'ask on')
  add('help', 'all keys')
  return pieces
end

--- How long an answer has been waited for, from the first second on.
---@param turn coderag.Turn
local function elapsed(turn)
  local seconds = math.floor((vim.uv.now() - turn.started) / 1000)
  return seconds > 0 and (' %d s'):format(seconds) or ''
end

---@param c coderag.Conversation
local function write(c, first, last, lines)
  vim.bo[c.bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(c.bufnr, first, last, false, lines)
  vim.bo[c.bufnr].modifiable = false
  vim.bo[c.bufnr].modified = false
end

--- The lines of a turn below its heading.
local function body(turn)
  local lines = { '' }
  local text = turn.text:gsub('%s+$', '')
  if text ~= '' then
    vim.list_extend(lines, vim.split(text, '\r?\n'))
  end
  if turn.error then
    vim.list_extend(lines, text ~= '' and { '' } or {})
    vim.list_extend(lines, vim.split(turn.error, '\r?\n'))
  end
  if turn.result and #(turn.result.followUps or {}) > 0 then
    vim.list_extend(lines, { '', '**Ask next**', '' })
    for _, question in ipairs(turn.result.followUps) do
      lines[#lines + 1] = '- ' .. question:gsub('%s*\n%s*', ' ')
    end
  end
  return lines
end

--- Shows a turn as far as it came. Only what differs is written, so that the
--- cursor and what is selected stay.
---@param c coderag.Conversation
---@param turn coderag.Turn the last one
local function render(c, turn)
  if not vim.api.nvim_buf_is_valid(c.bufnr) then
    return
  end
  turn.dirty = false
  local new = body(turn)
  local old = vim.api.nvim_buf_get_lines(c.bufnr, turn.row + 1, -1, false)
  local same = 0
  while same < #new and same < #old and new[same + 1] == old[same + 1] do
    same = same + 1
  end
  local follow = {}
  if same < #new or same < #old then
    local bottom = vim.api.nvim_buf_line_count(c.bufnr)
    for _, win in ipairs(vim.fn.win_findbuf(c.bufnr)) do
      local row = vim.api.nvim_win_get_cursor(win)[1]
      follow[win] = row == bottom and row > turn.row + 2 or nil
    end
    window.highlight(c.bufnr, new)
    write(c, turn.row + 1 + same, -1, vim.list_slice(new, same + 1))
  end
  vim.api.nvim_buf_clear_namespace(c.bufnr, cites, turn.row, -1)
  for _, place in ipairs(citation.scan(new, turn.citations)) do
    vim.api.nvim_buf_set_extmark(c.bufnr, cites, turn.row + 1 + place.row, place.col, {
      end_col = place.end_col,
      hl_group = turn.retracted[place.id] and 'CoderagRetracted' or 'CoderagCitation',
      priority = 200,
    })
  end
  vim.api.nvim_buf_clear_namespace(c.bufnr, notes, turn.row, -1)
  -- What the answer rests on stands below its question, where it is seen first.
  local width = window.columns(c.bufnr)
  local under, below = window.lay(foot(turn), ' · ', width), nil
  if turn.state == 'running' then
    local doing = turn.text ~= '' and 'answering' or turn.request and 'searching' or 'starting the server'
    if turn.waits then
      local status = lsp.last_status(c.client)
      local coverage = status and status.coverage or { indexed = 0, total = 0 }
      doing = 'waiting for the index' .. (coverage.indexed < coverage.total and (' %d/%d'):format(coverage.indexed, coverage.total) or '')
    end
    local pieces = { { { frames[frame] .. ' ' .. doing .. '…' .. elapsed(turn), 'CoderagNote' } } }
    local cancel = config.keys('cancel')[1]
    if cancel then
      pieces[2] = { { cancel, 'CoderagKey' }, { ' stop', 'CoderagNote' } }
    end
    below = window.lay(pieces, '  ', width)
  elseif config.get().answer.hints then
    below = window.lay(hints(turn), '  ', width)
  end
  if below then
    if turn.text ~= '' then
      table.insert(below, 1, { { '' } })
    end
    vim.api.nvim_buf_set_extmark(c.bufnr, notes, vim.api.nvim_buf_line_count(c.bufnr) - 1, 0, { virt_lines = below })
  end
  if #under > 0 then
    vim.api.nvim_buf_set_extmark(c.bufnr, notes, turn.row, 0, { virt_lines = under })
  end
  if turn.row > 0 then
    vim.api.nvim_buf_set_extmark(c.bufnr, notes, turn.row, 0, { virt_lines = { { { ('─'):rep(width), 'CoderagNote' } } }, virt_lines_above = true })
  end
  vim.api.nvim_buf_set_extmark(c.bufnr, notes, turn.row, 0, { line_hl_group = 'CoderagQuestion', priority = 50 })
  local bottom = vim.api.nvim_buf_line_count(c.bufnr)
  for win in pairs(follow) do
    vim.api.nvim_win_set_cursor(win, { bottom, 0 })
  end
end

--- Shows what streamed in, and that something goes on, until nothing does.
local function tick()
  frame = frame % #frames + 1
  local running = false
  for _, c in ipairs(conversations) do
    local turn = lastTurn(c)
    if turn and turn.state == 'running' then
      running = true
      render(c, turn)
    end
  end
  vim.cmd('redrawstatus!')
  if not running and ticker then
    ticker:close()
    ticker = nil
  end
end

local function startTicking()
  if not ticker then
    ticker = assert(vim.uv.new_timer())
    ticker:start(
      frameInterval,
      frameInterval,
      vim.schedule_wrap(function()
        if ticker then
          tick()
        end
      end)
    )
  end
end

--- The window of a conversation in this tab page.
local function windowOf(bufnr)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == bufnr then
      return win
    end
  end
end

--- The window of any conversation in this tab page.
local function anyWindow()
  for _, c in ipairs(conversations) do
    local win = windowOf(c.bufnr)
    if win then
      return win
    end
  end
end

--- Shows a conversation, in the window of another where there is one.
---@param c coderag.Conversation
---@return integer win
function M.show(c)
  local before = vim.api.nvim_get_current_win()
  local win = windowOf(c.bufnr) or anyWindow()
  if win then
    vim.wo[win].winfixbuf = false
    vim.api.nvim_win_set_buf(win, c.bufnr)
    vim.api.nvim_set_current_win(win)
  else
    win = window.open(c.bufnr)
  end
  window.prepare(win)
  if lastTurn(c) then
    render(c, lastTurn(c)) -- its notes are laid out for this window
  end
  if not config.get().answer.focus and vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
  return win
end

--- The turn that a line belongs to.
---@param row integer 1-based
---@return coderag.Turn?
local function turnAt(c, row)
  local turn
  for _, t in ipairs(c.turns) do
    if t.row < row then
      turn = t
    end
  end
  return turn
end

--- Every citation of a conversation by its id.
local function known(c)
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
  local turn = turnAt(c, row)
  if not turn then
    return nil
  end
  local block, line = ofBlock(c, turn, row)
  if block then
    return block, line
  end
  local all = vim.tbl_extend('force', known(c), turn.citations)
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
  for _, c in ipairs(conversations) do
    for _, turn in ipairs(c.bufnr == bufnr and c.turns or {}) do
      rows[turn.row + 1] = true
    end
  end
  return rows
end

--- How many citations a conversation shows, and which of them the cursor of a
--- window is on.
---@return integer? n, integer total
local function position(c, win)
  local row, col = unpack(vim.api.nvim_win_get_cursor(win))
  local places, on = citation.scan(vim.api.nvim_buf_get_lines(c.bufnr, 0, -1, false), known(c)), nil
  for n, place in ipairs(places) do
    if place.row + 1 == row and col >= place.col - 1 and col <= place.end_col then
      on = n
    end
  end
  return on, #places
end

--- The bar above an answer: the question that is read, how far its answer is,
--- which citation the cursor is on.
---@return string as of 'winbar'
function M.winbar()
  local win = vim.g.statusline_winid or 0
  local bufnr = vim.api.nvim_win_get_buf(win)
  local c = M.current(bufnr)
  if not c or c.bufnr ~= bufnr then
    return ''
  end
  local turn = turnAt(c, vim.api.nvim_win_get_cursor(win)[1]) or lastTurn(c)
  if not turn then
    return ''
  end
  local state
  if turn.state == 'running' then
    state = frames[frame] .. elapsed(turn)
  elseif turn.state ~= 'done' then
    state = turn.state == 'cancelled' and 'stopped' or 'failed'
  else
    local on, total = position(c, win)
    state = total == 0 and '' or on and ('%d/%d'):format(on, total) or plural(total, 'citation')
  end
  local help = config.keys('help')[1]
  -- Not twice: its heading may be in sight.
  local name = vim.api.nvim_win_get_config(win).relative == '' and 'coderag' or ''
  local question = vim.fn.line('w0', win) <= turn.row + 1 and name or vim.trim(turn.question):gsub('%s+', ' '):gsub('%%', '%%%%')
  local shown = { '%#CoderagNote# %<', question, '%= ', state }
  if help then
    vim.list_extend(shown, { '  %#CoderagKey#', (help:gsub('%%', '%%%%')), '%#CoderagNote# keys' })
  end
  return table.concat(shown) .. ' '
end

--- The follow-up question on the cursor's line.
local function questionUnderCursor(c)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local turn = lastTurn(c)
  local line = vim.api.nvim_buf_get_lines(c.bufnr, row - 1, row, false)[1] or ''
  for _, question in ipairs(turn and turn.result and turn.result.followUps or {}) do
    if line == '- ' .. question:gsub('%s*\n%s*', ' ') then
      return question
    end
  end
end

--- What the keys of the answer window do.
---@type table<string, fun(c: coderag.Conversation)>
M.actions = {}

function M.actions.open(c)
  local cited, line = M.under_cursor(c)
  if cited then
    local float = vim.api.nvim_win_get_config(0).relative ~= '' and vim.api.nvim_get_current_win()
    if citation.open(cited, c.source.win, line) and float then
      vim.api.nvim_win_close(float, false)
    end
    return
  end
  local question = questionUnderCursor(c)
  if question then
    return M.ask(question, { conversation = c })
  end
  vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
end

function M.actions.preview(c)
  local cited = M.under_cursor(c)
  if cited then
    return citation.preview(cited, config.get().answer.border)
  end
  vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
end

function M.actions.insert(c)
  local cited = M.under_cursor(c)
  if not cited then
    return vim.notify('coderag: no citation under the cursor', vim.log.levels.INFO)
  end
  M.insert({ citation = cited.id }, citation.window(c.source.win))
end

local function jump(c, backwards)
  local lines = vim.api.nvim_buf_get_lines(c.bufnr, 0, -1, false)
  local places = citation.scan(lines, known(c))
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

function M.actions.next(c)
  jump(c, false)
end

function M.actions.previous(c)
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

function M.actions.next_question(c)
  turnFrom(c, false)
end

function M.actions.previous_question(c)
  turnFrom(c, true)
end

--- Shows the conversation before or after one.
local function beside(c, step)
  for i, other in ipairs(conversations) do
    if other == c then
      local to = conversations[i + step]
      if not to then
        return vim.notify(step < 0 and 'coderag: this is the oldest conversation' or 'coderag: this is the latest conversation', vim.log.levels.INFO)
      end
      return M.show(to)
    end
  end
end

function M.actions.older(c)
  beside(c, -1)
end

function M.actions.newer(c)
  beside(c, 1)
end

function M.actions.yank(c)
  local cited = M.under_cursor(c)
  if not cited or not cited.text then
    return vim.notify('coderag: no cited code under the cursor', vim.log.levels.INFO)
  end
  vim.fn.setreg(vim.v.register, cited.text .. '\n', 'V')
  vim.notify(('coderag: %s is in register %s'):format(cited.id, vim.v.register), vim.log.levels.INFO)
end

function M.actions.follow_up(c)
  vim.ui.input({ prompt = 'Ask on: ' }, function(question)
    if question and vim.trim(question) ~= '' then
      M.ask(question, { conversation = c })
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
    write(c, math.max(0, turn.row - (turn.row > 0 and 1 or 0)), -1, {})
    M.ask(turn.question, { conversation = c, document = turn.document, about = turn.about, wait = wait })
  end
end

function M.actions.again(c)
  askAgain(c, false)
end

function M.actions.wait(c)
  askAgain(c, true)
end

function M.actions.quickfix(c)
  citation.list(M.citations(c), c.turns[1].question)
end

function M.actions.loclist(c)
  citation.list(M.citations(c), c.turns[1].question, citation.window(c.source.win))
end

function M.actions.history()
  M.history()
end

function M.actions.cancel(c)
  M.cancel(c)
end

function M.actions.close(c)
  local win = windowOf(c.bufnr)
  if win and not pcall(vim.api.nvim_win_close, win, false) then
    vim.wo[win].winfixbuf = false
    vim.cmd('enew') -- the last window
  end
end

function M.actions.help()
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

local function setKeys(c)
  for name, action in pairs(M.actions) do
    for _, key in ipairs(config.keys(name)) do
      vim.keymap.set('n', key, function()
        action(c)
      end, { buffer = c.bufnr, nowait = true, silent = true, desc = 'coderag: ' .. name })
    end
  end
end

---@param title string
---@param source? { bufnr: integer, win: integer }
---@return coderag.Conversation
local function new(title, source)
  numbered = numbered + 1
  local bufnr = vim.api.nvim_create_buf(false, true)
  local c = { turns = {}, bufnr = bufnr, source = source or { bufnr = vim.api.nvim_get_current_buf(), win = vim.api.nvim_get_current_win() } }
  vim.api.nvim_buf_set_name(bufnr, ('coderag://%d/%s'):format(numbered, vim.fn.strcharpart(title:gsub('[%c%s]+', ' '), 0, 40)))
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].formatlistpat = [[^\s*\([-*+]\|\d\+[.)]\)\s\+]]
  vim.treesitter.language.register('markdown', 'coderag')
  vim.bo[bufnr].filetype = 'coderag'
  if not pcall(vim.treesitter.start, bufnr, 'markdown') then
    vim.bo[bufnr].syntax = 'markdown'
  end
  setKeys(c)
  conversations[#conversations + 1] = c
  while #conversations > config.get().answer.history do
    local oldest = table.remove(conversations, 1)
    M.cancel(oldest)
    if vim.api.nvim_buf_is_valid(oldest.bufnr) then
      vim.api.nvim_buf_delete(oldest.bufnr, { force = true })
    end
  end
  local group = vim.api.nvim_create_augroup('coderag.answer.' .. numbered, {})
  fresh.watch(c, group)
  vim.api.nvim_create_autocmd('CursorMoved', { group = group, buffer = bufnr, command = 'redrawstatus' })
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = bufnr,
    callback = function()
      M.cancel(c)
      window.forget(bufnr)
      vim.schedule(function()
        vim.api.nvim_del_augroup_by_id(group)
      end)
      for i, other in ipairs(conversations) do
        if other == c then
          table.remove(conversations, i)
          break
        end
      end
    end,
  })
  return c
end

local function addCitation(turn, cited)
  if cited and cited.id then
    if not turn.citations[cited.id] then
      turn.order[#turn.order + 1] = cited.id
    end
    turn.citations[cited.id] = cited
    turn.retracted[cited.id] = nil
  end
end

---@param partial coderag.wire.Partial
local function take(turn, partial)
  if turn.state ~= 'running' or type(partial) ~= 'table' then
    return
  end
  if partial.kind == 'text' then
    turn.text = turn.text .. (partial.text or '')
  elseif partial.kind == 'citation' then
    addCitation(turn, partial.citation)
  elseif partial.kind == 'retract' then
    turn.retracted[partial.id] = true
  end
  turn.dirty = true
end

--- Adds a turn to a conversation, with its heading on a row of its own.
---@return coderag.Turn
local function addTurn(c, question, about)
  local empty = #c.turns == 0
  local turn = {
    question = question,
    about = about,
    text = '',
    state = 'running',
    citations = {},
    order = {},
    retracted = {},
    row = empty and 0 or vim.api.nvim_buf_line_count(c.bufnr) + 1,
    started = vim.uv.now(),
    dirty = false,
  }
  if not empty then -- the keys stand below the last answer alone
    vim.api.nvim_buf_clear_namespace(c.bufnr, notes, lastTurn(c).row + 1, -1)
  end
  local heading = '# ' .. vim.trim(question):gsub('%s*\n%s*', ' ') .. (about and ('  (' .. about .. ')') or '')
  write(c, empty and 0 or -1, -1, empty and { heading } or { '', heading })
  c.turns[#c.turns + 1] = turn
  return turn
end

--- Puts the last turn's heading at the top of its windows.
local function goTo(c, turn)
  for _, win in ipairs(vim.fn.win_findbuf(c.bufnr)) do
    vim.api.nvim_win_call(win, function()
      vim.api.nvim_win_set_cursor(win, { turn.row + 1, 0 })
      vim.cmd('normal! zt')
    end)
  end
end

---@class coderag.AskOptions
---@field conversation? coderag.Conversation ask on in this one
---@field document? { uri: string, range?: lsp.Range } what it is about
---@field about? string the same in words
---@field wait? boolean until everything is indexed

--- Asks a question and shows the answer as it comes.
---@param question string
---@param opts? coderag.AskOptions
---@return coderag.Conversation
function M.ask(question, opts)
  opts = opts or {}
  local from = vim.api.nvim_get_current_buf()
  local c = opts.conversation
  if c then
    M.cancel(c)
  else
    local own = M.current(from)
    c = new(question, own and own.bufnr == from and own.source or nil)
  end
  local history = {}
  for _, turn in ipairs(c.turns) do
    if turn.state == 'done' and turn.result then
      history[#history + 1] = { query = turn.question, answer = turn.text }
    end
  end
  local turn = addTurn(c, question, opts.about)
  turn.document = opts.document
  render(c, turn)
  M.show(c)
  goTo(c, turn)
  startTicking()
  local function finish(state, err)
    turn.state, turn.error, turn.request = state, err, nil
    render(c, turn)
    window.refold(c.bufnr)
    fresh.check(c)
    vim.api.nvim_exec_autocmds('User', { pattern = 'CoderagAnswer', modeline = false, data = { bufnr = c.bufnr, state = state } })
  end
  lsp.client(c.source.bufnr, function(err, client)
    if turn.state ~= 'running' then
      return
    elseif not client then
      return finish('failed', err)
    end
    c.client = client
    local params = { query = question, filters = vim.empty_dict(), document = opts.document }
    if #history > 0 then
      params.history = history
    end
    local function ask()
      turn.request = lsp.request(client, 'coderag/ask', params, {
        on_partial = function(partial)
          take(turn, partial)
        end,
      }, function(failure, result, cancelled)
        if cancelled then
          return finish('cancelled')
        elseif failure then
          return finish('failed', failure)
        end
        turn.result, turn.text = result, result.answer
        turn.order, turn.citations, turn.retracted = {}, {}, {}
        for _, cited in ipairs(result.citations or {}) do
          addCitation(turn, cited)
        end
        finish('done')
      end)
    end
    if opts.wait then
      turn.waits = true
      turn.request = lsp.request(client, 'coderag/sync', { scan = true }, {}, function(failure, _, cancelled)
        turn.waits = nil
        if cancelled then
          return finish('cancelled')
        elseif failure then
          return finish('failed', failure)
        end
        ask()
      end)
    else
      ask()
    end
    render(c, turn)
  end)
  return c
end

--- Shows a finished text with citations, such as an explanation.
---@param title string
---@param text string Markdown
---@param citations coderag.wire.Citation[]
---@param client vim.lsp.Client
function M.present(title, text, citations, client)
  local c = new(title)
  c.client = client
  local turn = addTurn(c, title)
  turn.text, turn.state = text, 'done'
  for _, cited in ipairs(citations) do
    addCitation(turn, cited)
  end
  render(c, turn)
  M.show(c)
  window.refold(c.bufnr)
  goTo(c, turn)
  return c
end

--- Stops the answer of a conversation.
---@param c coderag.Conversation
function M.cancel(c)
  local turn = lastTurn(c)
  if not turn or turn.state ~= 'running' then
    return
  end
  if turn.request then
    return lsp.cancel(turn.request)
  end
  turn.state = 'cancelled'
  render(c, turn)
end

--- Shows or hides the latest conversation.
function M.toggle()
  local win = anyWindow()
  if win then
    return M.actions.close(assert(M.current(vim.api.nvim_win_get_buf(win))))
  end
  local c = M.current()
  if not c then
    return vim.notify('coderag: nothing was asked yet', vim.log.levels.INFO)
  end
  M.show(c)
end

--- Offers the conversations to go back to.
function M.history()
  if #conversations == 0 then
    return vim.notify('coderag: nothing was asked yet', vim.log.levels.INFO)
  end
  local newest = {}
  for i = #conversations, 1, -1 do
    newest[#newest + 1] = conversations[i]
  end
  vim.ui.select(newest, {
    prompt = 'coderag: conversations',
    kind = 'coderag.history',
    format_item = function(c)
      local more = #c.turns > 1 and (' (+%d)'):format(#c.turns - 1) or ''
      return c.turns[1].question:gsub('%s+', ' ') .. more
    end,
  }, function(c)
    if c then
      M.show(c)
    end
  end)
end

--- Inserts a cited snippet into a window's file, below its cursor.
---@param what { citation?: string, query?: string }
---@param win integer
---@param line? integer 1-based, instead of the cursor's
function M.insert(what, win, line)
  local bufnr = vim.api.nvim_win_get_buf(win)
  local row = (line or vim.api.nvim_win_get_cursor(win)[1]) - 1
  lsp.client(bufnr, function(err, client)
    if not client then
      return vim.notify('coderag: ' .. err, vim.log.levels.ERROR)
    end
    if not vim.lsp.buf_is_attached(bufnr, client.id) then
      vim.lsp.buf_attach_client(bufnr, client.id)
    end
    local at = { line = row, character = 0 }
    local argument = vim.tbl_extend('force', { document = { uri = vim.uri_from_bufnr(bufnr), range = { start = at, ['end'] = at } } }, what)
    lsp.request(
      client,
      'workspace/executeCommand',
      { command = 'coderag.server.insert', arguments = { argument } },
      { bufnr = bufnr },
      function(failure, result)
        if failure then
          return vim.notify('coderag: ' .. failure, vim.log.levels.ERROR)
        elseif result and not result.applied then
          return vim.notify('coderag: nothing inserted: ' .. (result.failureReason or 'the edit was refused'), vim.log.levels.WARN)
        end
        vim.notify(('coderag: inserted %s'):format(result and result.citation or what.citation or ''), vim.log.levels.INFO)
      end
    )
  end)
end

return M

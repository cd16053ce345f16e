--- What an answer looks like: its text, the notes around it, the bar above it.
local M = {}

local citation = require('coderag.citation')
local config = require('coderag.config')
local conversation = require('coderag.conversation')
local lsp = require('coderag.lsp')
local window = require('coderag.window')

local cites = vim.api.nvim_create_namespace('coderag.citations')
local notes = vim.api.nvim_create_namespace('coderag.notes')

local frames = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }
--- Milliseconds between two frames, and between two looks at what streamed in.
local frameInterval = 80

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

--- Writes lines into an answer's buffer, which users cannot.
---@param c coderag.Conversation
function M.write(c, first, last, lines)
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
function M.show(c, turn)
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
    M.write(c, turn.row + 1 + same, -1, vim.list_slice(new, same + 1))
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

--- Takes the keys away from below a turn that is no longer the last.
---@param c coderag.Conversation
---@param turn coderag.Turn
function M.forget_keys(c, turn)
  vim.api.nvim_buf_clear_namespace(c.bufnr, notes, turn.row + 1, -1)
end

--- Shows what streamed in, and that something goes on, until nothing does.
local function tick()
  frame = frame % #frames + 1
  local running = false
  for _, c in ipairs(conversation.list) do
    local turn = conversation.last(c)
    if turn and turn.state == 'running' then
      running = true
      M.show(c, turn)
    end
  end
  vim.cmd('redrawstatus!')
  if not running and ticker then
    ticker:close()
    ticker = nil
  end
end

--- Shows answers as they come, until all are there.
function M.start()
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

--- The bar above an answer: the question that is read, how far its answer is,
--- which citation the cursor is on.
---@return string as of 'winbar'
function M.winbar()
  local win = vim.g.statusline_winid or 0
  local bufnr = vim.api.nvim_win_get_buf(win)
  local c = conversation.current(bufnr)
  if not c or c.bufnr ~= bufnr then
    return ''
  end
  local turn = conversation.turn_at(c, vim.api.nvim_win_get_cursor(win)[1]) or conversation.last(c)
  if not turn then
    return ''
  end
  local state
  if turn.state == 'running' then
    state = frames[frame] .. elapsed(turn)
  elseif turn.state ~= 'done' then
    state = turn.state == 'cancelled' and 'stopped' or 'failed'
  else
    local on, total = conversation.position(c, win)
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

return M

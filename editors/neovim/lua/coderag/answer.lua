--- The answer window: conversations that stream in, with citations to open.
local M = {}

local config = require('coderag.config')
local conversation = require('coderag.conversation')
local fresh = require('coderag.fresh')
local lsp = require('coderag.lsp')
local render = require('coderag.render')
local window = require('coderag.window')

local numbered = 0
--- The window of a conversation in this tab page.
---@param bufnr integer
---@return integer?
function M.window_of(bufnr)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == bufnr then
      return win
    end
  end
end

--- The window of any conversation in this tab page.
local function anyWindow()
  for _, c in ipairs(conversation.list) do
    local win = M.window_of(c.bufnr)
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
  local win = M.window_of(c.bufnr) or anyWindow()
  if win then
    vim.wo[win].winfixbuf = false
    vim.api.nvim_win_set_buf(win, c.bufnr)
    vim.api.nvim_set_current_win(win)
  else
    win = window.open(c.bufnr)
  end
  window.prepare(win)
  if conversation.last(c) then
    render.show(c, conversation.last(c)) -- its notes are laid out for this window
  end
  if not config.get().answer.focus and vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
  return win
end

local function setKeys(c)
  for name, action in pairs(require('coderag.actions')) do
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
  conversation.list[#conversation.list + 1] = c
  while #conversation.list > config.get().answer.history do
    local oldest = table.remove(conversation.list, 1)
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
      for i, other in ipairs(conversation.list) do
        if other == c then
          table.remove(conversation.list, i)
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
    render.forget_keys(c, conversation.last(c))
  end
  local heading = '# ' .. vim.trim(question):gsub('%s*\n%s*', ' ') .. (about and ('  (' .. about .. ')') or '')
  render.write(c, empty and 0 or -1, -1, empty and { heading } or { '', heading })
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
    local own = conversation.current(from)
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
  render.show(c, turn)
  M.show(c)
  goTo(c, turn)
  render.start()
  local function finish(state, err)
    turn.state, turn.error, turn.request = state, err, nil
    render.show(c, turn)
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
    render.show(c, turn)
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
  render.show(c, turn)
  M.show(c)
  window.refold(c.bufnr)
  goTo(c, turn)
  return c
end

--- Stops the answer of a conversation.
---@param c coderag.Conversation
function M.cancel(c)
  local turn = conversation.last(c)
  if not turn or turn.state ~= 'running' then
    return
  end
  if turn.request then
    return lsp.cancel(turn.request)
  end
  turn.state = 'cancelled'
  render.show(c, turn)
end

--- Shows or hides the latest conversation.
function M.toggle()
  local win = anyWindow()
  if win then
    return require('coderag.actions').close(assert(conversation.current(vim.api.nvim_win_get_buf(win))))
  end
  local c = conversation.current()
  if not c then
    return vim.notify('coderag: nothing was asked yet', vim.log.levels.INFO)
  end
  M.show(c)
end

--- Offers the conversations to go back to.
function M.history()
  if #conversation.list == 0 then
    return vim.notify('coderag: nothing was asked yet', vim.log.levels.INFO)
  end
  local newest = {}
  for i = #conversation.list, 1, -1 do
    newest[#newest + 1] = conversation.list[i]
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

--- coderag: questions about your code, answered with checked citations.
---
--- What a command does is a function here as well. Modules are loaded when they
--- are used.
local M = {}

--- Sets options, see |coderag-options|. Calling it is optional; without it the
--- options are those in `vim.g.coderag`. Whatever is unknown or wrong is told by
--- name and left at its default.
---@param options? coderag.Options
function M.setup(options)
  require('coderag.config').set(options or {})
  if package.loaded['coderag.lsp'] then
    require('coderag.lsp').configure()
  end
end

--- A range of the current buffer as the server takes it.
---@param range? { [1]: integer, [2]: integer } lines, 1-based and inclusive
---@param whole? boolean the whole buffer where there is no range
---@return { uri: string, range?: lsp.Range }? document
---@return string? about
local function document(range, whole)
  local bufnr = vim.api.nvim_get_current_buf()
  if vim.bo[bufnr].buftype ~= '' or vim.api.nvim_buf_get_name(bufnr) == '' then
    return nil
  end
  local uri = vim.uri_from_bufnr(bufnr)
  if not range then
    -- While Neovim starts the cursor is on no line yet.
    local row = math.max(0, vim.api.nvim_win_get_cursor(0)[1] - 1)
    local at = { line = row, character = 0 }
    return { uri = uri, range = not whole and { start = at, ['end'] = at } or nil }
  end
  local first, last = range[1], range[2]
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ':t')
  local lastLine = vim.api.nvim_buf_line_count(bufnr)
  local stop = last < lastLine and { line = last, character = 0 }
    or { line = last - 1, character = #vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] }
  local client = require('coderag.lsp').running(bufnr)
  if last >= lastLine and client and client.offset_encoding ~= 'utf-8' then
    local line = vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1]
    stop.character = vim.str_utfindex(line, client.offset_encoding)
  end
  return { uri = uri, range = { start = { line = first - 1, character = 0 }, ['end'] = stop } }, ('%s:%d-%d'):format(name, first, last)
end

local function warn(text)
  vim.notify('coderag: ' .. text, vim.log.levels.WARN)
end

--- Calls back with a text, asked for where it is not given.
local function given(text, prompt, callback)
  if text and vim.trim(text) ~= '' then
    return callback(vim.trim(text))
  end
  vim.ui.input({ prompt = prompt, completion = "customlist,v:lua.require'coderag.commands'.complete_question" }, function(typed)
    if typed and vim.trim(typed) ~= '' then
      callback(vim.trim(typed))
    end
  end)
end

--- Asks a question; without one it is asked for. The answer streams into the
--- answer window (|coderag-answer|).
---@param question? string
---@param opts? { range?: { [1]: integer, [2]: integer }, follow_up?: boolean } lines that it is about; ask on in the latest conversation
function M.ask(question, opts)
  opts = opts or {}
  local about, words = document(opts.range)
  given(question, 'Ask: ', function(text)
    require('coderag.answer').ask(text, {
      conversation = opts.follow_up and require('coderag.conversation').current() or nil,
      document = about,
      about = opts.range and words or nil,
    })
  end)
end

--- Offers hits to open, or lists them.
---@param result coderag.wire.SearchResult
local function offer(result, title, list)
  local citation = require('coderag.citation')
  local hits = result.hits or {}
  if #hits == 0 then
    return warn('nothing relevant was found for ' .. title)
  end
  list = list or require('coderag.config').get().search.list
  if list ~= 'select' then
    return citation.list(hits, title, list == 'loclist' and citation.window(vim.api.nvim_get_current_win()) or nil)
  end
  local from = vim.api.nvim_get_current_win()
  vim.ui.select(hits, {
    prompt = 'coderag: ' .. title,
    kind = 'coderag.hit',
    format_item = function(hit)
      return ('%s:%d-%d  %s'):format(hit.path, hit.startLine, hit.endLine, hit.symbol or vim.trim(vim.split(hit.text, '\n')[1]))
    end,
  }, function(hit)
    if hit then
      citation.open(hit, from)
    end
  end)
end

--- Sends a request for the current buffer; errors are shown.
local function request(method, params, callback)
  local lsp = require('coderag.lsp')
  local bufnr = vim.api.nvim_get_current_buf()
  lsp.client(bufnr, function(err, client)
    if not client then
      return vim.notify('coderag: ' .. err, vim.log.levels.ERROR)
    end
    lsp.request(client, method, params or vim.empty_dict(), {}, function(failure, result, cancelled)
      if failure then
        vim.notify('coderag: ' .. failure, vim.log.levels.ERROR)
      elseif not cancelled then
        callback(result, client)
      end
    end)
  end)
end

--- Searches; without words they are asked for. Hits are offered with
--- |vim.ui.select()| or listed.
---@param query? string
---@param opts? { list?: 'select'|'quickfix'|'loclist' }
function M.search(query, opts)
  local about = document()
  given(query, 'Search: ', function(text)
    request('coderag/search', { query = text, filters = vim.empty_dict(), document = about }, function(result)
      offer(result, text, opts and opts.list)
    end)
  end)
end

--- Explains a symbol: the one named, else the one under the cursor.
---@param name? string
function M.explain(name)
  local params, method
  if name and name ~= '' then
    method, params = 'workspace/executeCommand', { command = 'coderag.server.explain', arguments = { name } }
  else
    local bufnr = vim.api.nvim_get_current_buf()
    if vim.bo[bufnr].buftype ~= '' then
      return warn('this is no file: name the symbol, :CodeRagExplain NAME')
    end
    method = 'coderag/explain'
  end
  local lsp = require('coderag.lsp')
  local bufnr, win = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  lsp.client(bufnr, function(err, client)
    if not client then
      return vim.notify('coderag: ' .. err, vim.log.levels.ERROR)
    end
    if not params then
      local at = vim.lsp.util.make_position_params(win, client.offset_encoding)
      params = { document = { uri = at.textDocument.uri, range = { start = at.position, ['end'] = at.position } } }
      name = vim.fn.expand('<cword>')
    end
    lsp.request(client, method, params, { bufnr = bufnr }, function(failure, result)
      if failure then
        return vim.notify('coderag: ' .. failure, vim.log.levels.ERROR)
      elseif not result or not result.found then
        return warn(('no symbol %s is defined in this workspace'):format(name))
      end
      local citations = {}
      for _, list in ipairs({ result.definitions, result.usages, result.tests }) do
        vim.list_extend(citations, list)
      end
      require('coderag.answer').present(result.symbol, result.markdown, citations, client)
    end)
  end)
end

--- Finds code like a range of lines, else like the lines around the cursor.
---@param opts? { range?: { [1]: integer, [2]: integer }, list?: 'select'|'quickfix'|'loclist' }
function M.similar(opts)
  opts = opts or {}
  local about, words = document(opts.range)
  if not about then
    return warn('this is no file: nothing to compare')
  end
  request('coderag/similar', { document = about }, function(result)
    offer(result, 'like ' .. (words or 'the code under the cursor'), opts.list)
  end)
end

--- Inserts a cited snippet below the cursor: `path:start-end`, or the best hit of
--- a query. Without either, the citations of the latest answer are offered.
---@param what? string
function M.insert(what)
  local answer = require('coderag.answer')
  local win = require('coderag.citation').window(vim.api.nvim_get_current_win())
  if what and what ~= '' then
    return answer.insert(what:find('^%S.*:%d+%-%d+$') and { citation = what } or { query = what }, win)
  end
  local conversation = require('coderag.conversation')
  local c = conversation.current()
  local citations = c and conversation.citations(c) or {}
  if #citations == 0 then
    return given(nil, 'Insert a snippet about: ', function(text)
      answer.insert({ query = text }, win)
    end)
  end
  vim.ui.select(citations, {
    prompt = 'coderag: insert',
    kind = 'coderag.citation',
    format_item = function(cited)
      return cited.id .. (cited.symbol and '  ' .. cited.symbol or '')
    end,
  }, function(cited)
    if cited then
      answer.insert({ citation = cited.id }, win)
    end
  end)
end

--- Shows or hides the answer window.
function M.answers()
  require('coderag.answer').toggle()
end

--- Offers earlier conversations with |vim.ui.select()|.
function M.history()
  require('coderag.answer').history()
end

--- Stops the answer that is being made.
function M.cancel()
  local answer = require('coderag.answer')
  for _, c in ipairs(require('coderag.conversation').list) do
    answer.cancel(c)
  end
end

--- Puts the citations of the latest answer into the quickfix list, or with
--- `loclist` into the window's location list.
---@param loclist? boolean
function M.citations(loclist)
  local c = require('coderag.conversation').current()
  if not c then
    return warn('nothing was asked yet')
  end
  require('coderag.actions')[loclist and 'loclist' or 'quickfix'](c)
end

--- Shows the state of the index.
function M.status()
  request('coderag/status', nil, function(status)
    require('coderag.status').show(status)
  end)
end

--- Indexes files and folders again, everything where none are given.
---@param paths? string[]
function M.reindex(paths)
  local params = { paths = paths and #paths > 0 and vim.tbl_map(function(path)
    return vim.fn.fnamemodify(vim.fn.expand(path), ':p')
  end, paths) or nil }
  request('coderag/reindex', next(params) and params or nil, function()
    vim.notify('coderag: indexing again', vim.log.levels.INFO)
  end)
end

--- Stops background work until |coderag.resume()|. What is open or changes is
--- searchable all the same.
function M.pause()
  request('coderag/pause', nil, function()
    vim.notify('coderag: paused', vim.log.levels.INFO)
  end)
end

--- Goes on with background work.
function M.resume()
  request('coderag/resume', nil, function()
    vim.notify('coderag: resumed', vim.log.levels.INFO)
  end)
end

--- Stops the server and starts it anew for the open files.
function M.restart()
  require('coderag.lsp').restart()
end

--- Opens the log: the server's own file where the setting `log.file` names one,
--- else what it wrote to Neovim's.
function M.log()
  require('coderag.status').log()
end

--- A component for the statusline: the state of the index, and how many
--- questions are being answered. Empty where no server runs for the buffer.
---@return string
function M.statusline()
  if not package.loaded['coderag.lsp'] then
    return ''
  end
  return require('coderag.status').line()
end

return M

--- The state of the index: in a window, in the statusline; the log.
local M = {}

local lsp = require('coderag.lsp')

local function given(value)
  return value ~= nil and value ~= vim.NIL and value ~= '' and value or nil
end

local function bytes(n)
  for _, unit in ipairs({ 'B', 'KiB', 'MiB', 'GiB' }) do
    if n < 1024 or unit == 'GiB' then
      return (unit == 'B' and '%d %s' or '%.1f %s'):format(n, unit)
    end
    n = n / 1024
  end
end

--- A state in words of one's own.
local states = {
  ready = 'everything is searchable',
  empty = 'there is nothing to index',
  scanning = 'looking for files',
  indexing = 'indexing',
  embedding = 'all words are searchable, vectors are being made',
  paused = 'paused',
  memoryLimit = 'waiting for memory',
  error = 'something cannot be indexed',
}

--- The status as Markdown.
---@param s coderag.wire.Status
---@return string[]
function M.lines(s)
  local lines = {}
  local function row(name, text)
    if given(text) then
      lines[#lines + 1] = ('%-10s %s'):format(name, text)
    end
  end
  local c = s.coverage
  row('state', states[s.state] or s.state)
  row('files', ('%d of %d searchable%s'):format(c.indexed, c.total, c.pending > 0 and (', %d to do'):format(c.pending) or ''))
  local languages = {}
  for name, count in
    vim.spairs(s.languages or {}, function(t, a, b)
      return t[a] > t[b] or t[a] == t[b] and a < b
    end)
  do
    languages[#languages + 1] = ('%s %d'):format(name, count)
  end
  row('languages', table.concat(vim.list_slice(languages, 1, 6), ', '))
  row('chunks', ('%d, %d symbols'):format(s.chunks, s.symbols))
  row('vectors', ('%d %%, %s'):format(math.floor((c.vectorsReady or 0) * 100), s.model.embedder))
  row('answers', given(s.model.llm) and 'written by ' .. s.model.llm or 'extracted from the code')
  if given(s.etaSeconds) and s.etaSeconds > 0 then
    row('left', ('%d s'):format(math.ceil(s.etaSeconds)))
  end
  local skipped = {}
  for reason, count in vim.spairs(c.skipped or {}) do
    skipped[#skipped + 1] = ('%s %d'):format(reason, count)
  end
  row('skipped', table.concat(skipped, ', '))
  row('memory', ('%s of at most %s'):format(bytes(s.rssBytes), bytes(s.memoryLimitBytes)))
  row('disk', bytes(s.storeBytes))
  row('process', s.owner and ('%d, keeps the index'):format(s.ownedBy.pid) or ('the index is kept by %d'):format(s.ownedBy.pid))
  row('version', s.version)
  for _, root in ipairs(s.roots or {}) do
    row('folder', root.dir .. (given(root.error) and ': ' .. root.error or ''))
    row('index', root.memory and 'in memory: it is made again at each start' or root.index)
  end
  for _, notice in ipairs(s.notices or {}) do
    row('notice', notice)
  end
  if given(s.lastError) and given(s.lastError.message) then
    row('last error', s.lastError.message .. '  ' .. (s.lastError.at or ''))
  end
  return lines
end

--- Shows a status in a floating window.
---@param s coderag.wire.Status
function M.show(s)
  local bufnr = vim.lsp.util.open_floating_preview(M.lines(s), '', {
    border = require('coderag.config').get().answer.border,
    title = ' coderag ',
    focus_id = 'coderag.status',
    focus = false,
    wrap = true,
    max_width = math.min(100, vim.o.columns - 4),
  })
  local space = vim.api.nvim_create_namespace('coderag.status')
  for row, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    local bad = line:find('^last error') or line:find('^notice')
    vim.api.nvim_buf_set_extmark(bufnr, space, row - 1, 0, { end_col = math.min(#line, 10), hl_group = bad and 'WarningMsg' or 'Comment' })
  end
end

--- The statusline component.
function M.line()
  local client = vim.lsp.get_clients({ name = 'coderag', bufnr = vim.api.nvim_get_current_buf() })[1]
    or vim.bo.buftype ~= '' and vim.lsp.get_clients({ name = 'coderag' })[1]
  if not client then
    return ''
  end
  local parts = {}
  local s = lsp.last_status(client)
  if s then
    local c = s.coverage
    if s.state == 'ready' or s.state == 'empty' then
      parts[1] = tostring(c.indexed)
    elseif s.state == 'error' or s.state == 'paused' then
      parts[1] = s.state
    elseif c.total > 0 and c.indexed < c.total then
      parts[1] = ('%d/%d'):format(c.indexed, c.total)
    elseif s.state == 'embedding' then
      parts[1] = ('%d %%%%'):format(math.floor((c.vectorsReady or 0) * 100))
    else
      parts[1] = s.state
    end
  end
  if lsp.busy() > 0 then
    parts[#parts + 1] = 'asking'
  end
  return #parts > 0 and 'coderag ' .. table.concat(parts, ' ') or 'coderag'
end

--- The lines that the server wrote to Neovim's log.
---@return string[]
function M.logged()
  local ok, all = pcall(vim.fn.readfile, vim.lsp.log.get_filename(), '', -20000)
  local lines = {}
  for _, line in ipairs(ok and all or {}) do
    local time, text = line:match('^%[%u+%]%[([^%]]*)%].*coderag%-ls.*"stderr"%s+"(.*)"%s*$')
    if time then
      text = text:gsub('\\n', '\n'):gsub('\\t', '\t'):gsub('\\"', '"'):gsub('\\\\', '\\'):gsub('%s+$', '')
      for _, part in ipairs(vim.split(text, '\n')) do
        lines[#lines + 1] = part
      end
    end
  end
  return lines
end

--- Opens the log.
function M.log()
  local configured = vim.lsp.config.coderag or {}
  local program = type(configured.cmd) == 'table' and configured.cmd[1] or 'coderag-ls'
  local function open(file)
    if file and vim.uv.fs_stat(file) then
      vim.cmd.split(vim.fn.fnameescape(file))
      vim.bo.readonly, vim.bo.autoread = true, true
      return vim.cmd('normal! G')
    end
    local lines = M.logged()
    if #lines == 0 then
      return vim.notify('coderag: the server logged nothing', vim.log.levels.INFO)
    end
    vim.cmd.new()
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.filetype = 'nofile', 'wipe', false, 'log'
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.bo.modifiable = false
    vim.cmd('normal! G')
  end
  local init = vim.tbl_get(configured, 'init_options', 'log', 'file')
  if init or vim.fn.executable(program) ~= 1 then
    return open(init)
  end
  vim.system(
    { program, 'config', '--json' },
    { text = true },
    vim.schedule_wrap(function(out)
      local ok, settings = pcall(vim.json.decode, out.stdout or '')
      for _, setting in ipairs(ok and type(settings) == 'table' and settings or {}) do
        if setting.name == 'log.file' then
          return open(given(setting.value))
        end
      end
      open(nil)
    end)
  )
end

return M

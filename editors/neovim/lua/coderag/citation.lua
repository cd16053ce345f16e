--- Citations: found in a buffer, opened where their lines stand now, shown,
--- listed.
local M = {}

local marks = vim.api.nvim_create_namespace('coderag.cited')

---@class coderag.Place a citation in a buffer
---@field row integer 0-based
---@field col integer 0-based byte of its first character
---@field end_col integer behind its last
---@field id string path:start-end

--- Finds the citations `[path:start-end]` in lines. Those that are known are
--- found whatever their path holds, others where it has no bracket or space.
---@param lines string[]
---@param known table<string, any> by id
---@return coderag.Place[] in order
function M.scan(lines, known)
  local places, fence = {}, false
  for row, line in ipairs(lines) do
    if line:find('^%s*```') then
      fence = not fence
    elseif not fence then
      local from = 1
      while true do
        local first, last, id = line:find('%[([^%[%]]+:%d+%-%d+)%]', from)
        if not first then
          break
        end
        if known[id] or not id:find('%s') then
          places[#places + 1] = { row = row - 1, col = first, end_col = last - 1, id = id }
        end
        from = last + 1
      end
      for id in pairs(known) do
        if id:find('[%[%]]') then
          local first, last = line:find('[' .. id .. ']', 1, true)
          if first then
            places[#places + 1] = { row = row - 1, col = first, end_col = last - 1, id = id }
          end
        end
      end
    end
  end
  table.sort(places, function(a, b)
    return a.row < b.row or a.row == b.row and a.col < b.col
  end)
  return places
end

--- Makes a citation of an id that the server did not list, where the file is
--- there.
---@param client? vim.lsp.Client
---@return coderag.wire.Citation?
function M.parse(id, client)
  local path, first, last = id:match('^(.+):(%d+)%-(%d+)$')
  if not path then
    return nil
  end
  for _, folder in ipairs(client and client.workspace_folders or { { uri = vim.uri_from_fname(vim.uv.cwd()) } }) do
    local dir = vim.uri_to_fname(folder.uri)
    for _, try in ipairs({ path, (path:gsub('^' .. vim.pesc(vim.fs.basename(dir)) .. '/', '')) }) do
      local file = vim.fs.joinpath(dir, try)
      if vim.uv.fs_stat(file) then
        return { id = id, path = path, uri = vim.uri_from_fname(file), startLine = tonumber(first), endLine = tonumber(last) }
      end
    end
  end
end

local function withoutReturns(lines)
  return vim.tbl_map(function(line)
    return (line:gsub('\r$', ''))
  end, lines)
end

--- The lines of a file as they stand: in its buffer, else on disk.
---@return string[]?
local function linesOf(uri)
  local path = vim.uri_to_fname(uri)
  local bufnr = vim.fn.bufnr(path)
  if bufnr > 0 and vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == path then
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
  local ok, lines = pcall(vim.fn.readfile, path)
  return ok and withoutReturns(lines) or nil
end

--- Finds cited lines in a text: where they were, else nearest to there.
---@param c coderag.wire.Citation
---@param lines string[]
---@return integer first, integer last, 'exact'|'moved'|'changed' state
function M.find(c, lines)
  local first = math.max(1, math.min(c.startLine, #lines))
  local last = math.max(first, math.min(c.endLine, #lines))
  if not c.text then
    return first, last, 'exact'
  end
  local cited = withoutReturns(vim.split(c.text, '\n', { plain = true }))
  local function standsAt(n)
    for i, line in ipairs(cited) do
      if lines[n + i - 1] ~= line then
        return false
      end
    end
    return true
  end
  for distance = 0, #lines do
    for _, n in ipairs({ c.startLine - distance, c.startLine + distance }) do
      if n >= 1 and n + #cited - 1 <= #lines and standsAt(n) then
        return n, n + #cited - 1, n == c.startLine and 'exact' or 'moved'
      end
    end
  end
  return first, last, 'changed'
end

--- Whether cited lines stand as they did, and where.
---@param c coderag.wire.Citation
---@param files table<string, string[]|false> lines that were read, by URI
---@return 'exact'|'moved'|'changed'|'gone' state, integer? first, integer? last
function M.state(c, files)
  if files[c.uri] == nil then
    files[c.uri] = linesOf(c.uri) or false
  end
  local lines = files[c.uri]
  if not lines then
    return 'gone'
  end
  local first, last, state = M.find(c, lines)
  return state, first, last
end

--- A window for files: the one before, else any in this tab page, else a new one.
---@param preferred? integer
---@return integer
function M.window(preferred)
  local function takesFiles(win)
    return win
      and win ~= 0
      and vim.api.nvim_win_is_valid(win)
      and vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage()
      and vim.api.nvim_win_get_config(win).relative == ''
      and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
      and not vim.wo[win].winfixbuf
      and not vim.wo[win].previewwindow
  end
  local candidates = { preferred or 0, vim.fn.win_getid(vim.fn.winnr('#')), unpack(vim.api.nvim_tabpage_list_wins(0)) }
  for _, win in ipairs(candidates) do
    if takesFiles(win) then
      return win
    end
  end
  local from = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_config(from).relative ~= '' then
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.api.nvim_win_get_config(win).relative == '' then
        from = win
        break
      end
    end
  end
  return vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), false, { split = 'left', win = from })
end

--- Opens a citation at its lines as they stand, and shows them for a moment.
---@param c coderag.wire.Citation
---@param preferred? integer the window to open it in
---@param line? integer the line to go to, of those cited
---@return boolean opened
function M.open(c, preferred, line)
  local path = vim.uri_to_fname(c.uri)
  -- By its short name, as :edit would show it.
  local bufnr = vim.fn.bufadd(vim.fn.fnamemodify(path, ':.'))
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    if not vim.uv.fs_stat(path) then
      vim.notify(('coderag: %s is gone'):format(c.path), vim.log.levels.WARN)
      return false
    end
    vim.fn.bufload(bufnr)
  end
  vim.bo[bufnr].buflisted = true
  local win = M.window(preferred)
  vim.api.nvim_set_current_win(win)
  vim.cmd("normal! m'")
  if vim.api.nvim_win_get_buf(win) ~= bufnr then
    vim.api.nvim_win_set_buf(win, bufnr)
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local first, last, state = M.find(c, lines)
  local at = line and math.min(last, math.max(first, first + line - c.startLine)) or first
  vim.api.nvim_win_set_cursor(win, { at, #(lines[at] or ''):match('^%s*') })
  vim.cmd('normal! zvzz')
  vim.hl.range(bufnr, marks, 'CoderagLines', { first - 1, 0 }, { last - 1, -1 }, { timeout = 1500 })
  if state == 'moved' then
    vim.notify(('coderag: the cited lines have moved to %d-%d'):format(first, last), vim.log.levels.INFO)
  elseif state == 'changed' then
    vim.notify('coderag: the cited lines have changed since the answer: ask again', vim.log.levels.WARN)
  end
  return true
end

--- Shows the cited lines as they stand now in a floating window.
---@param c coderag.wire.Citation
---@param border any
function M.preview(c, border)
  local lines = linesOf(c.uri)
  if not lines then
    return vim.notify(('coderag: %s is gone'):format(c.path), vim.log.levels.WARN)
  end
  local first, last, state = M.find(c, lines)
  local shown = vim.list_slice(lines, first, math.min(last, first + 199))
  local name = ('%s:%d-%d'):format(c.path, first, last)
  local title = name .. (c.symbol and ('  ' .. c.symbol) or '') .. (state == 'exact' and '' or '  ' .. state)
  local widest = math.floor(vim.o.columns * 0.8)
  local _, win = vim.lsp.util.open_floating_preview(shown, '', {
    border = border,
    title = ' ' .. title .. ' ',
    focus_id = 'coderag.preview',
    wrap = false,
    max_width = widest,
    max_height = math.floor(vim.o.lines * 0.6),
  })
  if not win then
    return
  end
  -- Neovim makes it no wider than the answer's window; code needs more.
  local width = vim.api.nvim_win_get_width(win)
  for _, line in ipairs(shown) do
    width = math.max(width, math.min(widest, vim.fn.strdisplaywidth(line)))
  end
  vim.api.nvim_win_set_width(win, width)
  local bufnr = vim.api.nvim_win_get_buf(win)
  local filetype = vim.filetype.match({ filename = vim.uri_to_fname(c.uri), contents = lines })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if filetype and not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype
  end
end

--- Items for setqflist() and setloclist().
---@param citations coderag.wire.Citation[]|coderag.wire.Hit[]
---@return table[]
function M.items(citations)
  return vim.tbl_map(function(c)
    local lines = linesOf(c.uri)
    local first, last = c.startLine, c.endLine
    if lines then
      first, last = M.find(c, lines)
    end
    local text = vim.trim((lines or {})[first] or '')
    return {
      filename = vim.uri_to_fname(c.uri),
      lnum = first,
      end_lnum = last,
      col = 1,
      text = (c.symbol and c.symbol ~= '' and c.symbol .. ': ' or '') .. text,
    }
  end, citations)
end

--- Lists citations in the quickfix list, or a window's location list.
---@param win? integer
function M.list(citations, title, win)
  if #citations == 0 then
    return vim.notify('coderag: no citations', vim.log.levels.WARN)
  end
  local what = { title = 'coderag: ' .. title, items = M.items(citations) }
  if win then
    vim.fn.setloclist(win, {}, ' ', what)
    vim.api.nvim_set_current_win(win)
    vim.cmd('lopen')
  else
    vim.fn.setqflist({}, ' ', what)
    vim.cmd('botright copen')
  end
end

return M

--- The answer window: where it opens, how text is laid out, its bar, its folds.
local M = {}

local config = require('coderag.config')

--- Opens a window for a buffer, as the options say, and goes there.
---@param bufnr integer
---@return integer win
function M.open(bufnr)
  local options = config.get().answer
  local layout, size = options.window, options.size
  if layout == 'float' then
    local width = math.max(20, math.floor(vim.o.columns * math.max(size, 0.8)))
    local height = math.max(5, math.floor(vim.o.lines * math.max(size, 0.8)))
    return vim.api.nvim_open_win(bufnr, true, {
      relative = 'editor',
      width = math.min(width, vim.o.columns - 4),
      height = math.min(height, vim.o.lines - 4),
      col = math.floor((vim.o.columns - width) / 2) - 1,
      row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
      border = options.border,
      title = ' coderag ',
      title_pos = 'center',
    })
  elseif layout == 'tab' then
    vim.cmd('tab split')
  elseif layout == 'split' then
    vim.api.nvim_open_win(bufnr, true, { split = 'below', win = -1, height = math.floor(vim.o.lines * math.min(size, 0.9)) })
  elseif layout == 'vsplit' then
    vim.api.nvim_open_win(bufnr, true, { split = 'right', win = -1, width = math.floor(vim.o.columns * math.min(size, 0.9)) })
  end
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, bufnr)
  return win
end

--- Sets a window's options for reading an answer.
---@param win integer
function M.prepare(win)
  local options = config.get().answer
  local split = vim.api.nvim_win_get_config(win).relative == ''
  for name, value in pairs({
    wrap = true,
    linebreak = true,
    breakindent = true,
    breakindentopt = 'list:-1',
    smoothscroll = true,
    conceallevel = 0,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    list = false,
    spell = false,
    colorcolumn = '',
    cursorline = false,
    fillchars = 'eob: ,fold: ',
    winhighlight = 'Folded:CoderagNote,@markup.raw.block.markdown:CoderagCode',
    foldenable = true,
    foldmethod = 'expr',
    foldexpr = "v:lua.require'coderag.window'.fold(v:lnum)",
    foldtext = "v:lua.require'coderag.window'.foldtext()",
    foldlevel = 1,
    winbar = options.winbar and "%{%v:lua.require'coderag.render'.winbar()%}" or '',
    winfixwidth = split and options.window == 'vsplit',
    winfixheight = split and options.window == 'split',
    winfixbuf = options.window ~= 'current' and options.window ~= 'tab',
  }) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

---@type table<integer, table<string, true>> by buffer
local included = {}

--- Highlights code blocks by syntax files where there is no parser of their
--- language: Neovim brings a parser of a few languages only.
---@param bufnr integer
---@param lines string[]
function M.highlight(bufnr, lines)
  for _, line in ipairs(lines) do
    local language = line:match('^%s*```([%w_]+)%s*$')
    local done = included[bufnr] or {}
    included[bufnr] = done
    if language and not done[language] then
      done[language] = true
      local filetype = vim.filetype.match({ filename = 'x.' .. language }) or language
      local parser = vim.treesitter.language.get_lang(filetype) or filetype
      if not vim.treesitter.language.add(parser) and #vim.api.nvim_get_runtime_file('syntax/' .. filetype .. '.vim', false) > 0 then
        vim.api.nvim_buf_call(bufnr, function()
          vim.b.current_syntax = nil
          pcall(vim.cmd, ('syntax include @coderag_%s syntax/%s.vim'):format(language, filetype))
          vim.b.current_syntax = nil
          vim.cmd(([[syntax region coderagCode start=/^\s*```%s\s*$/ms=e+1 end=/^\s*```\s*$/me=s-1 keepend contains=@coderag_%s]]):format(language, language))
        end)
      end
    end
  end
end

---@class coderag.Folds
---@field tick integer
---@field levels string[] by line
---@type table<integer, coderag.Folds>
local folds = {}

--- What lines fold to: a turn below its heading is level 1, what a code block has
--- beyond the lines that are shown of it level 2.
---@param lines string[]
---@param shown integer lines of a block; 0 folds none
---@param headings table<integer, true> by line
---@return string[]
function M.levels(lines, shown, headings)
  local levels, block = {}, nil
  for row, line in ipairs(lines) do
    levels[row] = headings[row] and '>1' or '1'
    if line:find('^%s*```') then
      -- A few lines more are shown at once: a fold of them would save nothing.
      if block and shown > 0 and row - block - 1 > shown + 3 then
        for folded = block + shown + 1, row - 1 do
          levels[folded] = folded == block + shown + 1 and '>2' or '2'
        end
      end
      block = not block and row or nil
    end
  end
  return levels
end

--- The 'foldexpr' of an answer.
---@param row integer
---@return string
function M.fold(row)
  local bufnr = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  if not folds[bufnr] or folds[bufnr].tick ~= tick then
    local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
    local shown = config.get().answer.fold
    folds[bufnr] = { tick = tick, levels = M.levels(lines, shown, require('coderag.conversation').headings(bufnr)) }
  end
  return folds[bufnr].levels[row] or '1'
end

--- Forgets a buffer that is gone.
function M.forget(bufnr)
  folds[bufnr], included[bufnr] = nil, nil
end

--- What stands for folded lines.
---@return string
function M.foldtext()
  local first = vim.fn.getline(vim.v.foldstart)
  local count = vim.v.foldend - vim.v.foldstart + 1
  if first:find('^# ') then
    return ('%s  (%d lines)'):format(first, count)
  end
  return ('%s⋯ %d more lines'):format(first:match('^%s*'), count)
end

--- Folds what became long, in all windows of a buffer.
function M.refold(bufnr)
  folds[bufnr] = nil
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    if vim.wo[win].foldmethod == 'expr' then
      vim.api.nvim_win_call(win, function()
        vim.cmd('normal! zX')
      end)
    end
  end
end

--- The columns of the narrowest window of a buffer.
function M.columns(bufnr)
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    width = math.min(width, vim.api.nvim_win_get_width(win))
  end
  return width
end

--- Puts pieces of text into as few virtual lines as a width allows: Neovim
--- wraps none.
---@param pieces [string, string][][] each stays on one line
---@param separator string
---@return [string, string][][]
function M.lay(pieces, separator, width)
  local lines, used = {}, 0
  for _, piece in ipairs(pieces) do
    local wide = 0
    for _, chunk in ipairs(piece) do
      wide = wide + vim.fn.strdisplaywidth(chunk[1])
    end
    if #lines == 0 or used + vim.fn.strdisplaywidth(separator) + wide > width then
      lines[#lines + 1], used = {}, wide
    else
      table.insert(lines[#lines], { separator, 'CoderagNote' })
      used = used + vim.fn.strdisplaywidth(separator) + wide
    end
    vim.list_extend(lines[#lines], piece)
  end
  return lines
end

--- Shows a list in a floating window that q and <Esc> close.
---@param lines string[]
---@param title string
function M.list(lines, title)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable, vim.bo[bufnr].bufhidden = false, 'wipe'
  width = math.min(width, vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 4)
  vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    style = 'minimal',
    width = width,
    height = height,
    col = math.floor((vim.o.columns - width) / 2) - 1,
    row = math.floor((vim.o.lines - height) / 2) - 1,
    border = config.get().answer.border,
    title = title,
    title_pos = 'center',
  })
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = bufnr, nowait = true })
  end
end

return M

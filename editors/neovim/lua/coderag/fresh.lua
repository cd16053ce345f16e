--- Whether the lines that a shown answer cites still stand where they did: what
--- moved or changed since is noted behind the citation.
local M = {}

local citation = require('coderag.citation')

local marks = vim.api.nvim_create_namespace('coderag.states')

--- Milliseconds that edits are gathered before citations are looked at.
local patience = 150

--- Notes the state of each citation of a conversation.
---@param c coderag.Conversation
function M.check(c)
  if not vim.api.nvim_buf_is_valid(c.bufnr) then
    return
  end
  vim.api.nvim_buf_clear_namespace(c.bufnr, marks, 0, -1)
  local states, files = {}, {}
  for n, turn in ipairs(c.turns) do
    local last = c.turns[n + 1] and c.turns[n + 1].row or -1
    if turn.state ~= 'running' and next(turn.citations) then
      local lines = vim.api.nvim_buf_get_lines(c.bufnr, turn.row + 1, last, false)
      for _, place in ipairs(citation.scan(lines, turn.citations)) do
        local cited = turn.citations[place.id]
        if cited and not turn.retracted[place.id] then
          states[cited] = states[cited] or { citation.state(cited, files) }
          local state, first, stop = unpack(states[cited])
          if state ~= 'exact' then
            vim.api.nvim_buf_set_extmark(c.bufnr, marks, turn.row + 1 + place.row, place.end_col + 1, {
              virt_text = { { state == 'moved' and (' now %d-%d'):format(first, stop) or ' ' .. state, 'CoderagWarning' } },
              virt_text_pos = 'inline',
            })
          end
        end
      end
    end
  end
end

--- Looks at a conversation's citations again after each edit, as long as it is
--- shown.
---@param c coderag.Conversation
---@param group integer
function M.watch(c, group)
  local due = false
  local function soon()
    if due or #vim.fn.win_findbuf(c.bufnr) == 0 then
      return
    end
    due = true
    vim.defer_fn(function()
      due = false
      M.check(c)
    end, patience)
  end
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufWritePost', 'FileChangedShellPost' }, {
    group = group,
    callback = function(event)
      if event.buf ~= c.bufnr and vim.bo[event.buf].buftype == '' then
        soon()
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufEnter', { group = group, buffer = c.bufnr, callback = soon })
end

return M

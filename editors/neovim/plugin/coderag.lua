-- Commands, maps and the start of the server. Nothing of coderag is loaded
-- before it is used.
if vim.g.loaded_coderag then
  return
end
vim.g.loaded_coderag = true

local function run(name)
  return function(opts)
    require('coderag.commands').run(name, opts)
  end
end

local function complete(...)
  return require('coderag.commands').complete(...)
end

for name, spec in pairs({
  [''] = { nargs = '*', range = true, bang = true, desc = 'coderag: run a subcommand' },
  Ask = { nargs = '*', range = true, bang = true, desc = 'coderag: ask about the code' },
  Search = { nargs = '*', range = true, bang = true, desc = 'coderag: search the code' },
  Explain = { nargs = '?', desc = 'coderag: explain the symbol under the cursor' },
  Similar = { nargs = 0, range = true, bang = true, desc = 'coderag: find code like this' },
  Insert = { nargs = '*', range = true, desc = 'coderag: insert a cited snippet' },
  Status = { nargs = 0, desc = 'coderag: show the state of the index' },
  Reindex = { nargs = '*', desc = 'coderag: index paths again' },
  Log = { nargs = 0, desc = 'coderag: open the log' },
}) do
  spec.complete = spec.nargs ~= 0 and complete or nil
  vim.api.nvim_create_user_command('CodeRag' .. name, run(name:lower()), spec)
end

for _, name in ipairs({ 'ask', 'search', 'explain', 'similar', 'insert', 'status', 'answers' }) do
  vim.keymap.set('n', '<Plug>(coderag-' .. name .. ')', function()
    require('coderag')[name]()
  end, { desc = 'coderag: ' .. name })
end
for _, name in ipairs({ 'ask', 'search', 'similar' }) do
  vim.keymap.set('x', '<Plug>(coderag-' .. name .. ')', ':CodeRag ' .. name .. '<CR>', { silent = true, desc = 'coderag: ' .. name })
end

local group = vim.api.nvim_create_augroup('coderag', {})
vim.api.nvim_create_autocmd({ 'FileType', 'BufReadPost', 'BufNewFile' }, {
  group = group,
  once = true,
  desc = 'start coderag-ls for files of a workspace',
  callback = vim.schedule_wrap(function()
    require('coderag.lsp').enable()
  end),
})
vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  desc = 'take answers as they stream, and the state of the index',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'coderag' then
      require('coderag.lsp').adopt(client)
    end
  end,
})

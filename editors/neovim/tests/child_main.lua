-- What a Neovim of run.lua does once it has started: one test, named by the
-- environment.
package.path = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2))) .. '/?.lua;' .. package.path
vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  callback = vim.schedule_wrap(function()
    local _, err = xpcall(function()
      require('child').run(vim.env.CODERAG_TEST_FILE, vim.env.CODERAG_TEST_NAME)
    end, debug.traceback)
    io.stdout:write(tostring(err), '\n')
    os.exit(1)
  end),
})

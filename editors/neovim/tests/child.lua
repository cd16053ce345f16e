-- What a test has in hand; it runs in a Neovim of its own.
local M = {}

local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
M.plugin = vim.fs.dirname(here)
M.dir = vim.env.CODERAG_TEST_DIR
M.program = vim.env.CODERAG_TEST_BIN
M.workspace = M.dir and M.dir .. '/requests'
M.sessions = 'src/requests/sessions.py'

-- How long a condition may take; no test passes by waiting for it.
local patience = 60000

function M.fail(text)
  error(text, 0)
end

function M.ok(condition, what)
  if not condition then
    error('not so: ' .. what, 2)
  end
end

function M.eq(got, want, what)
  if not vim.deep_equal(got, want) then
    error(('%s is %s, want %s'):format(what, vim.inspect(got), vim.inspect(want)), 2)
  end
end

function M.contains(text, part, what)
  if type(text) == 'table' then
    text = table.concat(text, '\n')
  end
  if not text:find(part, 1, true) then
    error(('%s lacks %q:\n%s'):format(what, part, text), 2)
  end
end

--- Says something that is worth reading where a test passed, such as a figure.
function M.note(text)
  io.stdout:write('# ' .. text .. '\n')
end

--- Waits until a condition holds and returns what it returned.
function M.wait(what, condition)
  local value
  if not vim.wait(patience, function()
    value = condition()
    return value
  end, 10) then
    error('never came: ' .. what .. '\nmessages: ' .. vim.inspect(M.messages), 2)
  end
  return value
end

--- Copies the repository and goes there.
function M.repository()
  local out = vim.system({ 'cp', '-r', vim.env.CODERAG_TEST_CORPUS, M.workspace }):wait()
  M.eq(out.code, 0, 'copying the repository')
  M.eq(vim.system({ 'git', 'init', '-q', M.workspace }):wait().code, 0, 'git init')
  M.workspace = vim.uv.fs_realpath(M.workspace)
  vim.cmd.cd(M.workspace)
end

--- Loads the plugin as a start of Neovim does.
function M.load()
  vim.opt.rtp:prepend(M.plugin)
  vim.env.PATH = vim.fs.dirname(M.program) .. ':' .. vim.env.PATH
  vim.cmd.runtime('plugin/coderag.lua')
end

--- Opens a file of the repository in Neovim with the plugin, and waits for the
--- server.
---@return vim.lsp.Client
function M.edit(file)
  if not vim.g.loaded_coderag then
    M.load()
  end
  vim.cmd.edit(file or M.sessions)
  local client = M.attached()
  M.sync(client)
  return client
end

--- Waits until the index is as the disk and the buffers are.
function M.sync(client)
  local out = assert(client:request_sync('coderag/sync', vim.empty_dict(), patience))
  M.ok(not out.err, 'coderag/sync: ' .. vim.inspect(out.err))
end

function M.attached()
  return M.wait('a server for the buffer', function()
    local client = vim.lsp.get_clients({ name = 'coderag', bufnr = 0 })[1]
    return client and client.initialized and client
  end)
end

--- Asks and waits for the answer; the answer window is current then.
---@return coderag.Conversation, coderag.Turn
function M.ask(question)
  vim.cmd('CodeRagAsk ' .. question)
  local c = require('coderag.conversation').current()
  return c, M.answered(c)
end

---@return coderag.Turn
function M.answered(c)
  local turn = c.turns[#c.turns]
  M.wait('an answer', function()
    return turn.state ~= 'running'
  end)
  if turn.state ~= 'done' then
    M.fail(('the answer is %s: %s'):format(turn.state, turn.error))
  end
  return turn
end

--- Sends keys as if typed.
function M.keys(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'xm', false)
end

function M.lines(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr or 0, 0, -1, false)
end

--- The text of the only floating window.
function M.float()
  return M.wait('a floating window', function()
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= '' then
        return M.lines(vim.api.nvim_win_get_buf(win))
      end
    end
  end)
end

--- A message to the user that holds a text.
function M.message(part)
  return M.wait('the message ' .. part, function()
    for _, text in ipairs(M.messages) do
      if text:find(part, 1, true) then
        return text
      end
    end
  end)
end

--- The process of the server.
function M.pid(client)
  local out = assert(client:request_sync('coderag/status', vim.empty_dict(), patience))
  return out.result.ownedBy.pid
end

M.messages = {}

local atEnd = {}

--- Runs a function when the test has ended, passed or not.
function M.after(run)
  table.insert(atEnd, run)
end

--- Runs one test; the process ends with 0 where it passed.
function M.run(file, name)
  vim.notify = function(text)
    table.insert(M.messages, text)
  end
  vim.o.swapfile = false
  vim.o.columns, vim.o.lines = 120, 40
  for _, test in ipairs(require(file .. '_test')) do
    if test.name == name then
      local ok, err = xpcall(test.run, debug.traceback, M)
      for _, run in ipairs(atEnd) do
        run()
      end
      if vim.v.errmsg ~= '' then
        io.stdout:write('errmsg: ' .. vim.v.errmsg .. '\n')
      end
      for _, client in ipairs(vim.lsp.get_clients()) do
        client:stop()
      end
      local ended = vim.wait(20000, function()
        return #vim.lsp.get_clients() == 0
      end, 10)
      if not ok or not ended then
        io.stdout:write(ok and 'the server does not end' or tostring(err), '\n')
        os.exit(1)
      end
      os.exit(0)
    end
  end
  error('no test ' .. name)
end

return M

-- Runs the tests, each in a Neovim of its own: nvim -l tests/run.lua [-j N] [PATTERN]
-- PATTERN chooses tests by FILE/NAME. The environment names what is tested:
-- CODERAG_TEST_BIN the program, CODERAG_TEST_CORPUS a repository to copy.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
package.path = here .. '/?.lua;' .. package.path
local only, jobs = nil, 2
local i = 1
while arg[i] do
  if arg[i] == '-j' then
    jobs, i = tonumber(arg[i + 1]), i + 1
  else
    only = arg[i]
  end
  i = i + 1
end

local tests = {}
for name in vim.fs.dir(here) do
  local file = name:match('^(.*)_test%.lua$')
  for _, test in ipairs(file and require(file .. '_test') or {}) do
    local full = file .. '/' .. test.name
    if not only or full:find(only) then
      tests[#tests + 1] = { file = file, name = test.name, full = full }
    end
  end
end
table.sort(tests, function(a, b)
  return a.full < b.full
end)

local passed, failed, running, next_ = 0, 0, 0, 1
local function start()
  local test = tests[next_]
  if not test then
    return
  end
  next_, running = next_ + 1, running + 1
  local dir = vim.fn.tempname()
  for _, sub in ipairs({ 'config', 'data', 'state', 'cache', 'run', 'home', 'index' }) do
    vim.fn.mkdir(dir .. '/' .. sub, 'p', tonumber('700', 8))
  end
  -- Not with -l: there the screen stays 80 by 24 whatever 'columns' and 'lines'
  -- are set to, and Neovim 0.11.4 writes beyond it when it redraws.
  vim.system({ vim.v.progpath, '--clean', '--headless', '-u', 'NONE', '-i', 'NONE', '-S', here .. '/child_main.lua' }, {
    text = true,
    timeout = 240000,
    env = {
      HOME = dir .. '/home',
      XDG_CONFIG_HOME = dir .. '/config',
      XDG_DATA_HOME = dir .. '/data',
      XDG_STATE_HOME = dir .. '/state',
      XDG_CACHE_HOME = dir .. '/cache',
      XDG_RUNTIME_DIR = dir .. '/run',
      CODERAG_INDEX_CACHE_DIR = dir .. '/index',
      CODERAG_EMBED_PROVIDER = 'static',
      CODERAG_TEST_DIR = dir,
      CODERAG_TEST_FILE = test.file,
      CODERAG_TEST_NAME = test.name,
      CODERAG_TEST_NVIM = vim.v.progpath,
      NVIM_LOG_FILE = dir .. '/nvim.log',
    },
  }, function(out)
    vim.schedule(function()
      running = running - 1
      local ok = out.code == 0 and out.signal == 0
      passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
      io.stdout:write((ok and 'ok ' or 'not ok ') .. (passed + failed) .. ' - ' .. test.full .. '\n')
      for note in (ok and out.stdout or ''):gmatch('%f[^\n%z](# [^\n]*)') do
        io.stdout:write('  ' .. note .. '\n')
      end
      if not ok then
        local how = out.code == 124 and 'it took too long' or out.signal ~= 0 and ('Neovim itself crashed: signal %d'):format(out.signal) or ''
        local said = vim.trim((out.stdout or '') .. '\n' .. (out.stderr or '') .. '\n' .. how)
        io.stdout:write('  # ' .. said:gsub('\n', '\n  # ') .. '\n')
      end
      io.stdout:flush()
      vim.fn.delete(dir, 'rf')
      start()
    end)
  end)
end
for _ = 1, jobs do
  start()
end
vim.wait(3600000, function()
  return running == 0
end, 20)
io.stdout:write(('%d passed, %d failed\n'):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)

--- :checkhealth coderag
local M = {}

local health = vim.health

local function checkNeovim()
  health.start('coderag: Neovim')
  local v = vim.version()
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok(('Neovim %d.%d.%d'):format(v.major, v.minor, v.patch))
  else
    health.error(('Neovim %d.%d.%d is too old'):format(v.major, v.minor, v.patch), 'install Neovim 0.11 or newer')
  end
  if pcall(vim.treesitter.language.add, 'markdown') and vim.treesitter.language.add('markdown') then
    health.ok('answers are highlighted by the Markdown parser')
  else
    health.warn(
      'there is no tree-sitter parser for Markdown: answers are highlighted by rules',
      { 'with nvim-treesitter: :TSInstall markdown markdown_inline' }
    )
  end
  if vim.o.compatible then
    health.warn("'compatible' is set")
  end
end

local function checkOptions()
  health.start('coderag: options')
  local config = require('coderag.config')
  local problems = config.problems()
  for _, problem in ipairs(problems) do
    health.error(problem, 'correct it in setup() or vim.g.coderag; it is left at its default')
  end
  if #problems == 0 then
    health.ok(next(config.given()) and 'the options are right' or 'no options are set, which is fine')
  end
  if not vim.g.loaded_coderag then
    health.error('plugin/coderag.lua was not sourced', 'put the folder editors/neovim on the runtimepath, or let the plugin manager load it')
  end
end

---@return string? program
local function checkProgram()
  health.start('coderag: program')
  local configured = vim.lsp.config.coderag
  if not configured then
    health.error('there is no configuration "coderag" of vim.lsp', 'put the folder editors/neovim on the runtimepath: it holds lsp/coderag.lua')
    return nil
  end
  if type(configured.cmd) ~= 'table' then
    health.info('the server is started by a function of yours')
    return nil
  end
  local program = configured.cmd[1]
  local path = vim.fn.exepath(program)
  if path == '' then
    local advice = {
      "install coderag-ls: `go install` or the release's binary, and put it on $PATH",
      "or name it: require('coderag').setup({ cmd = { '/path/to/coderag-ls', 'serve', '--stdio' } })",
    }
    if vim.uv.fs_stat(vim.fs.normalize(program)) then
      advice = { 'make it executable: chmod +x ' .. program }
    end
    health.error(('%s cannot be run'):format(program), advice)
    return nil
  end
  local ok, out = pcall(function()
    return vim.system({ path, 'version' }, { text = true, timeout = 10000 }):wait()
  end)
  local version = ok and vim.trim(out.stdout or '') or ''
  if not ok or out.code ~= 0 or not version:find('^coderag%-ls') then
    local said = ok and vim.trim((out.stderr or '') .. ' ' .. version) or tostring(out)
    health.error(
      ('%s does not run: %s'):format(path, said ~= '' and said or 'no output'),
      { 'is it coderag-ls, for this system and processor?', 'run it in a shell: ' .. path .. ' doctor' }
    )
    return nil
  end
  health.ok(('%s, %s'):format(path, version))
  return path
end

--- What the program's own check says of this machine and workspace.
local function checkDoctor(program, root)
  health.start('coderag: coderag-ls doctor')
  local ok, out = pcall(function()
    return vim.system({ program, 'doctor', '--json', '--root', root }, { text = true, timeout = 30000 }):wait()
  end)
  local decoded, checks = pcall(vim.json.decode, ok and out.stdout or '')
  if not ok or not decoded or type(checks) ~= 'table' then
    return health.error('coderag-ls doctor failed: ' .. vim.trim(ok and (out.stderr or '') or tostring(out)), { 'run it in a shell: ' .. program .. ' doctor' })
  end
  for _, check in ipairs(checks) do
    local say = check.state == 'ok' and health.ok or check.state == 'error' and health.error or health.warn
    local text, advice = ('%s: %s'):format(check.check, check.detail), check.advice
    if check.state == 'ok' then
      health.ok(text)
    else
      say(text, advice and { advice } or nil)
    end
  end
end

local function checkServers(bufnr, root)
  health.start('coderag: servers')
  local clients = vim.lsp.get_clients({ name = 'coderag' })
  if not require('coderag.config').get().enable then
    health.info('enable is false: the server starts with the first command')
  end
  if #clients == 0 then
    local markers = (vim.lsp.config.coderag or {}).root_markers or {}
    local marked = vim.fs.root(bufnr, markers) or vim.fs.root(vim.uv.cwd(), markers)
    if marked then
      health.warn('no server runs', { 'open a file below ' .. root, 'or look at :CodeRagLog' })
    else
      health.warn(('no server runs: no folder above %s holds %s'):format(vim.uv.cwd(), table.concat(vim.iter(markers):flatten():totable(), ' or ')), {
        'open a file of a repository',
        'or ask a question, which starts it for the working directory',
        'or set root_markers',
      })
    end
  end
  for _, client in ipairs(clients) do
    if client:is_stopped() then
      health.error('a server ended', 'see :CodeRagLog, then :CodeRag restart')
    else
      local out = client:request_sync('coderag/status', vim.empty_dict(), 5000)
      local status = out and out.result
      if status then
        health.ok(
          ('%s: %d buffers, %d of %d files'):format(
            client.root_dir or '?',
            vim.tbl_count(client.attached_buffers),
            status.coverage.indexed,
            status.coverage.total
          )
        )
      else
        health.error(
          ('the server of %s does not answer: %s'):format(client.root_dir or '?', out and out.err and out.err.message or 'nothing in 5 s'),
          'see :CodeRagLog, then :CodeRag restart'
        )
      end
      for _, notice in ipairs(status and status.notices or {}) do
        health.warn(notice)
      end
    end
  end
end

function M.check()
  -- The health page is current by now; the file is the window's before.
  local bufnr = vim.fn.bufnr('#')
  bufnr = bufnr > 0 and bufnr or vim.api.nvim_get_current_buf()
  checkNeovim()
  checkOptions()
  require('coderag.lsp').configure()
  local program = checkProgram()
  local root = require('coderag.lsp').root(bufnr)
  if program then
    checkDoctor(program, root)
  end
  checkServers(bufnr, root)
end

return M

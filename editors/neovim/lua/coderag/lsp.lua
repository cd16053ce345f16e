--- The language server: starting it, finding it for a buffer, asking it.
local M = {}

local config = require('coderag.config')

--- How often a request in flight is looked at: Neovim tells nobody when a
--- server ends that still owes answers.
local lookInterval = 200

---@class coderag.Request
---@field client vim.lsp.Client
---@field id? integer
---@field token? string of partial results
---@field on_partial? fun(partial: coderag.wire.Partial)
---@field callback fun(err?: string, result?: any, cancelled?: boolean)

---@type table<coderag.Request, true>
local pending = {}
---@type table<string, coderag.Request>
local streams = {}
---@type table<integer, coderag.wire.Status> by client
local statuses = {}
local numbered = 0
local enabled = false
---@type uv.uv_timer_t?
local timer

--- Starts the server for files of a workspace, as the options say.
function M.enable()
  local options = config.get()
  if enabled then
    return
  end
  enabled = true
  M.configure()
  if options.enable then
    vim.lsp.enable('coderag')
  end
end

--- Hands the options to vim.lsp.config, over lsp/coderag.lua and under what the
--- user's own vim.lsp.config('coderag', ...) says of other fields.
function M.configure()
  local options = config.get()
  local lsp = {}
  local given = config.given()
  if given.cmd then
    lsp.cmd = options.cmd
  end
  if given.root_markers then
    lsp.root_markers = options.root_markers
  end
  if next(options.settings) then
    lsp.settings = { coderag = options.settings }
  end
  if next(options.init_options) then
    lsp.init_options = options.init_options
  end
  vim.lsp.config('coderag', lsp)
end

--- Takes what this client's server sends beyond LSP.
---@param client vim.lsp.Client
function M.adopt(client)
  client.handlers['$/progress'] = client.handlers['$/progress'] or M.on_progress
  client.handlers['coderag/statusChanged'] = client.handlers['coderag/statusChanged'] or M.on_status
end

--- Handles $/progress: partial answers are ours, all else is Neovim's.
function M.on_progress(err, params, ctx)
  local token = params and params.token
  if streams[token] then
    return streams[token].on_partial(params.value)
  elseif type(token) ~= 'string' or not token:find('^coderag%-%d+%-%d+$') then
    return vim.lsp.handlers['$/progress'](err, params, ctx)
  end -- else it is of an answer that was cancelled
end

--- Handles coderag/statusChanged.
function M.on_status(_, status, ctx)
  statuses[ctx.client_id] = status
  vim.api.nvim_exec_autocmds('User', { pattern = 'CoderagStatus', modeline = false, data = { client_id = ctx.client_id, status = status } })
  vim.cmd.redrawstatus()
end

--- What the server last said of its index.
---@return coderag.wire.Status?
function M.last_status(client)
  return client and statuses[client.id]
end

--- The number of questions in flight.
function M.busy()
  local n = 0
  for request in pairs(pending) do
    n = n + (request.on_partial and 1 or 0)
  end
  return n
end

--- A running client: the buffer's own, else the one of its folder, else any.
---@param bufnr? integer
---@return vim.lsp.Client?
function M.running(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  local all = vim.tbl_filter(function(client)
    return not client:is_stopped()
  end, vim.lsp.get_clients({ name = 'coderag' }))
  for _, client in ipairs(all) do
    if client.attached_buffers[bufnr] then
      return client
    end
  end
  local root = M.root(bufnr)
  for _, client in ipairs(all) do
    if client.root_dir == root then
      return client
    end
  end
  return vim.bo[bufnr].buftype ~= '' and all[#all] or nil
end

--- The workspace of a buffer: as its files lie, else the working directory.
---@return string
function M.root(bufnr)
  local markers = (vim.lsp.config.coderag or {}).root_markers or config.get().root_markers
  local from = vim.bo[bufnr].buftype == '' and vim.api.nvim_buf_get_name(bufnr) ~= '' and bufnr or vim.uv.cwd()
  return vim.fs.root(from, markers) or vim.fs.root(vim.uv.cwd(), markers) or vim.uv.cwd()
end

--- Why the server's program cannot be started, nil where it can.
---@return string?
function M.missing(cmd)
  if type(cmd) ~= 'table' then
    return nil
  end
  if vim.fn.executable(cmd[1]) == 1 then
    return nil
  end
  return ('%s cannot be run: install coderag-ls and put it on $PATH, or set cmd in setup() to where it is (see :checkhealth coderag)'):format(cmd[1])
end

--- Calls back with a client that is ready, started where none runs.
---@param bufnr integer
---@param callback fun(err?: string, client?: vim.lsp.Client)
function M.client(bufnr, callback)
  M.enable()
  local client = M.running(bufnr)
  if not client then
    local lsp = vim.deepcopy(vim.lsp.config.coderag)
    if not lsp then
      return callback('no configuration "coderag": the folder of the plugin is not on the runtimepath')
    end
    local missing = M.missing(lsp.cmd)
    if missing then
      return callback(missing)
    end
    local root = M.root(bufnr)
    if root == vim.uv.os_homedir() or vim.fs.dirname(root) == root then
      return callback(('%s is too wide to be indexed: open a file of a project, or :cd into one'):format(root))
    end
    lsp.name, lsp.root_dir = 'coderag', root
    local attach = vim.bo[bufnr].buftype == '' and vim.api.nvim_buf_get_name(bufnr) ~= ''
    local id = vim.lsp.start(lsp, {
      bufnr = bufnr,
      attach = attach,
      silent = true,
      reuse_client = function(other, wanted)
        return not other:is_stopped() and other.name == wanted.name and other.root_dir == wanted.root_dir
      end,
    })
    client = id and vim.lsp.get_client_by_id(id)
    if not client then
      return callback(('%s did not start: see :checkhealth coderag'):format(type(lsp.cmd) == 'table' and lsp.cmd[1] or 'the server'))
    end
  end
  M.adopt(client)
  if client.initialized then
    return callback(nil, client)
  end
  local ticks, wait = 0, assert(vim.uv.new_timer())
  wait:start(
    20,
    20,
    vim.schedule_wrap(function()
      if wait:is_closing() then
        return
      end
      ticks = ticks + 1
      if client.initialized or client:is_stopped() or ticks > 1500 then
        wait:close()
        if client.initialized and not client:is_stopped() then
          callback(nil, client)
        else
          callback('the server ended, or does not answer: see :CodeRagLog and :checkhealth coderag')
        end
      end
    end)
  )
end

---@param request coderag.Request
local function finish(request, err, result, cancelled)
  if not pending[request] then
    return
  end
  pending[request] = nil
  if request.token then
    streams[request.token] = nil
  end
  if timer and not next(pending) then
    timer:close()
    timer = nil
  end
  request.callback(err, result, cancelled)
  vim.cmd.redrawstatus()
end

--- Answers the requests whose server ended.
local function look()
  for _, request in ipairs(vim.tbl_keys(pending)) do
    if request.client:is_stopped() or not vim.lsp.get_client_by_id(request.client.id) then
      finish(request, 'the server ended before it answered: ask again, or see :CodeRagLog')
    end
  end
end

--- Makes JSON's null nil, at the top of an answer.
local function plain(result)
  if type(result) ~= 'table' then
    return result ~= vim.NIL and result or nil
  end
  for key, value in pairs(result) do
    if value == vim.NIL then
      result[key] = nil
    end
  end
  return result
end

--- Sends a request. The callback is called exactly once: with an answer, an
--- error, or cancelled.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param opts { bufnr?: integer, on_partial?: fun(partial: coderag.wire.Partial) }
---@param callback fun(err?: string, result?: any, cancelled?: boolean)
---@return coderag.Request
function M.request(client, method, params, opts, callback)
  local request = { client = client, callback = callback, on_partial = opts.on_partial }
  if opts.on_partial then
    numbered = numbered + 1
    request.token = ('coderag-%d-%d'):format(vim.uv.os_getpid(), numbered)
    params = vim.tbl_extend('force', params, { partialResultToken = request.token, workDoneToken = request.token .. '-work' })
    streams[request.token] = request
  end
  pending[request] = true
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(lookInterval, lookInterval, vim.schedule_wrap(look))
  end
  -- Edits of all buffers must arrive first; a request alone brings one buffer's.
  client:notify('$/coderag/flush')
  local ok, id = client:request(method, params, function(err, result)
    if err then
      return finish(request, err.message or tostring(err))
    end
    finish(request, nil, plain(result))
  end, opts.bufnr)
  if not ok then
    vim.schedule(function()
      finish(request, 'the server has ended: ask again, or see :CodeRagLog')
    end)
  end
  request.id = id
  return request
end

--- Cancels a request. Neovim never calls the handler of one that the server
--- ended as cancelled, so it is finished here.
---@param request coderag.Request
function M.cancel(request)
  if not pending[request] then
    return
  end
  if request.id then
    request.client:cancel_request(request.id)
  end
  finish(request, nil, nil, true)
end

--- Stops all servers and starts them anew for the open files.
function M.restart()
  M.enable()
  local clients = vim.lsp.get_clients({ name = 'coderag' })
  local buffers = {}
  for _, client in ipairs(clients) do
    for bufnr in pairs(client.attached_buffers) do
      buffers[#buffers + 1] = bufnr
    end
    client:stop()
  end
  local ticks, wait = 0, assert(vim.uv.new_timer())
  wait:start(
    50,
    50,
    vim.schedule_wrap(function()
      if wait:is_closing() then
        return
      end
      ticks = ticks + 1
      local running = false
      for _, client in ipairs(clients) do
        running = running or vim.lsp.get_client_by_id(client.id) ~= nil
        if ticks == 100 and not client:is_stopped() then
          client:stop(true)
        end
      end
      if running and ticks < 200 then
        return
      end
      wait:close()
      for _, bufnr in ipairs(buffers) do
        if vim.api.nvim_buf_is_valid(bufnr) then
          M.client(bufnr, function(err)
            if err then
              vim.notify('coderag: ' .. err, vim.log.levels.ERROR)
            end
          end)
        end
      end
    end)
  )
end

return M

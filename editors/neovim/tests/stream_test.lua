-- Answers that a language model writes, slowly: an HTTP server in this process
-- speaks as one until it is hung up on.

--- Starts the server; the result counts what it sent and who hung up.
local function model(words)
  local state = { sent = 0, hung_up = 0, asked = 0 }
  local server = assert(vim.uv.new_tcp())
  assert(server:bind('127.0.0.1', 0))
  state.port = server:getsockname().port
  server:listen(8, function()
    local peer = assert(vim.uv.new_tcp())
    server:accept(peer)
    local got, answered, timer = '', false, nil
    local function close()
      if timer and not timer:is_closing() then
        timer:close()
      end
      if not peer:is_closing() then
        peer:close()
        state.hung_up = state.hung_up + 1
      end
    end
    peer:read_start(function(err, data)
      if err or not data then
        return close()
      end
      got = got .. data
      local length = tonumber(got:lower():match('content%-length: *(%d+)'))
      local head = got:find('\r\n\r\n', 1, true)
      if answered or not head or not length or #got < head + 3 + length then
        return
      end
      answered, state.asked = true, state.asked + 1
      peer:write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n')
      timer = assert(vim.uv.new_timer())
      timer:start(10, 30, function()
        if peer:is_closing() then
          return
        end
        state.sent = state.sent + 1
        local word = words[state.sent] or ('word%d. '):format(state.sent)
        peer:write(
          'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"slow","choices":[{"index":0,"delta":{"content":"'
            .. word
            .. '"},"finish_reason":null}]}\n\n',
          function(failed)
            if failed then
              close()
            end
          end
        )
      end)
    end)
  end)
  return state
end

return {
  {
    name = 'a slow answer streams into the window, <C-c> stops it and hangs up on the model',
    run = function(t)
      t.repository()
      local state = model({ 'Cookies are merged by ', '`merge_cookies` ', '[src/requests/cookies.py:542-555]. ' })
      vim.env.CODERAG_LLM_PROVIDER, vim.env.CODERAG_LLM_MODEL = 'openai', 'slow'
      vim.env.CODERAG_LLM_BASE_URL = ('http://127.0.0.1:%d/v1'):format(state.port)
      t.edit()
      vim.cmd('CodeRagAsk how are cookies merged into a session?')
      local c = require('coderag.conversation').current()
      local turn = c.turns[1]
      t.wait('text that streamed', function()
        return table.concat(t.lines(c.bufnr), '\n'):find('word%d+')
      end)
      t.eq(turn.state, 'running', 'the state while it streams')
      local notes = vim.inspect(vim.api.nvim_buf_get_extmarks(c.bufnr, vim.api.nvim_create_namespace('coderag.notes'), 0, -1, { details = true }))
      t.contains(notes, 'answering', 'the note while it streams')
      t.wait('how long it takes, above the answer', function()
        local win = vim.api.nvim_get_current_win()
        return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str:find(' %d+ s ')
      end)
      t.contains(require('coderag').statusline(), 'asking', 'the statusline while it streams')
      t.keys('<C-c>')
      t.eq(turn.state, 'cancelled', 'the state after <C-c>')
      t.wait('the model was hung up on', function()
        return state.hung_up > 0
      end)
      local before = t.lines(c.bufnr)
      t.sync(c.client)
      t.eq(t.lines(c.bufnr), before, 'the window after the server let go')
      t.contains(before, 'Cookies are merged by', 'what came before it was stopped')
    end,
  },
}

-- The answer window, with the real program on a real repository.
local question = 'how are cookies merged into a session?'

--- Puts the cursor of the answer window on the n-th citation.
local function onCitation(t, c, n)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  for _ = 1, n or 1 do
    t.keys(']c')
  end
  local cited = require('coderag.conversation').under_cursor(c)
  t.ok(cited, ('a citation under the cursor %s of\n%s'):format(vim.inspect(vim.api.nvim_win_get_cursor(0)), table.concat(t.lines(), '\n')))
  return cited
end

--- The lines at a window's cursor, as many as a text has.
local function linesAtCursor(text)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local count = #vim.split(text, '\n')
  return table.concat(vim.api.nvim_buf_get_lines(0, row - 1, row - 1 + count, false), '\n')
end

return {
  {
    name = 'an answer streams, and every citation opens its lines',
    run = function(t)
      t.repository()
      t.edit()
      local lsp = require('coderag.lsp')
      local streamed, request = {}, lsp.request
      lsp.request = function(client, method, params, opts, callback)
        local on_partial = opts.on_partial
        opts.on_partial = function(partial)
          streamed[#streamed + 1] = partial
          on_partial(partial)
        end
        return request(client, method, params, opts, callback)
      end
      local c, turn = t.ask(question)
      local text, cited = '', 0
      for _, partial in ipairs(streamed) do
        text = text .. (partial.text or '')
        cited = cited + (partial.citation and 1 or 0)
      end
      t.eq(vim.trim(text), vim.trim(turn.text), 'the text that streamed')
      t.ok(cited >= #turn.order, 'every citation streamed')
      t.eq(t.lines()[1], '# ' .. question, 'the heading')
      t.eq(vim.bo.filetype, 'coderag', 'the filetype')
      t.ok(vim.treesitter.highlighter.active[c.bufnr], 'tree-sitter highlights the answer')
      t.ok(#turn.order > 2, 'several citations')
      local answer = vim.api.nvim_get_current_win()
      for n = 1, #turn.order do
        vim.api.nvim_set_current_win(answer)
        local one = onCitation(t, c, n)
        t.keys('<CR>')
        t.eq(vim.api.nvim_buf_get_name(0), t.workspace .. '/' .. one.path, 'the opened file')
        t.eq(vim.api.nvim_win_get_cursor(0)[1], one.startLine, 'the opened line')
        t.eq(linesAtCursor(one.text), one.text, 'the lines there')
      end
      t.eq(#vim.api.nvim_list_wins(), 2, 'the number of windows')
      vim.api.nvim_win_set_width(answer, 30)
      require('coderag.answer').show(c)
      local notes, shown = vim.api.nvim_create_namespace('coderag.notes'), ''
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(c.bufnr, notes, 0, -1, { details = true })) do
        for _, line in ipairs(mark[4].virt_lines or {}) do
          local note = table.concat(vim.tbl_map(function(chunk)
            return chunk[1]
          end, line))
          t.ok(vim.fn.strdisplaywidth(note) <= 30, ('%q fits a narrow window'):format(note))
          shown = shown .. note .. '\n'
        end
      end
      t.contains(shown, '68 files', 'the notes')
      t.contains(shown, 'all keys', 'the notes')
    end,
  },
  {
    name = 'in dirty buffers citations open the right lines',
    run = function(t)
      t.repository()
      t.edit('src/requests/cookies.py')
      vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one', '# two', '# three' })
      local c, turn = t.ask('what does merge_cookies do?')
      local cited
      for n = 1, #turn.order do
        cited = onCitation(t, c, n)
        if cited.path == 'src/requests/cookies.py' and cited.text:find('def merge_cookies') then
          break
        end
        cited = nil
      end
      t.ok(cited, 'merge_cookies is cited')
      local answer = vim.api.nvim_get_current_win()
      t.keys('gf')
      t.eq(linesAtCursor(cited.text), cited.text, 'the lines of the edited buffer')
      t.ok(vim.bo.modified, 'the buffer is not saved')
      -- After the answer lines come in above: the citation follows them.
      vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# four', '# five' })
      vim.api.nvim_set_current_win(answer)
      t.keys('<CR>')
      t.eq(vim.api.nvim_win_get_cursor(0)[1], cited.startLine + 2, 'the line where it moved to')
      t.eq(linesAtCursor(cited.text), cited.text, 'the lines that moved')
      t.message('have moved')
      -- The lines themselves change: it says so.
      vim.api.nvim_buf_set_lines(0, cited.startLine + 2, cited.startLine + 3, false, { '    changed' })
      vim.api.nvim_set_current_win(answer)
      t.keys('<CR>')
      t.message('have changed since the answer')
    end,
  },
  {
    name = 'while the first index is being made an answer says so, and R waits for all of it',
    run = function(t)
      vim.fn.mkdir(t.workspace .. '/.git', 'p')
      t.workspace = vim.uv.fs_realpath(t.workspace)
      vim.cmd.cd(t.workspace)
      for n = 1, 3000 do
        vim.fn.writefile({ ('def handler_%d(request):'):format(n), ('    """Handles message %d."""'):format(n), '    return request' }, ('m%04d.py'):format(n))
      end
      vim.fn.writefile({ 'def last_of_all(parcel):', '    """Ships a parcel to its customer."""', '    return parcel' }, 'zz.py')
      t.load()
      vim.cmd.edit('m0001.py')
      local c, turn = t.ask('what does last_of_all do?')
      local notes = vim.api.nvim_create_namespace('coderag.notes')
      local function noted()
        return vim.inspect(vim.api.nvim_buf_get_extmarks(c.bufnr, notes, 0, -1, { details = true }))
      end
      t.ok(turn.result.coverage.pending > 0 or turn.result.coverage.stale, 'the index is not finished')
      t.contains(noted(), 'indexed so far', 'the note below the question')
      t.contains(noted(), 'ask again once all is indexed', 'the keys below the answer')
      t.keys('R')
      local waiting = c.turns[1]
      t.wait('the note of waiting', function()
        return waiting.waits and noted():find('waiting for the index')
      end)
      t.keys('<C-c>')
      t.eq(waiting.state, 'cancelled', 'the state after <C-c>')
      t.keys('R')
      turn = t.answered(c)
      t.eq(#c.turns, 1, 'turns')
      t.eq({ turn.result.coverage.pending, turn.result.coverage.stale }, { 0, false }, 'what is left to index')
      t.contains(t.lines(c.bufnr), 'Ships a parcel to its customer', 'the answer')
      t.contains(noted(), '3001 files', 'the note below the question')
      t.ok(not noted():find('indexed so far'), 'the note is of the whole index')
    end,
  },
  {
    name = 'a cancelled answer leaves no stuck window and its handler never fires',
    run = function(t)
      t.repository()
      local client = t.edit()
      t.ask(question)
      local pid = t.pid(client)
      vim.uv.kill(pid, 'sigstop')
      vim.cmd('CodeRagAsk where are redirects followed?')
      local c = require('coderag.conversation').current()
      local turn = c.turns[1]
      t.wait('the request', function()
        return turn.request
      end)
      local id, fired = turn.request.id, 0
      local callback = turn.request.callback
      turn.request.callback = function(...)
        fired = fired + 1
        callback(...)
      end
      t.eq(turn.state, 'running', 'the state before')
      t.keys('<C-c>')
      t.eq({ turn.state, fired }, { 'cancelled', 1 }, 'the state after <C-c>')
      vim.uv.kill(pid, 'sigcont')
      t.wait('the server has let go of the request', function()
        return not client.requests[id]
      end)
      t.eq({ turn.state, fired }, { 'cancelled', 1 }, 'the state after the server answered')
      local marks = vim.api.nvim_buf_get_extmarks(c.bufnr, vim.api.nvim_create_namespace('coderag.notes'), 0, -1, { details = true })
      t.contains(vim.inspect(marks), 'stopped', 'the note below the answer')
      local _, again = t.ask('where are redirects followed?')
      t.ok(#again.order > 0, 'the next answer has citations')
      t.eq(require('coderag.lsp').busy(), 0, 'questions in flight')
    end,
  },
  {
    name = 'a server that is killed fails the question, and the next one starts another',
    run = function(t)
      t.repository()
      local client = t.edit()
      t.ask(question)
      local pid = t.pid(client)
      vim.uv.kill(pid, 'sigstop')
      vim.cmd('CodeRagAsk where are redirects followed?')
      local turn = require('coderag.conversation').current().turns[1]
      vim.uv.kill(pid, 'sigkill')
      t.wait('the question failed', function()
        return turn.state == 'failed'
      end)
      t.contains(turn.error, 'the server', 'the error')
      local _, again = t.ask('where are redirects followed?')
      t.ok(#again.order > 0, 'the next answer has citations')
    end,
  },
  {
    name = 'K previews, i inserts and undo takes it back, q closes',
    run = function(t)
      t.repository()
      t.edit('src/requests/api.py')
      vim.api.nvim_win_set_cursor(0, { 3, 0 })
      local before, file = t.lines(), vim.api.nvim_get_current_buf()
      local c = t.ask(question)
      local cited = onCitation(t, c, 2)
      t.keys('K')
      t.eq(table.concat(t.float(), '\n'), cited.text, 'the preview')
      vim.cmd('fclose!')
      t.keys('i')
      t.message('inserted ' .. cited.id)
      local after = table.concat(t.lines(file), '\n')
      t.contains(after, cited.id .. ' sha256:', 'the file')
      t.contains(after, vim.trim(vim.split(cited.text, '\n')[2]), 'the file')
      vim.api.nvim_buf_call(file, function()
        vim.cmd('silent undo')
      end)
      t.eq(t.lines(file), before, 'the file after undo')
      t.keys('q')
      t.eq(vim.api.nvim_get_current_buf(), file, 'the buffer after q')
      t.eq(#vim.api.nvim_list_wins(), 1, 'windows after q')
      vim.cmd('CodeRag answers')
      t.eq(vim.api.nvim_get_current_buf(), c.bufnr, 'the buffer after :CodeRag answers')
    end,
  },
  {
    name = 'long code folds, the bar counts citations, code opens at its line, gy copies',
    run = function(t)
      t.repository()
      vim.g.coderag = { answer = { fold = 3 } }
      t.edit('src/requests/api.py')
      local c = t.ask(question)
      local win = vim.api.nvim_get_current_win()
      local function bar()
        return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str
      end
      local cited = onCitation(t, c)
      t.ok(bar():find('1/%d'), 'the bar counts: ' .. bar())
      t.contains(bar(), 'g? keys', 'the bar')
      local lines, code = t.lines(), nil
      for row, line in ipairs(lines) do
        code = code or line:find('^```') and row + 1
      end
      t.eq(lines[code], vim.split(cited.text, '\n')[1], 'the first line of code')
      local function syntax(row)
        return vim.fn.synIDattr(vim.fn.synID(row, #lines[row]:match('^%s*') + 1, 1), 'name')
      end
      t.eq({ syntax(code), syntax(1) }, { 'pythonStatement', '' }, 'what code is highlighted as, and what is none')
      t.eq({ vim.fn.foldclosed(code + 2), vim.fn.foldclosed(code + 3) }, { -1, code + 3 }, 'what is folded')
      t.contains(vim.fn.foldtextresult(code + 3), 'more lines', 'the text of the fold')
      vim.api.nvim_win_set_cursor(win, { code + 3, 0 })
      vim.cmd('normal! zo')
      t.eq(vim.fn.foldclosed(code + 3), -1, 'the opened fold')
      vim.api.nvim_win_set_cursor(win, { code + 1, 0 })
      t.keys('gy')
      t.eq(vim.fn.getreg('"'), cited.text .. '\n', 'the register')
      t.keys('<CR>')
      t.eq(vim.api.nvim_buf_get_name(0), t.workspace .. '/' .. cited.path, 'the opened file')
      t.eq(vim.api.nvim_win_get_cursor(0)[1], cited.startLine + 1, 'the opened line')
      t.eq(vim.api.nvim_win_get_buf(win), c.bufnr, 'the answer stays in its window')
      vim.api.nvim_set_current_win(win)
      t.ok(not pcall(vim.cmd.edit, 'README.md'), 'no other file takes the answer window')
    end,
  },
  {
    name = 'a shown answer says which cited lines moved, changed or are gone',
    run = function(t)
      t.repository()
      t.edit('src/requests/cookies.py')
      local file = vim.api.nvim_get_current_buf()
      local c = t.ask('what does merge_cookies do?')
      local cited
      for _, one in ipairs(require('coderag.conversation').citations(c)) do
        cited = cited or one.path == 'src/requests/cookies.py' and one or nil
      end
      local states = vim.api.nvim_create_namespace('coderag.states')
      local function noted()
        local all = ''
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(c.bufnr, states, 0, -1, { details = true })) do
          all = all .. mark[4].virt_text[1][1]
        end
        return all
      end
      t.eq(noted(), '', 'notes at first')
      local function edit(first, last, lines)
        vim.api.nvim_buf_set_lines(file, first, last, false, lines)
        vim.api.nvim_exec_autocmds('TextChanged', { buffer = file })
      end
      edit(0, 0, { '# one', '# two' })
      t.wait('the note of moved lines', function()
        return noted():find((' now %d-%d'):format(cited.startLine + 2, cited.endLine + 2), 1, true)
      end)
      edit(cited.startLine + 1, cited.startLine + 2, { 'def other():' })
      t.wait('the note of changed lines', function()
        return noted():find(' changed', 1, true)
      end)
      vim.api.nvim_buf_delete(file, { force = true })
      t.wait('no note once the edits are dropped', function()
        vim.api.nvim_exec_autocmds('BufEnter', { buffer = c.bufnr })
        return noted() == ''
      end)
      vim.fn.delete('src/requests/cookies.py')
      t.wait('the note of a file that is gone', function()
        vim.api.nvim_exec_autocmds('BufEnter', { buffer = c.bufnr })
        return noted():find(' gone', 1, true)
      end)
    end,
  },
  {
    name = 'conversations go on, are kept and come back',
    run = function(t)
      t.repository()
      t.edit()
      local first = t.ask(question)
      vim.cmd('CodeRagAsk! where is it called?')
      t.eq(#first.turns, 2, 'turns of the first conversation')
      local turn = t.answered(first)
      t.eq(turn.request, nil, 'its request')
      t.contains(t.lines(), '# where is it called?', 'the answer window')
      local hints = 0
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(first.bufnr, vim.api.nvim_create_namespace('coderag.notes'), 0, -1, { details = true })) do
        hints = hints + (vim.inspect(mark[4].virt_lines):find('all keys') and 1 or 0)
      end
      t.eq(hints, 1, 'answers with keys below')
      vim.ui.input = function(_, callback)
        callback('and tested?')
      end
      t.keys('a')
      t.eq(#first.turns, 3, 'turns after the key')
      t.answered(first)
      t.keys('[[[[')
      t.eq(vim.api.nvim_get_current_line(), '# ' .. question, 'the question two back')
      t.keys(']]')
      t.eq(vim.api.nvim_get_current_line(), '# where is it called?', 'the next question')
      local second = t.ask('how are redirects followed?')
      t.ok(second ~= first, 'another conversation')
      t.eq(#vim.api.nvim_list_wins(), 2, 'windows')
      t.eq(vim.fn.getcompletion('CodeRagAsk how are c', 'cmdline'), { 'cookies merged into a session?' }, 'completion')
      t.ok(vim.list_contains(vim.fn.getcompletion('CodeRagAsk h', 'cmdline'), question), 'the whole question is offered')
      local offered
      vim.ui.select = function(items, opts, callback)
        offered = vim.tbl_map(opts.format_item, items)
        callback(items[2])
      end
      vim.cmd('CodeRag history')
      t.eq(offered, { 'how are redirects followed?', question .. ' (+2)' }, 'what history offers')
      t.eq(vim.api.nvim_get_current_buf(), first.bufnr, 'the buffer that came back')
      t.keys(']h')
      t.eq(vim.api.nvim_get_current_buf(), second.bufnr, 'the newer conversation')
      t.keys(']h')
      t.message('this is the latest conversation')
      t.keys('[h')
      t.eq(vim.api.nvim_get_current_buf(), first.bufnr, 'the older conversation')
      t.keys('r')
      t.eq(#first.turns, 3, 'turns after asking again')
      t.answered(first)
    end,
  },
  {
    name = 'citations become the quickfix and the location list',
    run = function(t)
      t.repository()
      t.edit()
      local file = vim.api.nvim_get_current_win()
      local _, turn = t.ask(question)
      local answer = vim.api.nvim_get_current_win()
      t.keys('<C-q>')
      local list = vim.fn.getqflist({ items = 0, title = 0 })
      t.eq(#list.items, #turn.order, 'quickfix items')
      t.eq(list.title, 'coderag: ' .. question, 'the title')
      t.eq(list.items[1].lnum, turn.citations[turn.order[1]].startLine, 'the first line')
      vim.cmd('cclose')
      vim.api.nvim_set_current_win(answer)
      t.keys('gl')
      t.eq(#vim.fn.getloclist(file), #turn.order, 'location list items')
    end,
  },
  {
    name = 'every layout shows the answer, and the float closes when a citation opens',
    run = function(t)
      t.repository()
      t.edit()
      for _, layout in ipairs({ 'vsplit', 'split', 'float', 'tab', 'current' }) do
        require('coderag').setup({ answer = { window = layout } })
        local c = t.ask(question)
        t.eq(vim.api.nvim_get_current_buf(), c.bufnr, layout .. ': the buffer')
        onCitation(t, c)
        t.keys('<CR>')
        t.contains(vim.api.nvim_buf_get_name(0), 'src/requests/', layout .. ': the opened file')
        t.eq({ vim.wo.winbar, vim.wo.foldmethod, vim.wo.winfixbuf }, { '', 'manual', false }, layout .. ': options of its window')
        if layout == 'float' then
          t.eq(#vim.api.nvim_list_wins(), 1, 'windows after the float')
        end
        vim.cmd('silent! tabonly | silent! only')
        vim.cmd('silent! bwipeout! ' .. c.bufnr)
        vim.cmd.edit(t.sessions)
      end
    end,
  },
  {
    name = 'nothing relevant, and an empty question',
    run = function(t)
      t.repository()
      t.edit()
      local c, turn = t.ask('zxqwv frobnicate the flux capacitor of the death star')
      t.ok(turn.result.noAnswer, 'there is no answer')
      t.eq(#turn.order, 0, 'citations')
      t.keys(']c<CR>')
      t.message('no citation under the cursor')
      t.eq(vim.api.nvim_get_current_buf(), c.bufnr, 'the buffer')
      local prompts = 0
      vim.ui.input = function(_, callback)
        prompts = prompts + 1
        callback(nil)
      end
      vim.cmd('CodeRagAsk')
      t.eq(prompts, 1, 'prompts')
    end,
  },
  {
    name = 'a question about lines, in the encoding of the server',
    run = function(t)
      t.repository()
      vim.fn.writefile({ 'def grüße():', '    return "schön 🎉"' }, 'hallo.py')
      t.edit('hallo.py')
      local c
      vim.cmd('1,2CodeRagAsk what is merged?')
      c = require('coderag.conversation').current()
      t.answered(c)
      t.eq(t.lines()[1], '# what is merged?  (hallo.py:1-2)', 'the heading')
    end,
  },
}

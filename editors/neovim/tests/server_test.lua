-- What the language server does for Neovim, and the commands beside asking.
return {
  {
    name = 'sourcing the plugin loads nothing and takes under a millisecond',
    run = function(t)
      local best = math.huge
      for n = 1, 7 do
        local log = t.dir .. '/startup' .. n
        local out = vim
          .system({
            vim.env.CODERAG_TEST_NVIM,
            '--headless',
            '-u',
            'NONE',
            '-i',
            'NONE',
            '--startuptime',
            log,
            '--cmd',
            'set rtp^=' .. t.plugin,
            '+runtime plugin/coderag.lua',
            '+lua vim.fn.writefile(vim.tbl_filter(function(n) return n:find("coderag") or n == "vim.lsp" end, vim.tbl_keys(package.loaded)), [['
              .. log
              .. '.loaded]])',
            '+qa',
          }, { text = true })
          :wait()
        t.eq(out.code, 0, 'the exit code')
        t.eq(vim.fn.readfile(log .. '.loaded'), {}, 'modules that are loaded')
        local time = table.concat(vim.fn.readfile(log), '\n'):match('%d[%d.]*%s+([%d.]+)%s+[%d.]+: sourcing [^\n]*plugin/coderag.lua')
        t.ok(time, 'the plugin was sourced')
        best = math.min(best, tonumber(time))
      end
      t.note(('sourcing plugin/coderag.lua takes %.3f ms, the best of 7 starts, and loads no module'):format(best))
      t.ok(best < 1, ('sourcing takes %.3f ms'):format(best))
    end,
  },
  {
    name = 'it works without setup, and the statusline tells the state',
    run = function(t)
      t.repository()
      t.load()
      t.eq(require('coderag').statusline(), '', 'the statusline before')
      local client = t.edit()
      t.eq(client.root_dir, t.workspace, 'the root')
      t.eq(client.config.cmd, { 'coderag-ls', 'serve', '--stdio' }, 'the command')
      t.wait('the statusline', function()
        return require('coderag').statusline():match('^coderag %d+$')
      end)
      vim.cmd.edit('README.md')
      t.eq(t.attached().id, client.id, 'the server of another file')
      vim.cmd('new')
      t.ok(not vim.lsp.get_clients({ bufnr = 0 })[1], 'no server for a buffer without a file')
    end,
  },
  {
    name = 'LspProgress tells of indexing and of questions',
    run = function(t)
      t.repository()
      local titles, kinds = {}, {}
      vim.api.nvim_create_autocmd('LspProgress', {
        callback = function(event)
          local value = event.data.params.value
          kinds[value.kind] = true
          titles[#titles + 1] = value.title
        end,
      })
      t.edit()
      t.ask('how are cookies merged into a session?')
      t.wait('progress of the question', function()
        return vim.list_contains(titles, 'coderag: answering') and kinds['end']
      end)
      t.eq({ kinds.text, kinds.citation }, {}, 'parts of answers told as progress')
      t.wait('no work in progress', function()
        return vim.lsp.status() == ''
      end)
    end,
  },
  {
    name = 'hover explains a symbol',
    run = function(t)
      t.repository()
      t.edit('src/requests/api.py')
      vim.fn.search('sessions\\.\\zsSession')
      vim.lsp.buf.hover()
      local text = t.float()
      t.contains(text, 'class Session', 'the hover')
      t.contains(text, 'src/requests/sessions.py', 'the hover')
    end,
  },
  {
    name = 'a code action inserts a cited snippet, undo takes it back',
    run = function(t)
      t.repository()
      vim.fn.writefile({ '# how are cookies merged into a session', '' }, 'mine.py')
      t.edit('mine.py')
      local before = t.lines()
      local offered
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action)
          offered = offered or action
          return action == offered
        end,
      })
      t.wait('the edit', function()
        return #t.lines() > 3
      end)
      t.eq(offered.kind, 'refactor.insert.coderag', 'the kind')
      t.contains(t.lines(), ' sha256:', 'the buffer')
      vim.cmd('silent undo')
      t.eq(t.lines(), before, 'the buffer after undo')
    end,
  },
  {
    name = 'drift: a sign appears when cited lines move, and the quick fix mends it',
    run = function(t)
      t.repository()
      local client = t.edit('src/requests/api.py')
      vim.cmd('CodeRagInsert src/requests/cookies.py:542-546')
      t.message('inserted src/requests/cookies.py:542-546')
      local file = vim.api.nvim_get_current_buf()
      t.sync(client)
      t.eq(#vim.diagnostic.get(file), 0, 'diagnostics at first')
      vim.cmd('split src/requests/cookies.py')
      t.attached()
      vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# moved', '# moved' })
      vim.cmd('wincmd p')
      local found = t.wait('a diagnostic', function()
        return vim.diagnostic.get(file)[1]
      end)
      t.eq({ found.source, found.code, found.severity }, { 'coderag', 'citation-moved', vim.diagnostic.severity.INFO }, 'the diagnostic')
      t.contains(found.message, 'src/requests/cookies.py:544-548', 'the message')
      local signs = t.wait('a sign', function()
        local marks = vim.api.nvim_buf_get_extmarks(file, -1, 0, -1, { type = 'sign', details = true })
        return #marks > 0 and marks
      end)
      t.eq(signs[1][2], found.lnum, 'the line of the sign')
      vim.api.nvim_win_set_cursor(0, { found.lnum + 1, 0 })
      vim.lsp.buf.code_action({
        apply = true,
        context = { only = { 'quickfix' }, diagnostics = { found.user_data.lsp } },
        filter = function(action)
          return action.isPreferred
        end,
      })
      t.wait('the mended citation', function()
        return table.concat(t.lines(file), '\n'):find('cookies.py:544-548 sha256:', 1, true)
      end)
      t.wait('no diagnostic', function()
        return #vim.diagnostic.get(file) == 0
      end)
    end,
  },
  {
    name = 'search and similar offer hits, with a bang they are listed',
    run = function(t)
      t.repository()
      t.edit()
      local offered, chosen
      vim.ui.select = function(items, opts, callback)
        offered, chosen = vim.tbl_map(opts.format_item, items), items[1]
        callback(items[1])
      end
      vim.cmd('CodeRagSearch merge_cookies')
      t.wait('the hits', function()
        return offered
      end)
      t.contains(offered, 'src/requests/cookies.py', 'the hits')
      t.eq(vim.api.nvim_buf_get_name(0), t.workspace .. '/' .. chosen.path, 'the opened file')
      vim.cmd('CodeRagSearch! merge_cookies')
      t.wait('the quickfix list', function()
        return #vim.fn.getqflist() > 2
      end)
      t.eq(vim.fn.getqflist({ title = 0 }).title, 'coderag: merge_cookies', 'the title')
      vim.cmd('cclose')
      vim.cmd.edit('src/requests/cookies.py')
      offered = nil
      vim.cmd('542,555CodeRag similar')
      t.wait('the similar code', function()
        return offered
      end)
      t.ok(#offered > 0, 'similar code')
      vim.cmd('CodeRagSearch zxqwvvv')
      t.message('nothing relevant was found')
    end,
  },
  {
    name = 'explain shows the symbol under the cursor, and a named one',
    run = function(t)
      t.repository()
      t.edit('src/requests/sessions.py')
      vim.fn.search('merge_cookies(')
      vim.cmd('CodeRagExplain')
      t.wait('the explanation', function()
        return vim.bo.filetype == 'coderag'
      end)
      t.eq(t.lines()[1], '# merge_cookies', 'the heading')
      t.contains(t.lines(), 'src/requests/cookies.py:', 'the explanation')
      t.keys(']c<CR>')
      t.contains(vim.api.nvim_buf_get_name(0), 'src/requests/cookies.py', 'the opened file')
      vim.cmd('CodeRag explain resolve_redirects')
      t.wait('another explanation', function()
        return vim.bo.filetype == 'coderag' and t.lines()[1]:find('resolve_redirects')
      end)
      vim.cmd('wincmd p')
      vim.cmd('CodeRagExplain no_such_symbol_here')
      t.message('no symbol no_such_symbol_here')
    end,
  },
  {
    name = 'status, reindex, pause, resume, log',
    run = function(t)
      t.repository()
      t.edit()
      vim.cmd('CodeRagStatus')
      local text = t.float()
      t.contains(text, t.workspace, 'the status')
      t.contains(text, 'symbols', 'the status')
      vim.cmd('fclose!')
      t.eq(vim.fn.getcompletion('CodeRagReindex src/requests/ap', 'cmdline'), { 'src/requests/api.py' }, 'completion of paths')
      vim.cmd('CodeRagReindex src/requests')
      t.message('indexing again')
      vim.cmd('CodeRag pause')
      t.message('paused')
      t.wait('the statusline', function()
        return require('coderag').statusline() == 'coderag paused'
      end)
      vim.cmd('CodeRag resume')
      t.message('resumed')
      vim.cmd('CodeRag nosuch')
      t.message('no subcommand nosuch: ask, search')
      t.eq(vim.fn.getcompletion('CodeRag re', 'cmdline'), { 'reindex', 'resume', 'restart' }, 'completion of subcommands')
      vim.cmd('CodeRagLog')
      t.wait('the log', function()
        return vim.bo.filetype == 'log' and table.concat(t.lines(), '\n'):find('client') or vim.tbl_contains(t.messages, 'coderag: the server logged nothing')
      end)
    end,
  },
  {
    name = 'restart brings the server back to the open files',
    run = function(t)
      t.repository()
      local client = t.edit()
      vim.cmd('CodeRag restart')
      t.wait('another server', function()
        local now = vim.lsp.get_clients({ name = 'coderag', bufnr = 0 })[1]
        return now and now.initialized and now.id ~= client.id
      end)
      t.ok(client:is_stopped(), 'the first one ended')
      local _, turn = t.ask('how are cookies merged into a session?')
      t.ok(turn.result, 'an answer')
    end,
  },
  {
    name = 'two Neovims on one workspace, each with its own unsaved edits',
    run = function(t)
      t.repository()
      local client = t.edit('src/requests/cookies.py')
      local other = vim.fn.jobstart(
        { vim.env.CODERAG_TEST_NVIM, '--clean', '--headless', '--embed', '-u', 'NONE', '-i', 'NONE', '--cmd', 'set rtp^=' .. t.plugin .. ' noswapfile' },
        { rpc = true }
      )
      local function there(code, ...)
        return vim.rpcrequest(other, 'nvim_exec_lua', code, { ... })
      end
      there([[vim.cmd.cd(...); vim.cmd.runtime('plugin/coderag.lua'); vim.cmd.edit('src/requests/cookies.py')]], t.workspace)
      t.wait('the other server', function()
        return there([[local c = vim.lsp.get_clients({ name = 'coderag' })[1]; return c and c.initialized or false]])
      end)
      there([[vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# a', '# b', '# c', '# d', '# e' })]])
      local found = {}
      local ask = [[
        vim.cmd('CodeRagAsk what does merge_cookies do?')
        local c = require('coderag.conversation').current()
        vim.wait(60000, function() return c.turns[1].state ~= 'running' end, 10)
        for id, cited in pairs(c.turns[1].citations) do
          if cited.path == 'src/requests/cookies.py' and cited.text:find('^def merge_cookies') then return cited.startLine end
        end
        return c.turns[1].error or table.concat(vim.tbl_keys(c.turns[1].citations), ' ')
      ]]
      found.there = there(ask)
      found.here = loadstring(ask)()
      t.eq(found, { here = 542, there = 547 }, 'the line of merge_cookies')
      local status = assert(client:request_sync('coderag/status', vim.empty_dict(), 60000)).result
      t.eq(status.ownedBy.clients, 1, 'attached processes')
      there([[for _, c in ipairs(vim.lsp.get_clients()) do c:stop() end; vim.wait(20000, function() return #vim.lsp.get_clients() == 0 end, 10)]])
      vim.fn.jobstop(other)
    end,
  },
  {
    name = 'a file outside of a repository: commands start the server for the working directory',
    run = function(t)
      local dir = t.dir .. '/loose'
      vim.fn.mkdir(dir)
      vim.fn.writefile({ 'def frobnicate(pear):', '    """Frobnicates a pear."""', '    return pear' }, dir .. '/fruit.py')
      vim.cmd.cd(dir)
      t.load()
      vim.cmd.edit('fruit.py')
      vim.wait(200)
      t.eq(#vim.lsp.get_clients(), 0, 'servers before')
      local _, turn = t.ask('how are pears frobnicated?')
      t.contains(turn.text, 'frobnicate', 'the answer')
      vim.cmd.cd(vim.env.HOME)
      for _, client in ipairs(vim.lsp.get_clients()) do
        client:stop()
      end
      t.wait('no server', function()
        return #vim.lsp.get_clients() == 0
      end)
      vim.cmd('new')
      vim.cmd('CodeRagStatus')
      t.message('is too wide to be indexed')
    end,
  },
}

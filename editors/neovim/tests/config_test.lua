-- Options, the health check, the help file.
local function health(t)
  vim.cmd('checkhealth coderag')
  return table.concat(t.lines(), '\n')
end

local function script(t, name, text)
  local path = t.dir .. '/' .. name
  vim.fn.writefile(vim.split(text, '\n'), path)
  vim.uv.fs_chmod(path, tonumber('755', 8))
  return path
end

return {
  {
    name = 'unknown and wrong options are refused by name, the others count',
    run = function(t)
      t.load()
      local config = require('coderag.config')
      local got, problems = config.check({
        answr = {},
        answer = { windw = 'float', window = 'sideways', size = 3, hints = false },
        keys = { open = 7, close = false, insert = { '<M-i>', 5 } },
        cmd = {},
        root_markers = '.git',
        settings = { search = { topk = 3, topK = 30, rrfK = 1 }, ['index.exclude'] = { 'x/**' }, embed = { modelDir = '/m', provider = 'magic' } },
        init_options = { embed = { modelDir = '/m' } },
      })
      t.eq(problems, {
        'answer.size must be from 0.1 to 1, not 3',
        'answer.window must be one of vsplit, split, float, tab, current, not "sideways"',
        'unknown option answer.windw, did you mean answer.window?',
        'unknown option answr, did you mean answer?',
        'cmd must name a program',
        'keys.insert must hold strings, not 5',
        'keys.open must be a key, a list of keys or false, not 7',
        'root_markers must be a list, not ".git"',
        'settings.embed.modelDir is one of this machine: move it to init_options',
        'settings.embed.provider must be one of auto, static, onnx, none, not "magic"',
        'settings.search.rrfK must be from 10 to 100, not 1',
        'unknown setting settings.search.topk, did you mean search.topK?',
      }, 'problems')
      t.eq({ got.answer.window, got.answer.hints, got.keys.close, got.cmd[1] }, { 'vsplit', false, false, 'coderag-ls' }, 'options')
      t.eq(got.settings, { search = { topK = 30 }, index = { exclude = { 'x/**' } } }, 'settings')
      t.eq(got.init_options, { embed = { modelDir = '/m' } }, 'init_options')
      require('coderag').setup({ nonsense = 1 })
      t.message('unknown option nonsense')
    end,
  },
  {
    name = 'options reach the server: vim.g.coderag, setup(), enable',
    run = function(t)
      t.repository()
      local cmd = script(t, 'wrapped', '#!/bin/sh\nexec ' .. t.program .. ' "$@"')
      vim.g.coderag = { cmd = { cmd, 'serve', '--stdio' }, settings = { lsp = { hover = false } }, enable = false, keys = { close = 'Q' } }
      t.load()
      vim.cmd.edit(t.sessions)
      vim.wait(300)
      t.eq(#vim.lsp.get_clients(), 0, 'servers with enable = false')
      local c = t.ask('how are cookies merged?')
      t.eq(c.client.config.cmd[1], cmd, 'the command')
      t.eq(vim.fn.maparg('Q', 'n', false, true).desc, 'coderag: close', 'the key')
      t.eq(vim.fn.maparg('q', 'n'), '', 'the default key')
      vim.cmd('wincmd p')
      vim.fn.search('merge_cookies(')
      local at = vim.lsp.util.make_position_params(0, 'utf-8')
      t.wait('no hover', function()
        local out = c.client:request_sync('textDocument/hover', at, 5000)
        return out and not out.err and (out.result == nil or out.result == vim.NIL)
      end)
    end,
  },
  {
    name = 'checkhealth: all is well',
    run = function(t)
      t.repository()
      t.edit()
      local text = health(t)
      t.contains(text, 'coderag-ls (devel)', 'the page')
      t.contains(text, t.workspace .. ': 1 buffers', 'the page')
      t.contains(text, 'workspace: ', 'the page')
      t.ok(not text:find('ERROR') and not text:find('WARNING'), 'nothing is wrong: ' .. text)
    end,
  },
  {
    name = 'checkhealth: no program, one that is not executable, another one, a broken one',
    run = function(t)
      t.repository()
      t.load()
      vim.env.PATH = '/usr/bin:/bin'
      local text = health(t)
      t.contains(text, 'ERROR coderag-ls cannot be run', 'the page')
      t.contains(text, 'put it on $PATH', 'the page')
      vim.cmd('bwipeout!')
      vim.cmd.edit(t.sessions)
      vim.cmd('CodeRagAsk why?')
      t.wait('the question failed', function()
        return require('coderag.conversation').current().turns[1].state == 'failed'
      end)
      t.contains(require('coderag.conversation').current().turns[1].error, 'coderag-ls cannot be run', 'the error')
      local path = t.dir .. '/plain'
      vim.fn.writefile({ 'x' }, path)
      require('coderag').setup({ cmd = { path } })
      t.contains(health(t), 'chmod +x ' .. path, 'the page')
      vim.cmd('bwipeout!')
      require('coderag').setup({ cmd = { script(t, 'other', '#!/bin/sh\necho I am another program') } })
      t.contains(health(t), 'does not run: I am another program', 'the page')
      vim.cmd('bwipeout!')
      require('coderag').setup({ cmd = { script(t, 'broken', '#!/bin/sh\necho no such library >&2; exit 127') } })
      t.contains(health(t), 'does not run: no such library', 'the page')
    end,
  },
  {
    name = 'checkhealth: wrong options, no workspace, a server that ended, no parser',
    run = function(t)
      vim.fn.mkdir(t.dir .. '/nowhere')
      vim.cmd.cd(t.dir .. '/nowhere')
      t.load()
      require('coderag').setup({ keys = { opn = 'x' } })
      local text = health(t)
      t.contains(text, 'ERROR unknown option keys.opn, did you mean keys.open?', 'the page')
      t.contains(text, 'no folder above', 'the page')
      vim.cmd('bwipeout!')
      t.repository()
      local client = t.edit()
      vim.uv.kill(t.pid(client), 'sigkill')
      t.wait('the server ended', function()
        return not vim.lsp.get_client_by_id(client.id)
      end)
      t.contains(health(t), 'no server runs', 'the page')
      vim.cmd('bwipeout!')
      vim.treesitter.language.add = function()
        return nil, 'none'
      end
      t.contains(health(t), ':TSInstall markdown', 'the page')
    end,
  },
  {
    name = 'checkhealth: an old Neovim, a plugin that is half there, a doctor that fails, a server that hangs',
    run = function(t)
      t.repository()
      vim.opt.rtp:prepend(t.plugin)
      vim.env.PATH = vim.fs.dirname(t.program) .. ':' .. vim.env.PATH
      t.contains(health(t), 'ERROR plugin/coderag.lua was not sourced', 'the page')
      vim.cmd('bwipeout!')
      local has = vim.fn.has
      vim.fn.has = function(what)
        return what == 'nvim-0.11' and 0 or has(what)
      end
      local text = health(t)
      t.contains(text, 'is too old', 'the page')
      t.contains(text, 'install Neovim 0.11 or newer', 'the page')
      vim.fn.has = has
      vim.cmd('bwipeout!')
      local client = t.edit()
      local pid = t.pid(client)
      vim.uv.kill(pid, 'sigstop')
      text = health(t)
      vim.uv.kill(pid, 'sigcont')
      t.contains(text, ('ERROR the server of %s does not answer'):format(t.workspace), 'the page')
      t.contains(text, ':CodeRag restart', 'the page')
      vim.cmd('bwipeout!')
      vim.env.CODERAG_SEARCH_TOP_K = 'many'
      t.contains(health(t), 'WARNING settings: environment CODERAG_SEARCH_TOP_K: there is no such setting', 'the page')
      vim.env.CODERAG_SEARCH_TOP_K = nil
      vim.cmd('bwipeout!')
      local half = script(t, 'half', '#!/bin/sh\n[ "$1" = version ] && exec ' .. t.program .. ' version\necho no such command >&2; exit 2')
      require('coderag').setup({ cmd = { half }, enable = false })
      text = health(t)
      t.contains(text, 'ERROR coderag-ls doctor failed: no such command', 'the page')
      t.contains(text, 'enable is false', 'the page')
    end,
  },
  {
    name = 'the help file is what the code says, and its tags are found',
    run = function(t)
      t.load()
      local out = vim.system({ vim.env.CODERAG_TEST_NVIM, '--clean', '--headless', '-l', t.plugin .. '/scripts/vimdoc.lua', '--check' }, { text = true }):wait()
      t.eq({ out.code, out.stderr }, { 0, '' }, 'make docs-neovim')
      local doc = t.dir .. '/doc'
      vim.fn.mkdir(doc)
      vim.uv.fs_copyfile(t.plugin .. '/doc/coderag.txt', doc .. '/coderag.txt')
      vim.cmd.helptags(doc)
      local tags = table.concat(vim.fn.readfile(doc .. '/tags'), '\n')
      for _, tag in ipairs({
        'coderag',
        ':CodeRagAsk',
        ':CodeRag-history',
        'coderag.ask()',
        'coderag-answer.window',
        'coderag-search.topK',
        '<Plug>(coderag-ask)',
        'coderag-keys',
      }) do
        t.contains('\n' .. tags, '\n' .. tag .. '\t', 'the tags')
      end
    end,
  },
  {
    name = 'maps by <Plug>, none by default',
    run = function(t)
      t.repository()
      local before = #vim.api.nvim_get_keymap('n')
      t.edit()
      local maps = vim.tbl_filter(function(map)
        return (map.desc or ''):find('^coderag') and not map.lhs:find('^<Plug>')
      end, vim.api.nvim_get_keymap('n'))
      t.eq(maps, {}, 'default maps')
      t.ok(#vim.api.nvim_get_keymap('n') > before, 'there are <Plug> maps')
      vim.keymap.set('n', '<F2>', '<Plug>(coderag-explain)')
      vim.fn.search('merge_cookies(')
      t.keys('<F2>')
      t.wait('the explanation', function()
        return vim.bo.filetype == 'coderag'
      end)
      vim.cmd('wincmd p')
      local asked
      vim.ui.input = function(_, callback)
        asked = true
        callback('what is this?')
      end
      vim.keymap.set('x', '<F3>', '<Plug>(coderag-ask)')
      t.keys('Vj<F3>')
      t.wait('the question', function()
        return asked
      end)
      t.contains(require('coderag.conversation').current().turns[1].about or '', 'sessions.py:', 'what it is about')
      t.answered(require('coderag.conversation').current())
    end,
  },
}

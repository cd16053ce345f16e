-- What is on the screen, in a real terminal (tmux). The snapshots are written
-- anew with UPDATE=1; numbers that differ from run to run are made equal.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))

---@class Terminal
local Terminal = {}
Terminal.__index = Terminal

local function open(t, columns, lines, setup)
  local tmux = vim.env.CODERAG_TEST_TMUX
  t.ok(tmux and tmux ~= '', 'tmux is there')
  local self = setmetatable({ t = t, tmux = tmux, socket = t.dir .. '/tmux', shown = '' }, Terminal)
  local init = t.dir .. '/init.lua'
  vim.fn.writefile(
    vim.split(
      ([[
    vim.opt.rtp:prepend(%q)
    vim.env.PATH = %q .. ':' .. vim.env.PATH
    vim.o.swapfile, vim.o.showcmd, vim.o.ruler, vim.o.shada = false, false, false, ''
    vim.o.statusline = "%%f %%=%%{%%v:lua.require'coderag'.statusline()%%}"
    %s
  ]]):format(t.plugin, vim.fs.dirname(t.program), setup or ''),
      '\n'
    ),
    init
  )
  t.after(function()
    vim.system({ tmux, '-S', self.socket, 'kill-server' }):wait()
  end)
  self:run(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    tostring(columns),
    '-y',
    tostring(lines),
    '-c',
    t.workspace,
    ('exec %s --clean -u %s %s'):format(vim.fn.shellescape(vim.env.CODERAG_TEST_NVIM), vim.fn.shellescape(init), t.sessions)
  )
  return self
end

function Terminal:run(...)
  local out = vim.system({ self.tmux, '-S', self.socket, ... }, { text = true, env = { TERM = 'xterm-256color', LC_ALL = 'C.UTF-8' } }):wait()
  self.t.eq({ out.code, out.stderr }, { 0, '' }, 'tmux ' .. table.concat({ ... }, ' '))
  return out.stdout
end

function Terminal:type(text)
  self:run('send-keys', '-l', text)
end

function Terminal:key(...)
  self:run('send-keys', ...)
end

--- Waits until the screen holds a text, and stands still.
function Terminal:sees(text)
  local last
  local ok = vim.wait(60000, function()
    local now = self:run('capture-pane', '-p')
    local still = now == last
    last = now
    return still and now:find(text, 1, true)
  end, 150)
  self.shown = last
  if not ok then
    self.t.fail(('the screen never shows %q:\n%s'):format(text, last))
  end
end

function Terminal:snapshot(name)
  local lines = {}
  for _, line in ipairs(vim.split(self.shown, '\n')) do
    lines[#lines + 1] = (line:gsub('%d+ ms *', 'N ms '):gsub('%s+$', ''))
  end
  local got = table.concat(lines, '\n'):gsub('\n*$', '\n')
  local path = here .. '/snapshots/' .. name .. '.txt'
  if vim.env.UPDATE == '1' then
    vim.fn.mkdir(vim.fs.dirname(path), 'p')
    vim.fn.writefile(vim.split(got, '\n'), path, 'b')
    return
  end
  local f = assert(io.open(path))
  local want = f:read('*a')
  f:close()
  if got ~= want then
    self.t.fail(('the screen is not snapshots/%s.txt:\n%s'):format(name, vim.diff(want, got)))
  end
end

function Terminal:close()
  self:key('Escape')
  self:type(':qa!')
  self:key('Enter')
end

--- A workspace whose answers no change of the ranking alters: one function that
--- is asked for, one that calls it.
local function shop(t)
  vim.fn.mkdir(t.workspace .. '/shop', 'p')
  t.eq(vim.system({ 'git', 'init', '-q', t.workspace }):wait().code, 0, 'git init')
  t.workspace = vim.uv.fs_realpath(t.workspace)
  t.sessions = 'shop/checkout.py'
  vim.fn.writefile({
    'def merge_carts(cart, guest):',
    '    """Adds what a guest collected to a customer\'s cart.',
    '',
    '    :param cart: the Cart of the customer, which is changed.',
    '    :param guest: the Cart from before the customer signed in.',
    '    :rtype: Cart',
    '    """',
    '    if not isinstance(guest, Cart):',
    '        raise TypeError("only a Cart can be merged into a Cart")',
    '    for article, count in guest.items():',
    '        cart[article] = min(cart.get(article, 0) + count, LIMIT)',
    '    return cart',
  }, t.workspace .. '/shop/carts.py')
  vim.fn.writefile({
    '"""What happens between signing in and paying."""',
    '',
    'from .carts import merge_carts',
    '',
    '',
    'class Checkout:',
    '    """One customer\'s way to the till."""',
    '',
    '    def sign_in(self, customer, guest):',
    '        """Signs a customer in, who keeps what is in the cart."""',
    '        self.customer = customer',
    '        self.cart = merge_carts(customer.cart, guest)',
    '        return self.cart',
  }, t.workspace .. '/shop/checkout.py')
end

return {
  {
    name = 'an answer beside the file, its citations, a preview, the keys',
    run = function(t)
      shop(t)
      local term = open(t, 120, 36)
      term:sees('coderag 2')
      term:type(':CodeRagAsk what does merge_carts do?')
      term:key('Enter')
      term:sees(' checked')
      term:snapshot('answer')
      term:type(']cK')
      term:sees('carts.py:1-12  ')
      term:snapshot('preview')
      term:key('Escape')
      term:type(':fclose')
      term:key('Enter')
      term:type('g?')
      term:sees('coderag: keys')
      term:snapshot('keys')
      term:type('q')
      term:type('\r')
      term:sees('shop/carts.py   ')
      term:snapshot('opened')
      term:close()
    end,
  },
  {
    name = 'a floating answer, a status, nothing relevant',
    run = function(t)
      shop(t)
      local term = open(t, 100, 30, "require('coderag').setup({ answer = { window = 'float' } })")
      term:sees('coderag 2')
      term:type(':CodeRagAsk what does merge_carts do?')
      term:key('Enter')
      term:sees(' checked')
      term:snapshot('float')
      term:type('q')
      term:type(':CodeRagAsk zxqwv frobnicate the death star')
      term:key('Enter')
      term:sees('nothing relevant ')
      term:snapshot('nothing')
      term:close()
    end,
  },
}

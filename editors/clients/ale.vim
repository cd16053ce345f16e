" Vim with ALE against the real program; run by test_editors.py in a workspace
" with coderag-ls on PATH and CODERAG_TEST_OUT set.
set nocompatible nomore noswapfile hidden viminfo=
let g:ale_linters_explicit = 1
let g:ale_linters = {'python': ['coderag']}
let g:ale_lint_delay = 0
let g:ale_hover_cursor = 0
let &runtimepath = $CODERAG_TEST_ALE . ',' . &runtimepath
filetype plugin on
runtime plugin/ale.vim

" The page's own code.
let s:page = readfile($CODERAG_TEST_PAGES . '/vim.md')
let s:code = []
let s:inside = 0
for s:line in s:page
  if s:line =~# '^```'
    let s:inside = s:line ==# '```vim'
  elseif s:inside
    call add(s:code, s:line)
  endif
endfor
call writefile(s:code, $CODERAG_TEST_OUT . '.vim')
execute 'source ' . fnameescape($CODERAG_TEST_OUT . '.vim')

let s:failures = 0
function! s:Check(name, ok) abort
  let s:failures += a:ok ? 0 : 1
  call writefile([(a:ok ? 'ok ' : 'not ok ') . a:name], $CODERAG_TEST_OUT, 'a')
endfunction

function! s:Wait(expression) abort
  for l:_ in range(1200)
    if eval(a:expression) | return 1 | endif
    sleep 50m
  endfor
  return 0
endfunction

edit drift.py
call s:Check('the citation that moved is diagnosed', s:Wait('match(map(getloclist(0), "v:val.text"), "have moved") >= 0'))

edit src/requests/cookies.py
call search('def merge_cookies')
normal! w
let s:root = getcwd()
ALEHover
call s:Check('hover explains the symbol', s:Wait('execute("messages") =~# "merge_cookies" || !empty(filter(range(1, winnr("$")), "getwinvar(v:val, \"&previewwindow\")"))'))
call s:Check('the language server runs', !empty(filter(copy(ale#lsp#GetConnections()), 'v:val.initialized')))
CodeRagAsk how are cookies merged into a session?
call s:Check('the command shows an answer', match(getline(1, '$'), '\[src/requests/.*:\d\+-\d\+\]') >= 0)
call writefile([execute('messages')], $CODERAG_TEST_OUT . '.messages')
if s:failures > 0 | cquit! | endif
qall!

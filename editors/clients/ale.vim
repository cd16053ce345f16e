" Vim with ALE against the real program; run by test_editors.py in a workspace
" with CODERAG_TEST_BIN and CODERAG_TEST_OUT set.
set nocompatible nomore noswapfile hidden viminfo=
let g:ale_linters_explicit = 1
let g:ale_linters = {'python': ['coderag']}
let g:ale_lint_delay = 0
let g:ale_hover_cursor = 0
let &runtimepath = $CODERAG_TEST_ALE . ',' . &runtimepath
filetype plugin on
runtime plugin/ale.vim

" As the page says, but for the path of the program.
call ale#linter#Define('python', {
\   'name': 'coderag',
\   'lsp': 'stdio',
\   'executable': $CODERAG_TEST_BIN,
\   'command': '%e serve --stdio',
\   'project_root': {buffer -> fnamemodify(ale#path#FindNearestDirectory(buffer, '.git'), ':h:h')},
\})

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
call writefile([execute('messages')], $CODERAG_TEST_OUT . '.messages')
if s:failures > 0 | cquit! | endif
qall!

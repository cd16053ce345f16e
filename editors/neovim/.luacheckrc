std = 'luajit'
globals = { 'vim', 'arg' }
max_line_length = false

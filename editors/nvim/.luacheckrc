std = 'luajit'
globals = { 'vim' }
max_line_length = 110
exclude_files = { '.luacheckrc' }
files['tests'] = { globals = { 'describe', 'it' } }

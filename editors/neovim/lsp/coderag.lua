-- Neovim 0.11 and later read this file as the configuration "coderag" of
-- vim.lsp.config; `vim.lsp.enable('coderag')` switches it on, which the plugin
-- does by itself. There are no filetypes: the server answers in every file of a
-- workspace.
return {
  cmd = { 'coderag-ls', 'serve', '--stdio' },
  root_markers = { '.git' },
  workspace_required = true,
}

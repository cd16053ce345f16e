import * as vscode from 'vscode';

import type { Ctx } from './ctx';
import { bytes, stateText } from './text';

/** Shows in the status bar how the server and its index stand. */
export function registerStatusBar(ctx: Ctx): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('coderag.status', vscode.StatusBarAlignment.Left, 0);
  item.name = 'coderag';
  item.command = 'coderag.showStatus';
  const show = (): void => {
    const { text, busy, problem } = stateText(ctx.state, ctx.status);
    const icon = problem ? '$(error)' : busy ? '$(loading~spin)' : ctx.status?.paused ? '$(debug-pause)' : '$(comment-discussion)';
    item.text = `${icon} coderag${text === '' ? '' : `: ${text}`}`;
    item.accessibilityInformation = { label: `coderag: ${text === '' ? 'ready' : text}`, role: 'button' };
    item.backgroundColor = problem ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    item.tooltip = tooltip(ctx);
    const ready = ctx.state === 'running' && ctx.status?.state === 'ready';
    void vscode.commands.executeCommand('setContext', 'coderag.ready', ready);
    void vscode.commands.executeCommand('setContext', 'coderag.paused', ctx.status?.paused ?? false);
  };
  show();
  item.show();
  return vscode.Disposable.from(item, ctx.onChanged(show));
}

function tooltip(ctx: Ctx): vscode.MarkdownString {
  const tip = new vscode.MarkdownString('', true);
  tip.isTrusted = { enabledCommands: ['coderag.ask', 'coderag.pause', 'coderag.resume', 'coderag.restart', 'coderag.openLog', 'coderag.showStatus'] };
  const s = ctx.status;
  if (ctx.failure !== '') tip.appendText(ctx.failure).appendMarkdown('\n\n');
  if (s) {
    const { indexed, total, skipped } = s.coverage;
    const left = Object.values(skipped).reduce((sum, n) => sum + n, 0);
    tip.appendMarkdown(`${indexed} of ${total} files indexed · ${left} skipped\n\n`);
    tip.appendMarkdown(`Vectors ${Math.floor(s.coverage.vectorsReady * 100)} % · memory ${bytes(s.rssBytes)}\n\n`);
    tip.appendText(s.model.llm ? `${s.model.embedder} · ${s.model.llm}` : s.model.embedder).appendMarkdown('\n\n');
    for (const notice of s.notices) tip.appendMarkdown('$(info) ').appendText(notice).appendMarkdown('\n\n');
  }
  const pause = s?.paused ? '[Resume](command:coderag.resume)' : '[Pause](command:coderag.pause)';
  tip.appendMarkdown(ctx.state === 'running'
    ? `[Ask](command:coderag.ask) · ${pause} · [Status](command:coderag.showStatus) · [Log](command:coderag.openLog)`
    : '[Restart](command:coderag.restart) · [Log](command:coderag.openLog)');
  return tip;
}

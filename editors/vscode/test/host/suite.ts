// Runs within the extension host, against the real server and a real index.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { AskResult, ExplainResult, Status } from '../../src/lsp_ext';
import type { Turn } from '../../src/panel/protocol';

interface Api { activation: { wall: number; cpu: number }; status(): Status | undefined; refresh(): Promise<void>; state(): string; lastTurn(): Turn | undefined }
type Case = [string, () => Promise<void>];

/** What run.mjs wrote down for this run; only is a regular expression for the cases' names. */
interface Run { suite: 'single' | 'multi'; scratch: string; only: string }
const { suite, scratch, only } = JSON.parse(fs.readFileSync(path.join(__dirname, 'suite.json'), 'utf8')) as Run;
const id = 'coderag.coderag';

export async function run(): Promise<void> {
  const failures: string[] = [];
  const cases = suite === 'single' ? single : multi;
  for (const [name, test] of cases.filter(([name]) => new RegExp(only).test(name))) {
    const start = performance.now();
    try {
      await test();
      print(`ok ${suite}: ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failures.push(name);
      print(`not ok ${suite}: ${name}\n# ${(error instanceof Error ? error.stack ?? error.message : String(error)).replaceAll('\n', '\n# ')}`);
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} failed`);
}

function print(text: string): void {
  console.log(text); // eslint-disable-line no-console -- the runner reads it
}

/** Waits for a condition; nothing here waits for time alone. */
async function until<T>(what: string, condition: () => T | Promise<T>, limit = 60_000): Promise<Exclude<T, false | null | undefined>> {
  const end = Date.now() + limit;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined>;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>(id);
  assert.ok(extension, 'the extension is installed');
  return extension.activate();
}

async function indexed(): Promise<Api> {
  const a = await api();
  await until('the index is ready', () => a.status()?.state === 'ready');
  return a;
}

async function ask(question: string): Promise<AskResult> {
  const result = await vscode.commands.executeCommand<AskResult | undefined>('coderag.ask', question);
  assert.ok(result, `an answer to “${question}”`);
  return result;
}

/** Every citation's lines stand where it says, in the text as the editor has it. */
async function assertCitationsHold(result: AskResult): Promise<void> {
  assert.ok(result.citations.length > 0, 'there are citations');
  for (const c of result.citations) {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(c.uri));
    const lines = Array.from({ length: c.endLine - c.startLine + 1 }, (_, i) => document.lineAt(c.startLine - 1 + i).text);
    assert.equal(lines.join('\n'), c.text, c.id);
  }
}

function file(name: string): vscode.Uri {
  return vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, name);
}

async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file(name)), vscode.ViewColumn.One);
}

/** Puts the cursor on the first occurrence of a text. */
function cursorOn(editor: vscode.TextEditor, text: string): vscode.Position {
  const offset = editor.document.getText().indexOf(text);
  assert.ok(offset >= 0, `${text} occurs`);
  const position = editor.document.positionAt(offset);
  editor.selection = new vscode.Selection(position, position);
  return position;
}

async function configure(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('coderag').update(name, value, vscode.ConfigurationTarget.Global);
}

const question = 'where is the help command added to a command?';

const single: Case[] = [
  ['activation adds under 50 ms', async () => {
    const { wall, cpu } = (await api()).activation;
    print(`# activated in ${wall.toFixed(1)} ms, ${cpu.toFixed(1)} ms of the processor`);
    assert.ok(cpu < 50, `${cpu} ms`); // by the clock, other programs count
  }],

  ['the bundles are under 1 MB', () => {
    const dist = path.join(vscode.extensions.getExtension(id)!.extensionPath, 'dist');
    const bytes = fs.readdirSync(dist).reduce((sum, name) => sum + fs.statSync(path.join(dist, name)).size, 0);
    print(`# the bundles are ${Math.round(bytes / 1000)} kB`);
    assert.ok(bytes < 1_000_000, `${bytes} bytes`);
    return Promise.resolve();
  }],

  ['the first index becomes ready', async () => {
    const a = await indexed();
    const { coverage } = a.status()!;
    assert.ok(coverage.total > 30 && coverage.indexed === coverage.total, JSON.stringify(coverage));
  }],

  ['every command of the manifest is registered', async () => {
    const extension = vscode.extensions.getExtension(id)!;
    const known = new Set(await vscode.commands.getCommands(true));
    for (const { command } of (extension.packageJSON as { contributes: { commands: { command: string }[] } }).contributes.commands) {
      assert.ok(known.has(command), command);
    }
  }],

  ['ask: every citation holds', async () => {
    await indexed();
    const result = await ask(question);
    assert.match(result.answer, /\[[^\]]+:\d+-\d+\]/);
    await assertCitationsHold(result);
  }],

  ['ask: an unsaved edit is cited', async () => {
    await indexed();
    const editor = await open('args.go');
    const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
    await editor.edit((edit) => edit.insert(end, '\n// quokkaLimit bounds how many quokkas may hop at the same time.\nfunc quokkaLimit() int { return 42 }\n'));
    assert.ok(editor.document.isDirty);
    const result = await ask('what bounds how many quokkas may hop?');
    assert.ok(result.citations.some((c) => c.text.includes('func quokkaLimit')), JSON.stringify(result.citations.map((c) => c.id)));
    await assertCitationsHold(result);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  }],

  ['explain: from the hover', async () => {
    await indexed();
    const editor = await open('command.go');
    const position = cursorOn(editor, 'InitDefaultHelpCmd');
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', editor.document.uri, position);
    const contents = hovers.flatMap((hover) => hover.contents).map((content) => (typeof content === 'string' ? content : content.value));
    const link = contents.map((text) => /\(command:(coderag\.explain)\?([^ )]+)/.exec(text)).find((match) => match);
    assert.ok(link, contents.join('\n'));
    const result = await vscode.commands.executeCommand<ExplainResult>(link[1]!, ...(JSON.parse(decodeURIComponent(link[2]!)) as unknown[]));
    assert.equal(result.found, true);
    assert.match(result.symbol, /InitDefaultHelpCmd/);
    assert.ok(result.definitions.length > 0 && result.usageCount > 0);
  }],

  ['code lens: off, then on without a restart', async () => {
    const a = await indexed();
    const pid = a.status()!.ownedBy.pid;
    const editor = await open('cobra.go');
    const lenses = (): Thenable<vscode.CodeLens[]> => vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', editor.document.uri, 100);
    const ours = (all: vscode.CodeLens[]): vscode.CodeLens[] => all.filter(({ command }) => command?.command === 'coderag.explain');
    assert.equal(ours(await lenses()).length, 0);
    await configure('lsp.codeLens', true);
    try {
      const [lens] = await until('lenses come', async () => { const all = ours(await lenses()); return all.length > 0 && all; });
      const result = await vscode.commands.executeCommand<ExplainResult>(lens!.command!.command, ...(lens!.command!.arguments as unknown[]));
      assert.equal(result.found, true);
      await a.refresh();
      assert.equal(a.status()!.ownedBy.pid, pid, 'the same process');
    } finally {
      await configure('lsp.codeLens', undefined);
    }
    await until('lenses go', async () => ours(await lenses()).length === 0);
  }],

  ['insert cited snippet: the light bulb, then undo', async () => {
    await indexed();
    const editor = await open('cobra.go');
    const before = editor.document.getText();
    const at = editor.document.lineCount - 1;
    await editor.edit((edit) => edit.insert(new vscode.Position(at, 0), '// match all aliases of a command\n'));
    const commented = editor.document.getText();
    const line = new vscode.Range(at, 5, at, 5);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', editor.document.uri, line, 'refactor.insert.coderag', 5);
    const action = actions.find(({ title }) => title.startsWith('Insert cited snippet'));
    assert.ok(action?.edit, actions.map(({ title }) => title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(action.edit));
    const inserted = editor.document.getText();
    assert.match(inserted.slice(commented.length - 200), /\/\/ \S+:\d+-\d+ sha256:[0-9a-f]{8}/);
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), commented, 'one undo takes it back');
    await vscode.commands.executeCommand('workbench.action.files.revert');
    assert.equal(editor.document.getText(), before);
  }],

  ['insert cited snippet: the command, of the last answer', async () => {
    await indexed();
    const result = await ask(question);
    const editor = await open('zsh_completions.go');
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    await vscode.commands.executeCommand('coderag.insertSnippet', result.citations[0]!.id);
    assert.ok(editor.document.getText().includes(`${result.citations[0]!.id} sha256:${result.citations[0]!.sha256.slice(0, 8)}`));
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.isDirty, false);
  }],

  ['drift: the quick fix after the source moved', async () => {
    await indexed();
    const result = await ask(question);
    const cited = result.citations.find(({ path: name }) => name.endsWith('.go'))!;
    const target = await open('zsh_completions.go');
    target.selection = new vscode.Selection(0, 0, 0, 0);
    await vscode.commands.executeCommand('coderag.insertSnippet', cited.id);
    const source = await open(cited.path);
    await source.edit((edit) => edit.insert(new vscode.Position(0, 0), '// one more line\n'));
    const uri = target.document.uri;
    const [found] = await until('the citation is reported', () => {
      const ours = vscode.languages.getDiagnostics(uri).filter((d) => d.source === 'coderag');
      return ours.length > 0 && ours;
    });
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, found!.range, vscode.CodeActionKind.QuickFix.value, 5);
    const fix = actions.find(({ title }) => title.startsWith('Update range'));
    assert.ok(fix?.edit, actions.map(({ title }) => title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.ok(target.document.getText().includes(`${cited.path}:${cited.startLine + 1}-${cited.endLine + 1} sha256:`));
    await until('nothing is reported', () => vscode.languages.getDiagnostics(uri).filter((d) => d.source === 'coderag').length === 0);
    for (const editor of [source, target]) {
      await vscode.window.showTextDocument(editor.document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
  }],

  ['settings: a change applies live', async () => {
    await indexed();
    const editor = await open('command.go');
    const position = cursorOn(editor, 'InitDefaultHelpCmd');
    const hovers = async (): Promise<number> => (await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', editor.document.uri, position)).length;
    assert.ok((await hovers()) > 0);
    await configure('lsp.hover', false);
    try {
      await until('hovers go', async () => (await hovers()) === 0);
    } finally {
      await configure('lsp.hover', undefined);
    }
    await until('hovers are back', async () => (await hovers()) > 0);
  }],

  ['the server is killed: it is started again and answers', async () => {
    const a = await indexed();
    const pid = a.status()!.ownedBy.pid;
    process.kill(pid, 'SIGKILL');
    await until('another process serves', async () => { await a.refresh(); return a.status() && a.status()!.ownedBy.pid !== pid; });
    await assertCitationsHold(await ask(question));
  }],

  ['restart by the command', async () => {
    const a = await indexed();
    const pid = a.status()!.ownedBy.pid;
    await vscode.commands.executeCommand('coderag.restart');
    await until('another process serves', () => a.status() && a.status()!.ownedBy.pid !== pid);
    await assertCitationsHold(await ask(question));
  }],

  ['two restarts at once end with a server that runs', async () => {
    const a = await indexed();
    const pid = a.status()!.ownedBy.pid;
    await Promise.all([vscode.commands.executeCommand('coderag.restart'), vscode.commands.executeCommand('coderag.restart')]);
    assert.equal(a.state(), 'running');
    await until('another process serves', () => a.status() && a.status()!.ownedBy.pid !== pid);
    await assertCitationsHold(await ask(question));
  }],

  ['pause and resume', async () => {
    const a = await indexed();
    await vscode.commands.executeCommand('coderag.pause');
    await until('it is paused', () => a.status()?.paused);
    await vscode.commands.executeCommand('coderag.resume');
    await until('it goes on', () => a.status()?.paused === false);
  }],

  ['a missing program: what fails is told, the setting mended is enough', async () => {
    const a = await indexed();
    await configure('server.path', '/nowhere/coderag-ls');
    try {
      await until('the server is given up', () => a.state() === 'failed');
      assert.equal(await vscode.commands.executeCommand('coderag.ask', question), undefined);
    } finally {
      await configure('server.path', undefined);
    }
    await until('the server runs again', () => a.state() === 'running');
    await assertCitationsHold(await ask(question));
  }],

  ['a language-model tool searches', async () => {
    await indexed();
    const result = await vscode.lm.invokeTool('coderag_search', { input: { query: question, tokenBudget: 1500 }, toolInvocationToken: undefined });
    const text = result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
    assert.match(text, /command\.go:\d+-\d+/);
    const explained = await vscode.lm.invokeTool('coderag_explain', { input: { symbol: 'InitDefaultHelpCmd' }, toolInvocationToken: undefined });
    assert.match((explained.content[0] as vscode.LanguageModelTextPart).value, /InitDefaultHelpCmd/);
  }],

  ['the editor’s language model writes the answer, which is shown as it is written', async () => {
    const a = await indexed();
    const parrot = await vscode.extensions.getExtension<{ asked: string[]; wait: Promise<void> }>('coderag-tests.test-model')!.activate();
    const { asked } = parrot;
    assert.equal(asked.length, 0, 'nothing was given to it before it was allowed');
    await configure('chat.editorModel', 'always');
    try {
      await until('the server runs again', () => a.state() === 'running' && a.status()?.state === 'ready');
      let goOn: () => void = () => undefined;
      parrot.wait = new Promise((resolve) => (goOn = resolve));
      const asking = ask(question);
      try {
        await until('its first sentence is shown', () => a.lastTurn()?.state === 'running' && a.lastTurn()!.text.includes('says so'));
      } finally {
        goOn();
      }
      const result = await asking;
      assert.match(result.answer, /parrot says so.*again/is);
      assert.ok(asked.length > 0);
      await assertCitationsHold(result);
    } finally {
      await configure('chat.editorModel', undefined);
    }
    await until('the server runs again', () => a.state() === 'running' && a.status()?.state === 'ready');
  }],

  ['copy as Markdown', async () => {
    await indexed();
    const result = await ask(question);
    await vscode.commands.executeCommand('coderag.copyAnswer');
    const text = await vscode.env.clipboard.readText();
    assert.ok(text.startsWith(`## ${question}`) && text.includes(result.citations[0]!.sha256.slice(0, 8)), text.slice(0, 200));
  }],

  ['context: a document with what was packed', async () => {
    await indexed();
    const result = await vscode.commands.executeCommand<{ tokenCount: number; content: string }>('coderag.showContext', question);
    assert.ok(result.tokenCount > 50);
    assert.equal(vscode.window.activeTextEditor?.document.getText(), result.content);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }],

  ['a file on disk is found after it is made', async () => {
    await indexed();
    const made = path.join(vscode.workspace.workspaceFolders![0]!.uri.fsPath, 'axolotl.go');
    fs.writeFileSync(made, 'package cobra\n\n// regrowAxolotl grows the lost leg of an axolotl back.\nfunc regrowAxolotl() {}\n');
    try {
      const result = await until('it is found', async () => {
        const answer = await ask('what grows the lost leg of an axolotl back?');
        return answer.citations.some((c) => c.path === 'axolotl.go') && answer;
      });
      await assertCitationsHold(result);
    } finally {
      fs.rmSync(made);
    }
  }],
];

const multi: Case[] = [
  ['both folders are indexed', async () => {
    const a = await indexed();
    assert.deepEqual(a.status()!.roots.map(({ name }) => name).sort(), ['cobra', 'notes']);
  }],

  ['answers cite each folder by its name', async () => {
    await indexed();
    const llamas = await ask('how many carrots does a llama get?');
    assert.ok(llamas.citations.some((c) => c.path.startsWith('notes/')), llamas.citations.map((c) => c.id).join(', '));
    await assertCitationsHold(llamas);
    const help = await ask(question);
    assert.ok(help.citations.some((c) => c.path.startsWith('cobra/')), help.citations.map((c) => c.id).join(', '));
    await assertCitationsHold(help);
  }],

  ['a folder that is added is indexed, one that is removed is forgotten', async () => {
    const a = await indexed();
    const zoo = path.join(scratch, 'zoo');
    fs.mkdirSync(zoo);
    fs.writeFileSync(path.join(zoo, 'penguin.py'), 'def polish_penguin(beak):\n    """Polish the beak of a penguin until it shines."""\n    return beak\n');
    vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(zoo) });
    await until('three folders are indexed', () => a.status()?.roots.length === 3 && a.status()!.state === 'ready');
    const result = await ask('what polishes the beak of a penguin?');
    assert.ok(result.citations.some((c) => c.path === 'zoo/penguin.py'));
    await assertCitationsHold(result);
    vscode.workspace.updateWorkspaceFolders(2, 1);
    await until('two folders are left', () => a.status()?.roots.length === 2);
  }],
];

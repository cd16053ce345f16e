// Drives the packaged extension in the editor through a browser, as a user would.
// Prints a line for each case; pictures go to the folder CODERAG_ARTIFACTS.
import { panelFindings } from './axe.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRepository, Editor, until } from '../lib/editor.mjs';

const [vsix, repository] = process.argv.slice(2);
if (!vsix || !repository) throw new Error('usage: run.mjs VSIX REPOSITORY');
const artifacts = process.env.CODERAG_ARTIFACTS;
/** Milliseconds to wait for anything; a loaded machine is slow. */
const limit = Number(process.env.CODERAG_LIMIT ?? 90_000);
/** Cases to run, by their names; the first one always is. */
const only = new RegExp(process.env.TEST ?? '');
let passed = 0;
let failed = 0;

const editor = new Editor('ui');
copyRepository(repository, path.join(editor.workspace, 'cobra'));
const folder = path.join(editor.workspace, 'cobra');
editor.settings();
// This editor lets no participant answer where it has no language model at all; one that is installed is not enough yet.
editor.install(path.resolve(vsix));
editor.installFolder(fileURLToPath(new URL('../host/model', import.meta.url)));
await editor.start(['--default-folder', folder]);
const page = await editor.browse();
page.setDefaultTimeout(limit);

async function shot(name) {
  if (artifacts) await page.screenshot({ path: path.join(artifacts, `${name}.png`) });
}

async function step(name, run) {
  if (passed + failed > 0 && !only.test(name)) return;
  const start = Date.now();
  try {
    await run();
    passed++;
    console.log(`ok ui: ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failed++;
    console.log(`not ok ui: ${name}\n# ${String(error.stack ?? error).replaceAll('\n', '\n# ')}`);
    await shot(`failed-${passed + failed}`).catch(() => undefined);
  }
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}

const input = () => page.locator('.quick-input-widget:visible input').first();
const rows = () => page.locator('.quick-input-list .monaco-list-row');
const panel = () => page.frameLocator('iframe.webview.ready').first().frameLocator('#active-frame');

/**
 * Chooses the row with this label. It is found and clicked in one task of the page: rows are used again for others as the
 * list changes, and what Enter takes may still be a row of the list before.
 */
async function choose(label) {
  await until(`the list has “${label}”`, () => page.evaluate((text) => {
    const row = [...document.querySelectorAll('.quick-input-list .monaco-list-row')].find((one) => one.querySelector('.label-name')?.textContent === text);
    for (const type of ['mousedown', 'mouseup', 'click']) row?.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, view: window, detail: 1 }));
    return row !== undefined;
  }, label), limit);
}

async function palette(title) {
  await page.keyboard.press('F1');
  await input().waitFor();
  await input().fill(`>${title}`);
  await choose(title);
}

/** Waits until an editor has the focus: before, what the extension does may still take it away from the palette. */
const editing = () => page.locator('.editor-group-container .monaco-editor.focused').first().waitFor();

async function openFile(name) {
  await page.keyboard.press('Control+P');
  await input().waitFor();
  await input().fill(name);
  await choose(name);
  await page.locator('.tab.active').filter({ hasText: name }).waitFor();
  await editing();
}

async function goTo(line, column) {
  await page.keyboard.press('Control+G');
  await input().waitFor();
  await input().fill(`:${line}:${column}`);
  await page.keyboard.press('Enter');
  await until(`the cursor is in line ${line}`, async () => (await position()).includes(`Ln ${line}, Col ${column}`));
}

const position = () => page.locator('#status\\.editor\\.selection').innerText();
const answered = () => panel().locator('article.done').last();

const lines = fs.readFileSync(path.join(folder, 'command.go'), 'utf8').split('\n');
const help = lines.findIndex((text) => text.includes('InitDefaultHelpCmd()')) + 1;

await step('the status bar says that the index is ready', async () => {
  await page.goto(`http://${editor.address}/?folder=${encodeURIComponent(folder)}`, { waitUntil: 'commit', timeout: limit });
  await page.locator('.monaco-workbench').waitFor();
  await page.locator('.statusbar-item[aria-label="coderag: ready"], .statusbar-item:has([aria-label="coderag: ready"])').first().waitFor();
});

await step('a citation opens beside a panel that stands alone', async () => {
  await palette('coderag: Ask…');
  await input().waitFor();
  await input().fill('what runs a command?');
  await page.keyboard.press('Enter');
  await answered().locator('.answer .cite').first().click();
  await page.locator('.line-numbers.active-line-number').first().waitFor();
  check(await panel().locator('#question').isVisible(), 'the panel is out of sight');
  await palette('coderag: New Conversation');
  await panel().locator('.welcome').waitFor();
  await panel().locator('#question:focus').waitFor(); // before, the panel may still take the focus away from the palette
  await palette('View: Close All Editors');
  await page.locator('.tab').first().waitFor({ state: 'detached' });
});

await step('ask in the palette: the answer comes beside the editor', async () => {
  await openFile('command.go');
  await palette('coderag: Ask…');
  await input().waitFor();
  await input().fill('where is the help command added to a command?');
  await page.keyboard.press('Enter');
  await answered().waitFor();
  check((await answered().locator('.cite').count()) > 0, 'no citation');
  await shot('answer');
});

await step('every citation opens its lines', async () => {
  await answered().locator('details.sources > summary').click();
  const chips = answered().locator('details.sources .cite');
  const count = await chips.count();
  check(count > 0, 'no sources');
  for (let i = 0; i < count; i++) {
    const id = await chips.nth(i).getAttribute('data-cite');
    const [, name, first] = /([^/]+):(\d+)-\d+$/.exec(id);
    await chips.nth(i).click();
    await page.locator('.tab.active').filter({ hasText: name }).waitFor();
    // The host may hear of the click's focus after the file is open, and give it back to the panel: the status bar has no position then.
    await page.locator('.line-numbers.active-line-number').getByText(first, { exact: true }).first().waitFor();
  }
  await shot('citation');
});

await step('a file that is opened from the panel stands beside it', async () => {
  await panel().locator('#question').focus();
  await openFile('cobra.go');
  check(await panel().locator('#question').isVisible(), 'the panel is out of sight');
  await page.locator('.tab').filter({ hasText: 'coderag' }).waitFor();
});

await step('resting on a citation shows its lines', async () => {
  await answered().locator('.cite').first().hover();
  await panel().locator('#preview').waitFor({ state: 'visible' });
  check((await panel().locator('#preview code').innerText()).trim() !== '', 'an empty preview');
  await shot('preview');
});

await step('why this: plan, scores and times; the graph is a picture', async () => {
  await answered().locator('details.why > summary').click();
  await answered().locator('details.why').getByText('Understood as').waitFor();
  await answered().locator('details.connected > summary').click();
  check((await answered().locator('.graph .node').count()) > 1, 'no graph');
  await answered().locator('details.connected').scrollIntoViewIfNeeded();
  await shot('why');
});

await step('a follow-up is asked with a click', async () => {
  const before = await panel().locator('article').count();
  const follow = answered().locator('.follow button').first();
  const question = await follow.innerText();
  await follow.click();
  await panel().locator('article.done h2').filter({ hasText: question }).last().waitFor();
  check((await panel().locator('article').count()) === before + 1, 'no further turn');
});

await step('the panel is used by the keyboard alone', async () => {
  await panel().locator('#question').focus();
  await page.keyboard.type('which shells have completions?');
  await page.keyboard.press('Enter');
  await panel().locator('article.done h2').filter({ hasText: 'which shells' }).waitFor();
  await panel().locator('#question').focus();
  await page.keyboard.press('ArrowUp');
  check((await panel().locator('#question').inputValue()) === 'which shells have completions?', 'the last question is not recalled');
  await panel().locator('#question').fill('');
});

for (const [theme, kind] of [['Light Modern', 'light'], ['Dark High Contrast', 'contrast'], ['Dark Modern', 'dark']]) {
  await step(`no serious finding of axe: ${kind}`, async () => {
    await palette('Preferences: Color Theme');
    await input().waitFor();
    await input().fill(theme);
    await choose(theme);
    await panel().locator(`body.vscode-${kind === 'contrast' ? 'high-contrast' : kind}`).waitFor();
    for (const details of await panel().locator('article:first-of-type details:not([open]) > summary').all()) await details.click();
    await answered().locator('.cite').first().scrollIntoViewIfNeeded();
    await page.mouse.move(5, 5);
    await answered().locator('.cite').first().hover();
    await panel().locator('#preview').waitFor({ state: 'visible' });
    let serious = [];
    // The colours of code come after the theme.
    await until('axe finds nothing serious', async () => {
      serious = (await panelFindings(page)).filter(({ impact }) => impact === 'serious' || impact === 'critical');
      return serious.length === 0;
    }, 15_000).catch(() => undefined);
    await shot(`panel-${kind}`);
    check(serious.length === 0, JSON.stringify(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html, any }) => [html.slice(0, 160), any?.[0]?.message])]), null, 1));
  });
}

await step('explain from the hover', async () => {
  await openFile('command.go');
  await goTo(help, lines[help - 1].replaceAll('\t', '    ').indexOf('InitDefaultHelpCmd') + 3); // columns as they are seen
  await page.keyboard.press('Control+K');
  await page.keyboard.press('Control+I');
  const hover = page.locator('.monaco-hover:visible').filter({ hasText: 'Explain with citations' }).first();
  await hover.waitFor();
  await shot('hover');
  await hover.getByText('Explain with citations').click();
  await panel().locator('article.done h2').filter({ hasText: 'Explain' }).waitFor();
});

await step('insert a cited snippet from the panel, and undo', async () => {
  await openFile('zsh_completions.go');
  await goTo(1, 1);
  await panel().locator('article.done').first().locator('details.sources').evaluate((details) => (details.open = true));
  await panel().locator('article.done').first().locator('details.sources [data-act=insert]').first().click();
  await page.locator('.view-line').filter({ hasText: 'sha256:' }).first().waitFor();
  await editing();
  await shot('inserted');
  await page.keyboard.press('Control+Z');
  await page.locator('.view-line').filter({ hasText: 'sha256:' }).first().waitFor({ state: 'detached' });
});

await step('the light bulb mends a citation whose lines moved', async () => {
  await openFile('zsh_completions.go');
  await goTo(1, 1);
  const sources = panel().locator('article.done').first().locator('details.sources');
  await sources.evaluate((details) => (details.open = true));
  const insert = sources.locator('[data-act=insert]').first();
  await insert.click();
  const inserted = page.locator('.view-line').filter({ hasText: 'sha256:' }).first();
  await inserted.waitFor();
  await editing();
  const [, name, first, last] = /([\w.]+\.go):(\d+)-(\d+)/.exec(await inserted.innerText());
  await openFile(name);
  await goTo(1, 1);
  await page.keyboard.type('// one more line\n');
  await openFile('zsh_completions.go');
  await page.locator('.squiggly-info, .squiggly-warning, .squiggly-hint, .squiggly-error').first().waitFor();
  await palette('Go to Next Problem (Error, Warning, Info)');
  await page.locator('.zone-widget').getByText('the cited lines have moved').first().waitFor(); // the cursor is there
  const fix = page.locator('.action-widget').getByText('Update range').first();
  // The editor closes its menu when diagnostics come anew, which they do until the last edit was looked at.
  await until('the menu of fixes stays open', async () => {
    await editing();
    await page.keyboard.press('Control+.');
    return fix.waitFor({ timeout: 5_000 }).then(() => true, () => false);
  }, 60_000);
  await shot('quickfix');
  await fix.click();
  await page.locator('.view-line').filter({ hasText: `${name}:${Number(first) + 1}-${Number(last) + 1}` }).first().waitFor();
  await page.keyboard.press('Escape');
});

await step('search as you type, and go there', async () => {
  await palette('coderag: Search…');
  await input().waitFor();
  await input().fill('legacyArgs');
  await rows().filter({ hasText: 'args.go' }).first().waitFor();
  await shot('search');
  await page.keyboard.press('Enter');
  await page.locator('.tab.active').filter({ hasText: 'args.go' }).waitFor();
});

await step('the side view tells state, coverage and what was skipped', async () => {
  await palette('coderag: Focus on Index View');
  const view = page.locator('.sidebar, .part.sidebar').first();
  await view.getByText('Coverage').first().waitFor();
  await view.getByText('Models').first().waitFor();
  await view.getByText('where is the help command added').first().waitFor();
  await shot('side');
});

await step('the status is a document', async () => {
  await palette('coderag: Show Status');
  await page.locator('.tab.active').filter({ hasText: 'Status' }).waitFor();
  await shot('status');
});

await step('@coderag answers in the chat', async () => {
  const question = 'where is the help command added?';
  await palette('coderag: Ask…');
  await input().waitFor();
  await input().fill(question);
  await page.keyboard.press('Enter');
  await panel().locator('article.done h2').filter({ hasText: question }).last().waitFor();
  const cited = await answered().locator('.answer .cite').allInnerTexts();
  check(cited.length > 0, 'the panel shows no citation');
  await palette('Chat: Open Chat');
  const field = page.locator('.interactive-input-editor .monaco-editor, .chat-input-container .monaco-editor').first();
  await field.waitFor();
  // The host lets no participant answer before a model is chosen: “Language model unavailable”.
  await page.locator('.chat-input-toolbars').getByText('Parrot').first().waitFor();
  await field.click();
  await page.keyboard.type(`@coderag ${question}`, { delay: 20 });
  await page.keyboard.press('Enter');
  const anchors = page.locator('.interactive-response .chat-inline-anchor-widget');
  await until('the chat cites what the panel cites', async () => (await anchors.allInnerTexts()).map((text) => text.trim()).join() === cited.join(), limit)
    .catch(async (error) => { throw new Error(`${error.message}: ${await anchors.allInnerTexts()} instead of ${cited}`); });
  await shot('chat');
  const [name, first, last = first] = cited[0].split(/[:-]/);
  await anchors.first().dispatchEvent('click'); // it may be scrolled out of sight
  await page.locator('.tab.active').filter({ hasText: name }).waitFor();
  await until(`${cited[0]} is open`, async () => (await position()).startsWith(`Ln ${last},`), limit); // the host selects the lines
});

await step('a missing program is told, with what to do', async () => {
  const machine = path.join(editor.userData, 'Machine/settings.json');
  fs.mkdirSync(path.dirname(machine), { recursive: true });
  fs.writeFileSync(machine, JSON.stringify({ 'coderag.server.path': '/nowhere/coderag-ls' }));
  const told = page.locator('.notifications-toasts .notification-list-item').filter({ hasText: 'There is no program at /nowhere/coderag-ls' }).first();
  await told.waitFor();
  await shot('missing');
  const setting = page.locator('.setting-item').filter({ hasText: 'Path' }).first();
  await until('the setting is shown', async () => {
    // The host loses a click on a message that it is still laying out; one that it takes closes the message.
    if (await told.isVisible()) await told.getByText('Open Setting').click({ timeout: 5_000 }).catch(() => undefined);
    await setting.waitFor({ timeout: 5_000 }).catch(() => undefined);
    return setting.isVisible();
  }, limit);
});

await editor.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

// The answer panel's page by itself in a browser, with a real answer: what it
// shows, what it sends, the keyboard, and axe in three kinds of theme. Needs no
// editor. Prints a line for each case; pictures go to CODERAG_ARTIFACTS.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { axe } from '../ui/axe.mjs';

const [stage, repository] = process.argv.slice(2);
if (!stage || !repository) throw new Error('usage: run.mjs STAGE REPOSITORY');
const artifacts = process.env.CODERAG_ARTIFACTS;
const themes = JSON.parse(fs.readFileSync(new URL('themes.json', import.meta.url), 'utf8'));
const cache = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/tmp', 'coderag-panel-'));
const question = 'where is the help command added to a command?';
const { answer, citations, ...result } = JSON.parse(execFileSync(path.join(stage, 'server/coderag-ls'), ['ask', '--json', '--root', repository, question],
  { env: { ...process.env, XDG_CACHE_HOME: cache, HOME: cache }, stdio: ['ignore', 'pipe', 'ignore'] }));
const turn = { id: 1, question, about: 'command.go:12-20', state: 'done', text: answer, citations, result: { ...result, dropped: 1 } };

let passed = 0;
let failed = 0;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 760, height: 1000 } });
const problems = [];
page.on('pageerror', (error) => problems.push(error.message));
page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });

// The page as the extension serves it, with the same policy.
await page.route('http://panel.test/**', (route) => {
  const name = new URL(route.request().url()).pathname;
  if (name === '/panel.css') return route.fulfill({ path: path.join(stage, 'media/panel.css'), contentType: 'text/css' });
  if (name === '/webview.js') return route.fulfill({ path: path.join(stage, 'dist/webview.js'), contentType: 'text/javascript' });
  return route.fulfill({
    contentType: 'text/html',
    body: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-n'; style-src http://panel.test; base-uri 'none'; form-action 'none'"><title>coderag answers</title><link rel="stylesheet" href="/panel.css"></head><body class="vscode-light"><script nonce="n" src="/webview.js"></script></body></html>`,
  });
});
await page.addInitScript(() => {
  globalThis.sent = [];
  globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => globalThis.sent.push(message) });
});
await page.goto('http://panel.test/');

const send = (message) => page.evaluate((data) => { window.dispatchEvent(new MessageEvent('message', { data })); }, message);
const sent = () => page.evaluate(() => globalThis.sent.splice(0));
const shot = async (name, fullPage = false) => { if (artifacts) await page.screenshot({ path: path.join(artifacts, `${name}.png`), fullPage }); };

function check(condition, message) {
  if (!condition) throw new Error(message);
}

async function step(name, run) {
  const start = Date.now();
  try {
    await run();
    check(problems.length === 0, problems.splice(0).join('\n'));
    passed++;
    console.log(`ok panel: ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failed++;
    console.log(`not ok panel: ${name}\n# ${String(error.stack ?? error).replaceAll('\n', '\n# ')}`);
  }
}

async function theme(name) {
  await page.evaluate(({ variables, kind }) => {
    document.body.className = kind;
    const style = document.documentElement.style;
    for (const key of [...style]) style.removeProperty(key);
    for (const [key, value] of Object.entries(variables)) style.setProperty(key, value);
  }, themes[name]);
}

await step('it says that it is ready, and welcomes', async () => {
  check((await sent())[0]?.type === 'ready', 'no ready');
  await theme('light');
  await send({ type: 'conversation', turns: [], recent: ['an earlier question'] });
  await page.getByText('Ask about this workspace').first().waitFor();
  await shot('page-welcome');
});

await step('an answer that is being made', async () => {
  await send({ type: 'turn', turn: { ...turn, state: 'running', step: 'Reading 12 places', text: answer.slice(0, 300), citations: citations.slice(0, 1), result: undefined } });
  await page.getByText('Reading 12 places').waitFor();
  check(await page.locator('#stop').isVisible(), 'no stop button');
  await page.locator('#stop').click();
  check((await sent()).some(({ type }) => type === 'stop'), 'stop was not sent');
  await shot('page-running');
});

await step('the answer: each citation is a chip that opens its lines', async () => {
  await send({ type: 'turn', turn });
  const chips = page.locator('.answer .cite');
  check((await chips.count()) > 0, 'no chips');
  check((await page.locator('.answer .unchecked').count()) === 0, 'a citation of the answer is not known');
  await chips.first().click();
  const [message] = await sent();
  check(message.type === 'openCitation' && message.turn === 1 && citations.some(({ id }) => id === message.id), JSON.stringify(message));
  await page.mouse.move(700, 990);
  await page.locator('#preview').waitFor({ state: 'hidden' });
  await shot('page-answer');
});

await step('the lines of a citation, by pointer and by keyboard', async () => {
  const chip = page.locator('.answer .cite').first();
  await chip.hover();
  await page.locator('#preview').waitFor({ state: 'visible' });
  check((await chip.getAttribute('aria-describedby')) === 'preview', 'not described');
  await shot('page-preview');
  await page.keyboard.press('Escape');
  await page.locator('#preview').waitFor({ state: 'hidden' });
  await page.mouse.move(5, 5);
  await page.locator('#question').focus();
  await chip.focus();
  await page.locator('#preview').waitFor({ state: 'visible' });
  await page.keyboard.press('Escape');
});

await step('sources: insert and copy', async () => {
  await page.locator('.sources > summary').click();
  await page.locator('.sources [data-act=insert]').first().click();
  await page.locator('.sources [data-act=copy]').first().click();
  check((await sent()).map(({ type }) => type).join() === 'insertCitation,copyCitation', 'not sent');
});

await step('why this, and the files around it', async () => {
  await page.locator('.why > summary').click();
  await page.getByText('Understood as').waitFor();
  await page.locator('.connected > summary').click();
  const node = page.locator('.graph .node').nth(1);
  await node.focus();
  await page.keyboard.press('Enter');
  check((await sent()).some(({ type }) => type === 'openPath'), 'a file of the graph does not open by the keyboard');
  await shot('page-why', true);
});

await step('a narrow panel: nothing is wider than it, a source is one line', async () => {
  const full = page.viewportSize();
  await page.setViewportSize({ width: 340, height: 900 });
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  check(wide[0] <= wide[1], `the page is ${wide[0]} pixels wide in ${wide[1]}`);
  for (const row of await page.locator('.sources li').all()) {
    const tops = await row.locator(':scope > *').evaluateAll((all) => all.map((one) => { const box = one.getBoundingClientRect(); return (box.top + box.bottom) / 2; }));
    check(Math.max(...tops) - Math.min(...tops) < 6, `not in one line: ${await row.innerText()}`);
  }
  await page.locator('.sources').scrollIntoViewIfNeeded();
  await shot('page-narrow');
  await page.locator('.sources .cite').first().hover();
  await page.locator('#preview').waitFor({ state: 'visible' });
  const numbers = page.locator('#preview .numbers');
  check(await numbers.evaluate((one) => one.scrollWidth <= one.clientWidth), 'line numbers are cut');
  await shot('page-narrow-preview');
  await page.mouse.move(5, 5);
  await page.setViewportSize(full);
});

await step('questions by the keyboard: ask, recall, follow up', async () => {
  await page.locator('#question').focus();
  await page.keyboard.press('ArrowUp');
  check((await page.locator('#question').inputValue()) === 'an earlier question', 'not recalled');
  await page.keyboard.press('Enter');
  check((await sent()).some(({ type, question: asked }) => type === 'ask' && asked === 'an earlier question'), 'not asked');
  const follow = page.locator('.follow button').first();
  const text = await follow.innerText();
  await follow.focus();
  await page.keyboard.press('Enter');
  check((await sent()).some(({ type, question: asked }) => type === 'ask' && asked === text), 'the follow-up was not asked');
});

await step('the question field grows with the question', async () => {
  const height = async () => (await page.locator('#question').boundingBox()).height;
  const before = await height();
  await page.locator('#question').fill('one\ntwo\nthree\nfour\nfive');
  check((await height()) > before + 20, 'it does not');
  await page.locator('#question').fill('');
  check((await height()) === before, 'it does not shrink');
});

await step('a failure says so and can be tried again', async () => {
  await send({ type: 'turn', turn: { id: 2, question: 'why?', state: 'failed', text: '', citations: [], error: 'The server is not running.' } });
  await page.getByRole('alert').filter({ hasText: 'The server is not running.' }).waitFor();
  await page.getByText('Try again').click();
  check((await sent()).some(({ type, question: asked }) => type === 'ask' && asked === 'why?'), 'not asked again');
});

for (const name of Object.keys(themes)) {
  await step(`no serious finding of axe: ${name}`, async () => {
    await theme(name);
    await page.locator('.answer .cite').first().scrollIntoViewIfNeeded();
    await page.mouse.move(5, 5);
    await page.locator('.answer .cite').first().hover();
    await page.locator('#preview').waitFor({ state: 'visible' });
    const violations = (await axe(page.mainFrame())).filter(({ impact }) => impact === 'serious' || impact === 'critical');
    await shot(`page-${name}`, true);
    check(violations.length === 0, JSON.stringify(violations.map(({ id, nodes }) => [id, nodes.slice(0, 4).map(({ html, any }) => [html.slice(0, 140), any?.[0]?.message])]), null, 1));
  });
}

await browser.close();
fs.rmSync(cache, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

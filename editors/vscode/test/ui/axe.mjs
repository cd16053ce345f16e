import fs from 'node:fs';
import { createRequire } from 'node:module';

const source = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs axe within a frame. The page's policy lets no script in: the browser puts it there. */
export async function axe(frame) {
  await frame.evaluate(source);
  const { violations } = await frame.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }));
  return violations;
}

/** Runs axe within the answer panel of an editor. */
export async function panelFindings(page) {
  for (const frame of page.frames()) {
    if (await frame.evaluate(() => document.getElementById('turns') !== null).catch(() => false)) return axe(frame);
  }
  throw new Error('the panel is not open');
}

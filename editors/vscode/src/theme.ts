import * as vscode from 'vscode';

import type { TokenColors, TokenKind } from './panel/protocol';
import { parseJsonc } from './jsonc';

/** The TextMate scopes that stand for a kind of token, the best first. */
const scopes: Record<TokenKind, string[]> = {
  comment: ['comment'],
  string: ['string.quoted', 'string'],
  keyword: ['keyword.control', 'keyword', 'storage'],
  number: ['constant.numeric', 'constant'],
  function: ['entity.name.function', 'support.function'],
  type: ['entity.name.type', 'support.type', 'entity.name'],
  variable: ['variable.other', 'variable'],
  constant: ['constant.language', 'constant'],
  tag: ['entity.name.tag'],
  attribute: ['entity.other.attribute-name'],
};

interface ThemeFile {
  include?: string;
  tokenColors?: { scope?: string | string[]; settings?: { foreground?: string } }[];
}

/**
 * Reads the colours of code from the colour theme in force. Themes that cannot
 * be read leave it to the panel's own colours, which go with light and dark.
 */
export async function tokenColors(log: vscode.LogOutputChannel): Promise<TokenColors> {
  try {
    const uri = currentTheme();
    return uri ? pick(await rules(uri, 0)) : {};
  } catch (error) {
    log.debug('reading the colour theme', error);
    return {};
  }
}

function currentTheme(): vscode.Uri | undefined {
  const id = vscode.workspace.getConfiguration('workbench').get<string>(settingOf(vscode.window.activeColorTheme.kind));
  const other = vscode.workspace.getConfiguration('workbench').get<string>('colorTheme');
  const wanted = vscode.workspace.getConfiguration('window').get<boolean>('autoDetectColorScheme') ? id : other;
  for (const extension of vscode.extensions.all) {
    const themes = (extension.packageJSON as { contributes?: { themes?: { id?: string; label?: string; path: string }[] } }).contributes?.themes ?? [];
    const theme = themes.find(({ id: name, label }) => (name ?? label) === wanted);
    if (theme) return vscode.Uri.joinPath(extension.extensionUri, theme.path);
  }
  return undefined;
}

function settingOf(kind: vscode.ColorThemeKind): string {
  switch (kind) {
    case vscode.ColorThemeKind.Light: return 'preferredLightColorTheme';
    case vscode.ColorThemeKind.Dark: return 'preferredDarkColorTheme';
    case vscode.ColorThemeKind.HighContrast: return 'preferredHighContrastColorTheme';
    case vscode.ColorThemeKind.HighContrastLight: return 'preferredHighContrastLightColorTheme';
  }
}

/** Scope to colour, with those of included themes; themes include few levels. */
async function rules(uri: vscode.Uri, depth: number): Promise<Map<string, string>> {
  const theme = parseJsonc(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri))) as ThemeFile;
  const found = theme.include !== undefined && depth < 5 ? await rules(vscode.Uri.joinPath(uri, '..', theme.include), depth + 1) : new Map<string, string>();
  for (const { scope, settings } of Array.isArray(theme.tokenColors) ? theme.tokenColors : []) {
    const color = settings?.foreground;
    if (!color || !/^#[0-9a-f]{3,8}$/i.test(color)) continue;
    for (const name of typeof scope === 'string' ? scope.split(',') : (scope ?? [])) found.set(name.trim(), color);
  }
  return found;
}

function pick(found: Map<string, string>): TokenColors {
  const colors: TokenColors = {};
  for (const [kind, names] of Object.entries(scopes) as [TokenKind, string[]][]) {
    for (const name of names) {
      const color = found.get(name);
      if (color) {
        colors[kind] = color;
        break;
      }
    }
  }
  return colors;
}

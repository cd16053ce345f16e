/** The section of all settings, the server's and the extension's own. */
export const section = 'coderag';

/** The prefixes of settings that the server never hears of. */
const own = ['server.', 'trace.', 'chat.'];

/** The server's settings by scope, as the manifest declares them. */
export interface ServerSettings { machine: string[]; window: string[] }

interface Manifest {
  contributes: { configuration: { properties: Record<string, { scope?: string }> }[] };
}

/** Reads the server's settings from the extension's manifest, which is generated from the server's table. */
export function serverSettings(manifest: unknown): ServerSettings {
  const settings: ServerSettings = { machine: [], window: [] };
  for (const group of (manifest as Manifest).contributes.configuration) {
    for (const [key, { scope }] of Object.entries(group.properties)) {
      const name = key.slice(section.length + 1);
      if (own.some((prefix) => name.startsWith(prefix))) continue;
      (scope === 'machine' ? settings.machine : settings.window).push(name);
    }
  }
  return settings;
}

/** What a setting's inspection tells: VS Code's WorkspaceConfiguration.inspect. */
export type Inspect = (name: string) =>
  | { globalValue?: unknown; workspaceValue?: unknown; workspaceFolderValue?: unknown }
  | undefined;

/**
 * The settings that somebody set, as a tree of objects. Defaults are left out: a
 * default sent would win over the server's settings file.
 */
export function explicit(names: string[], inspect: Inspect, scope: 'machine' | 'window'): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const name of names) {
    const values = inspect(name);
    const value = scope === 'machine' ? values?.globalValue : (values?.workspaceFolderValue ?? values?.workspaceValue ?? values?.globalValue);
    if (value === undefined) continue;
    let at = tree;
    const parts = name.split('.');
    for (const part of parts.slice(0, -1)) at = (at[part] ??= {}) as Record<string, unknown>;
    at[parts[parts.length - 1]!] = value;
  }
  return tree;
}

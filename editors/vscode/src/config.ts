import * as vscode from 'vscode';

import { explicit, section, serverSettings, type Inspect, type ServerSettings } from './settings';

/** The extension's settings, read when they are needed. */
export class Config {
  readonly server: ServerSettings;

  constructor(manifest: unknown) {
    this.server = serverSettings(manifest);
  }

  private get<T>(name: string, otherwise: T): T {
    return vscode.workspace.getConfiguration(section).get<T>(name) ?? otherwise;
  }

  /** Machine-scoped: the user's own value, whatever a folder says. */
  private user<T>(name: string, otherwise: T): T {
    return vscode.workspace.getConfiguration(section).inspect<T>(name)?.globalValue ?? otherwise;
  }

  get serverPath(): string { return this.user('server.path', ''); }
  get serverEnvironment(): Record<string, string> { return this.user('server.environment', {}); }
  get trace(): string { return this.get('trace.server', 'off'); }
  get editorModel(): 'ask' | 'always' | 'never' { return this.user('chat.editorModel', 'never'); }
  get editorModelFamily(): string { return this.user('chat.editorModelFamily', ''); }
  get mcpServer(): boolean { return this.user('chat.mcpServer', false); }

  private inspect: Inspect = (name) => vscode.workspace.getConfiguration(section).inspect(name);

  /** Settings of this machine, which the server takes at its start only. */
  initialization(): Record<string, unknown> { return explicit(this.server.machine, this.inspect, 'machine'); }

  /** Settings that a folder may have a say in, which the server takes at any time. */
  live(): Record<string, unknown> { return explicit(this.server.window, this.inspect, 'window'); }

  /** Whether a change needs the server to be started again. */
  needsRestart(event: vscode.ConfigurationChangeEvent): boolean {
    return ['server.path', 'server.environment', 'chat.editorModel', ...this.server.machine].some((name) => event.affectsConfiguration(`${section}.${name}`));
  }
}

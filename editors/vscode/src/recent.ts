import * as vscode from 'vscode';

/** A question that was asked in this workspace. */
export interface RecentQuestion { question: string; at: number }

/** The most questions that are kept. */
const limit = 50;
const key = 'coderag.recent';

/** The questions asked in this workspace, the newest first. They are kept by the editor, not in the folder. */
export class Recent implements vscode.Disposable {
  private changed = new vscode.EventEmitter<void>();
  readonly onChanged = this.changed.event;

  constructor(private readonly state: vscode.Memento) {}

  get all(): RecentQuestion[] {
    return this.state.get<RecentQuestion[]>(key, []);
  }

  async add(question: string): Promise<void> {
    const others = this.all.filter((other) => other.question !== question);
    await this.state.update(key, [{ question, at: Date.now() }, ...others].slice(0, limit));
    this.changed.fire();
  }

  async clear(): Promise<void> {
    await this.state.update(key, undefined);
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}

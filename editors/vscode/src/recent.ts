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
    await this.set([{ question, at: Date.now() }, ...others].slice(0, limit));
  }

  async clear(): Promise<void> {
    await this.set(undefined);
  }

  /** The editor knows the value at once, and has it on disk later, which nobody is to wait for. */
  private async set(questions: RecentQuestion[] | undefined): Promise<void> {
    const saved = this.state.update(key, questions);
    this.changed.fire();
    await saved;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

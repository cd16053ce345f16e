import * as vscode from 'vscode';

import type { Range } from './lsp_ext';
import { relocate } from './relocate';

interface Place { uri: string; range?: Range; startLine: number; endLine: number; text?: string }

/** More characters than a line has: the editor takes the line's end. */
const lineEnd = 2 ** 30;

/** The lines of a citation or hit. The range ends in the last of them: the chat shows the number of the line where it ends. */
export function location(place: { uri: string; startLine: number; endLine: number }): vscode.Location {
  return new vscode.Location(vscode.Uri.parse(place.uri, true), new vscode.Range(place.startLine - 1, 0, place.endLine - 1, lineEnd));
}

/** Finds a path as the server writes it: with several folders it begins with the folder's name. */
export function uriOf(path: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 1) return vscode.Uri.joinPath(folders[0]!.uri, path);
  const slash = path.indexOf('/');
  const folder = folders.find(({ name }) => name === path.slice(0, slash));
  return folder && vscode.Uri.joinPath(folder.uri, path.slice(slash + 1));
}

/** Opens places in the editor and marks their lines until the cursor moves. */
export class Opener implements vscode.Disposable {
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    borderColor: new vscode.ThemeColor('focusBorder'),
    borderStyle: 'solid',
    borderWidth: '0 0 0 2px',
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.findMatchForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  private forget: vscode.Disposable | undefined;

  /** Takes the column in which nothing is opened, the panel's: undefined where it has none. */
  constructor(private readonly taken: () => vscode.ViewColumn | undefined) {}

  async open(place: Place, options: { preserveFocus?: boolean; column?: vscode.ViewColumn } = {}): Promise<vscode.TextEditor> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(place.uri, true));
    let { startLine, endLine } = place;
    if (place.text !== undefined) {
      const at = relocate(lines(document), startLine, place.text);
      if (at === undefined) {
        void vscode.window.showInformationMessage(`coderag: the lines ${startLine}-${endLine} have changed since they were cited.`);
      } else {
        endLine += at - startLine;
        startLine = at;
      }
    }
    const last = Math.min(endLine, document.lineCount) - 1;
    const first = Math.min(startLine - 1, last);
    const start = new vscode.Position(first, 0);
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: options.column ?? beside(this.taken()), preserveFocus: options.preserveFocus ?? false, selection: new vscode.Range(start, start),
    });
    const range = new vscode.Range(start, document.lineAt(last).range.end);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.clear();
    editor.setDecorations(this.mark, [range]);
    this.forget = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection((event) => {
        if (event.textEditor === editor && !event.selections[0]?.start.isEqual(start)) this.clear();
      }),
      new vscode.Disposable(() => editor.setDecorations(this.mark, [])));
    return editor;
  }

  private clear(): void {
    this.forget?.dispose();
    this.forget = undefined;
  }

  dispose(): void {
    this.clear();
    this.mark.dispose();
  }
}

function lines(document: vscode.TextDocument): string[] {
  return Array.from({ length: document.lineCount }, (_, i) => document.lineAt(i).text);
}

/** The column of an editor with text, else the first that is not taken: the answers stay in sight. */
function beside(taken: vscode.ViewColumn | undefined): vscode.ViewColumn {
  const shown = vscode.window.visibleTextEditors.find(({ viewColumn }) => viewColumn !== undefined && viewColumn !== taken)?.viewColumn;
  if (shown !== undefined) return shown;
  return vscode.window.tabGroups.all.find(({ viewColumn }) => viewColumn !== taken)?.viewColumn ?? (taken === undefined ? vscode.ViewColumn.One : vscode.ViewColumn.Beside);
}

// Read-only pages of markdown: the help, and what the doctor found.
import * as vscode from 'vscode';
import { t } from './l10n';
import type { Sidecar } from './sidecar';
import { withOnClose } from './startOptions';
import type { Check, DoctorResult, DryRunResult } from './wire';

const scheme = 'ralph-page';

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly pages = new Map<string, string>();
  private readonly emitter = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.emitter.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(private readonly sidecar: Sidecar) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.pages.get(uri.toString()) ?? '';
  }

  async help(): Promise<string> {
    const { markdown } = await this.sidecar.execute<{ markdown: string }>('ralph.help');
    await this.show('Ralph Help.md', markdown);
    return markdown;
  }

  /** Shows what a start would do. */
  dryRun({ text, details, argv = [], problems = [], warnings = [] }: DryRunResult): Promise<void> {
    const cell = (s: string) => s.replace(/[\\`*_{}[\]<>|]/g, '\\$&').replace(/\s+/g, ' ');
    const said = [...problems.map((p) => p.text), ...warnings].map((s) => `- ${cell(s)}`);
    const table = ['| | |', '|:--|:--|', ...withOnClose(details).map((d) => `| ${cell(d.label)} | ${cell(d.text)} |`)];
    return this.show('Ralph Dry Run.md', [`# ${cell(text)}`, '', ...said, '', ...table, '', '```json', JSON.stringify(argv), '```', ''].join('\n'));
  }

  /** Checks that loops can run in a folder (undefined: as far as no folder is needed). */
  async doctor(folder: string | undefined): Promise<Check[]> {
    const found = await this.sidecar.execute<DoctorResult>('ralph.doctor', { folder });
    await this.show('Ralph Doctor.md', doctorPage(found));
    return found.checks;
  }

  dispose(): void {
    this.registration.dispose();
    this.emitter.dispose();
  }

  private async show(name: string, markdown: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${name}` });
    this.pages.set(uri.toString(), markdown);
    this.emitter.fire(uri);
    if (vscode.extensions.getExtension('vscode.markdown-language-features')) await vscode.commands.executeCommand('markdown.showPreview', uri);
    else await vscode.window.showTextDocument(uri, { preview: true });
  }
}

/** The verdict and what is wrong; what is in order is folded. */
function doctorPage({ text, checks }: DoctorResult): string {
  const lines = (all: Check[]) => all.map((c) => `${c.ok ? '✓' : c.optional ? '–' : '✗'} **${c.id}** ${c.message}${c.fix ? `  \n&emsp;${c.fix}` : ''}`).join('  \n');
  const [open, folded] = [checks.filter((c) => !c.ok && !c.minor), checks.filter((c) => c.ok || c.minor)];
  const summary = `<summary>${t('What else was looked at: {0}', folded.length)}</summary>`;
  return [`# ${t('Ralph Doctor')}`, '', `**${text}**`, '', lines(open), '', '<details>', summary, '', lines(folded), '', '</details>', ''].join('\n');
}

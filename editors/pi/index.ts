// Ralph loops inside pi: a thin client of ralph-lsp. pi runs this file as it is.
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';

const oldest = '0.80.4'; // the first pi with entries that an extension draws

export default async function ralph(pi: ExtensionAPI): Promise<void> {
  if (process.env.RALPH_LOOP_ID) return; // this pi is the agent of a loop
  if (typeof pi.registerEntryRenderer !== 'function') {
    pi.on('session_start', (_, ctx) => {
      if (ctx.hasUI) ctx.ui.notify(`The Ralph extension needs pi ${oldest} or newer: npm install -g @earendil-works/pi-coding-agent`, 'warning');
    });
    return;
  }
  const { register } = await import('./src/ralph.ts');
  register(pi);
}

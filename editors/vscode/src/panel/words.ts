// The page's own words; all else that it shows comes from the server.
import { t } from '../l10n';

export const words = () => ({
  transcript: t('Transcript'),
  iteration: t('Iteration {0}', '{0}'),
  files: t('{0} files', '{0}'),
  oneFile: t('1 file'),
  thinking: t('Thinking'),
  subagent: t('Subagent'),
  you: t('You'),
  output: t('Output'),
  noOutput: t('No output'),
  running: t('running'),
  completed: t('completed'),
  failed: t('failed'),
  unknown: t('not ended'),
  moreLines: t('Show {0} more lines', '{0}'),
  leftOut: t('{0} lines are left out', '{0}'),
  wholeOutput: t('Open Whole Output'),
  follow: t('Follow'),
  loading: t('Reading...'),
  nothing: t('Nothing has been said yet.'),
  find: t('Find'),
  previous: t('Previous'),
  next: t('Next'),
  close: t('Close'),
  found: t('{0} of {1}', '{0}', '{1}'),
  notFound: t('No results'),
  goTo: t('Go to Iteration...'),
  previousIteration: t('Previous Iteration'),
  nextIteration: t('Next Iteration'),
});
export type Words = ReturnType<typeof words>;

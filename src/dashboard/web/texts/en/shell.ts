import { plural } from '../plural.ts';

export const shell = {
  skip: 'Skip to content',
  menu: 'Menu',
  main: 'Main',
  ctrl: 'Ctrl',
  find: 'Search …',
  docs: 'API reference',
  plan: (plan: string): string => `Plan ${plan}`,
  logOut: 'Log out',
  groups: { work: 'Work', setUp: 'Set up', lookAfter: 'Monitor' },
  keyboard: {
    title: 'Keyboard',
    everywhere: 'Everywhere',
    search: 'Go to the search field',
    help: 'This help',
    inFiles: 'In a list of files',
    files: [
      ['↑ ↓', 'Move through the list'],
      ['a … z', 'Go to a name by its first letters'],
      ['Enter', 'Open a folder, preview a file'],
      ['Backspace', 'Go to the parent folder'],
      ['Space', 'Select'],
      ['F2', 'Rename'],
      ['Shift F10', 'Open the menu'],
      ['Delete', 'Delete the selection'],
    ] as readonly (readonly [keys: string, what: string])[],
    off: 'You can switch single-key shortcuts off in Settings.',
  },
  bell: {
    title: 'Notifications',
    label: (needs: number, finished: number): string =>
      needs + finished === 0
        ? 'Notifications: nothing new'
        : `Notifications: ${needs} need attention, ${finished} finished`,
    nothing: 'Nothing right now.',
    finished: 'Finished since your last look',
    noneFinished: 'Nothing yet.',
    notify: 'Also show browser notifications',
    notifyHint: 'Only while the page is open in the background.',
    refused: 'The browser blocks notifications. Allow them in its settings for this site.',
    job: (name: string, state: string): string => `${name}: ${state}`,
    queue: (done: number, cancelled: number, bad: number): string =>
      `${plural(done, { one: '1 file', other: `${done} files` })} done${cancelled === 0 ? '' : `, ${cancelled} cancelled`}${bad === 0 ? '' : `, ${bad} need attention`}`,
    types: { copy: 'Copy', move: 'Move', delete: 'Deletion', sync: 'Sync', upload: 'Upload' },
    states: {
      queued: 'waits',
      running: 'runs',
      paused: 'paused',
      succeeded: 'done',
      partly_failed: 'done, some files failed',
      failed: 'failed',
      cancelled: 'cancelled',
    },
  },
};

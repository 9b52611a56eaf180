/** Choosing a folder of a connection. */
export const folders = {
  browse: 'Browse …',
  browseFor: (label: string): string => `Browse for: ${label}`,
  title: (connection: string): string => `Choose a folder of ${connection}`,
  root: 'Root',
  list: 'Folders',
  up: 'One folder up',
  none: 'No folders here.',
  choose: 'Choose this folder',
};

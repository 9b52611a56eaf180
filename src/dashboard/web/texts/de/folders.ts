import type { Texts } from '../catalogue.ts';

export const folders: Texts['folders'] = {
  browse: 'Durchsuchen …',
  browseFor: (label) => `Durchsuchen für: ${label}`,
  title: (connection) => `Ordner von ${connection} wählen`,
  root: 'Wurzel',
  list: 'Ordner',
  up: 'Einen Ordner nach oben',
  none: 'Hier gibt es keinen Ordner.',
  choose: 'Diesen Ordner wählen',
};

import type { Texts } from '../catalogue.ts';

export const lists: Texts['lists'] = {
  columns: 'Spalten',
  usualColumns: 'Die üblichen Spalten',
};

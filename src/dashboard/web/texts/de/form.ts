import type { Texts } from '../catalogue.ts';

export const form: Texts['form'] = {
  save: 'Speichern',
  saved: 'Gespeichert',
  more: 'Weitere Einstellungen',
  nowhere: 'Nirgendwohin',
  notActive: (name) => `${name} (nicht aktiv)`,
  notUnit: (like) => `Eine Zahl und eine Einheit, etwa ${like}.`,
  or: ' oder ',
};

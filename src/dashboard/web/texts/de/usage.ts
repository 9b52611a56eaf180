import type { usage as English } from '../en/usage.ts';

export const usage: typeof English = {
  lead: 'Jeder Vorgang mit einer Datei zählt als eine Aktion. Listen und Abfragen sind frei. Monate werden in UTC gezählt.',
  usedUp: 'Die Aktionen des Monats sind verbraucht',
  usedUpText: 'Anfragen werden bis zum Monatsende mit 429 beantwortet.',
  runsOut: (day) => `In diesem Tempo reichen die Aktionen des Monats bis zum ${day}`,
  runsOutText: 'Von da an werden Anfragen bis zum Monatsende mit 429 beantwortet.',
  actions: 'Aktionen in diesem Monat',
  noLimit: 'ohne Grenze',
  of: (limit) => `von ${limit}`,
  used: 'Verbrauchte Aktionen',
  forecast: 'Vorhersage für den Monat',
  byDay: 'Aktionen nach Tagen',
  day: (actions, failed) => `${actions} Aktionen, ${failed} fehlgeschlagen`,
  done: 'Aktionen',
  failed: 'Fehlgeschlagen',
};

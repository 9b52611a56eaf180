import type { Texts } from '../en/index.ts';

export const common: Texts['common'] = {
  product: 'File Transfer Gateway',
  loading: 'Wird geladen',
  tryAgain: 'Erneut versuchen',
  reloadPage: 'Seite neu laden',
  notLoaded: 'Das konnte nicht geladen werden',
  cancel: 'Abbrechen',
  close: 'Schließen',
  copy: 'Kopieren',
  copied: 'Kopiert',
  discard: 'Verwerfen',
  keep: 'Behalten',
  dismiss: 'Ausblenden',
  required: 'Pflichtfeld',
  now: 'jetzt',
  inClock: (clock) => `in ${clock}`,
  typeToConfirm: (word) => `Geben Sie zur Bestätigung „${word}“ ein`,
  statusAnswer: (status) => `Das Gateway antwortete mit dem Status ${status}.`,
  noScreen: {
    title: 'Nicht gefunden',
    lead: 'Diese Seite gibt es nicht',
    text: 'Die Adresse ist vielleicht veraltet oder enthält einen Tippfehler.',
    back: 'Zur Übersicht',
  },
  away: {
    title: 'Das Gateway ist nicht erreichbar.',
    text: 'Ihre Eingaben sind noch da. Die Seite versucht es weiter.',
    back: 'Das Gateway ist wieder erreichbar',
    broke: 'Die Verbindung zum Gateway ist abgebrochen.',
    request: 'Das Gateway ist nicht erreichbar. Prüfen Sie das Netzwerk und versuchen Sie es erneut.',
  },
  partFailed: {
    title: 'Dieser Teil der Seite konnte nicht geladen werden',
    text: 'Das Netzwerk ist ausgefallen, oder das Gateway wurde seit dem Öffnen der Seite aktualisiert. Sonst ging nichts auf der Seite verloren.',
  },
  crashed: {
    title: 'In dieser Ansicht ist ein Fehler aufgetreten',
    text: 'Das ist ein Fehler der Oberfläche. Auf dem Gateway läuft alles weiter.',
  },
};

import type { Texts } from '../catalogue.ts';

export const login: Texts['login'] = {
  email: 'E-Mail',
  documentTitle: 'Anmelden – File Transfer Gateway',
  password: 'Passwort',
  logIn: 'Anmelden',
  whichPassword:
    'Der erste Start gibt das Passwort einmal aus. Mit einer Konfigurationsdatei gilt das Passwort von dort.',
  code: 'Bestätigungscode',
  codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App oder einer Ihrer Wiederherstellungscodes.',
  confirm: 'Bestätigen',
  back: 'Zurück',
  failures: {
    lockedTitle: 'Zu viele fehlgeschlagene Versuche',
    locked: (minutes) =>
      `Die Anmeldung ist ${minutes === undefined ? 'vorerst' : `noch ${minutes} min`} gesperrt. Auch das richtige Passwort hebt die Sperre nicht früher auf.`,
    passwordTitle: 'E-Mail oder Passwort ist falsch',
    password: 'Prüfen Sie beides und versuchen Sie es erneut. Fünf Fehlversuche sperren die Anmeldung für 15 Minuten.',
    codeTitle: 'Falscher Code',
    code: 'Codes wechseln alle 30 Sekunden. Prüfen Sie, ob die Uhr Ihres Telefons richtig geht.',
    other: 'Das hat nicht funktioniert',
  },
};

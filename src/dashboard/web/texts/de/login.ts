import type { Texts } from '../en/index.ts';

export const login: Texts['login'] = {
  documentTitle: 'Anmelden – File Transfer Gateway',
  email: 'E-Mail',
  password: 'Passwort',
  logIn: 'Anmelden',
  whichPassword:
    'Beim Start ohne Konfiguration wird einmal ein Passwort ausgegeben. Mit Konfiguration gilt das Passwort, das dort für Ihr Konto steht.',
  code: 'Bestätigungscode',
  codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App oder einer Ihrer Wiederherstellungscodes.',
  confirm: 'Bestätigen',
  back: 'Zurück',
  failures: {
    lockedTitle: 'Zu viele fehlgeschlagene Versuche',
    locked: (minutes) =>
      `Die Anmeldung ist ${minutes === undefined ? 'vorerst' : `noch ${minutes} min`} gesperrt. Auch das richtige Passwort hebt die Sperre nicht früher auf.`,
    passwordTitle: 'E-Mail oder Passwort stimmt nicht',
    password: 'Prüfen Sie beides und versuchen Sie es erneut. Fünf Fehlversuche sperren die Anmeldung für 15 Minuten.',
    codeTitle: 'Der Code stimmt nicht',
    code: 'Codes wechseln alle 30 Sekunden. Prüfen Sie, ob die Uhr Ihres Telefons richtig geht.',
    other: 'Das hat nicht funktioniert',
  },
};

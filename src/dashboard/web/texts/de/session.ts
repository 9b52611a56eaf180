import type { Texts } from '../catalogue.ts';

export const session: Texts['session'] = {
  loss: {
    changes: {
      title: 'Änderungen verwerfen?',
      text: 'Ihre Eingaben sind nicht gespeichert.',
      verb: 'Änderungen verwerfen',
      back: 'Weiter bearbeiten',
    },
    secret: {
      title: 'Ohne Kopie verlassen?',
      text: 'Das wird nur einmal gezeigt. Kopieren Sie es zuerst.',
      verb: 'Ohne Kopie verlassen',
      back: 'Bleiben',
    },
  },
  over: {
    title: 'Ihre Sitzung ist beendet',
    kept: 'Ihre Eingaben sind noch da. Melden Sie sich an, um fortzufahren.',
    reasons: {
      idle: 'Sie ist nach zwei Stunden ohne Aktivität abgelaufen.',
      expired: (hours) =>
        hours === undefined ? 'Sie ist abgelaufen.' : `Sie ist ${hours} Stunden nach der Anmeldung abgelaufen.`,
      elsewhere: 'Sie wurde von einem anderen Browser aus beendet.',
      password_changed: 'Das Passwort des Kontos wurde geändert.',
      logged_out: 'Sie haben sich in einem anderen Fenster abgemeldet.',
      unknown: 'Das Gateway kennt sie nicht mehr.',
    },
    another: 'Mit einem anderen Konto anmelden',
  },
};

/** The end of a session, and the warning before unsaved input is lost. */
export const session = {
  loss: {
    changes: {
      title: 'Discard changes?',
      text: 'What you typed here is not saved.',
      verb: 'Discard changes',
      back: 'Keep editing',
    },
    secret: {
      title: 'Leave without it?',
      text: 'This is shown only once. Copy it first.',
      verb: 'Leave without it',
      back: 'Stay',
    },
  },
  over: {
    title: 'Your session has ended',
    kept: 'What you typed is still here. Log in to continue.',
    reasons: {
      idle: 'It expired after two hours without activity.',
      expired: (hours: number | undefined): string =>
        hours === undefined ? 'It expired.' : `It expired ${hours} hours after the login.`,
      elsewhere: 'It was ended from another browser.',
      password_changed: 'The password of the account was changed.',
      logged_out: 'You logged out in another window.',
      unknown: 'The gateway no longer knows this session.',
    },
    another: 'Log in as someone else',
  },
};
